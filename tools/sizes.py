"""Say what an installation of fldp weighs, by package: python tools/sizes.py [EXTRA ...]."""

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
# Printed inside the new environment: each distribution, and the bytes of the files it lists.
MEASURE = """
from importlib.metadata import distributions
for one in distributions():
    files = [one.locate_file(file) for file in one.files or ()]
    print(one.name, sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc"))
"""


def sizes(extras: str) -> Counter[str]:
    """Install the package with some extras where nothing else is; return bytes by package."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
        package = f"{ROOT}[{extras}]" if extras else str(ROOT)
        install = [UV, "pip", "install", "--quiet", "--python", python, "-c", ROOT / "constraints.txt", package]
        subprocess.run(install, check=True)
        said = subprocess.run([python, "-c", MEASURE], check=True, capture_output=True, text=True).stdout
    return Counter({name: int(size) for name, size in (line.split() for line in said.splitlines())})


def main() -> None:
    """Print a row for each package, the largest first, and their sum."""
    measured = sizes(",".join(sys.argv[1:]))
    for name, size in [*measured.most_common(), ("all", measured.total())]:
        print(f"| {name} | {size / 1e6:.1f} |")


if __name__ == "__main__":
    main()
