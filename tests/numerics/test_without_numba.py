"""An installation without the extra ``kernels``: everything but a collector works, with the same results."""

import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[2] / "vectors"
ABSENT = "import sys\nsys.modules['numba'] = None\n"  # every import of it fails, and nothing finds it


def run(code, *options):
    """Run some code where Numba cannot be imported."""
    command = [sys.executable, *options, "-c", ABSENT + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_the_vectors_of_every_oracle_are_the_same():
    """Seeded reports, bytes, tallies and refusals; and nothing is said about so few rows."""
    code = (
        "from pathlib import Path\n"
        "from fldp.conformance import vectors\n"
        f"kept = Path({str(VECTORS)!r})\n"
        "files = vectors.files()\n"
        "print(len(files), [name for name, text in files.items() if (kept / name).read_text() != text])\n"
    )
    done = run(code, "-W", "error")
    assert done.stdout == f"{len(list(VECTORS.glob('*.json')))} []\n", done.stderr


MUCH = """
import hashlib
import fldp, numpy as np
from fldp.numerics.kernels import load_compiler
{load}
values = np.arange(17_000) % 16
for oracle in (fldp.GRR(1.0, 16), fldp.OLH(1.0, 16), fldp.FWR(1.0, 16), fldp.HRR(1.0, 16), fldp.SS(1.0, 16)):
    reports = oracle.privatize(values, rng=7)
    counts = oracle.estimate(oracle.tally(reports)).counts
    print(oracle.name, hashlib.sha256(reports.data.tobytes()).hexdigest(), counts.round(6).tolist())
"""


@pytest.mark.long
def test_a_large_batch_is_the_same_and_it_is_said_once_that_it_takes_long():
    said = io.StringIO()
    with redirect_stdout(said):
        exec(MUCH.format(load="load_compiler()"), {})
    interpreted = run(MUCH.format(load=""), "-W", "always")
    assert interpreted.stdout == said.getvalue() != ""
    assert interpreted.stderr.count("pip install 'fldp[kernels]'") == 1


def test_unseeded_reports_are_drawn_one_by_one_and_silently():
    done = run("import fldp\nprint(len(fldp.OLH(1.0, 100).privatize([3] * 1_000)))", "-W", "error")
    assert done.stdout == "1000\n", done.stderr


def test_a_collector_says_what_to_install(tmp_path):
    done = run(f"from fldp.cli import main\nsys.argv = ['fldp', 'serve', '--data', {str(tmp_path)!r}]\nmain()")
    assert done.returncode == 2
    assert done.stderr == "fldp: this needs numba, install it with: pip install 'fldp[kernels]'\n"
    assert list(tmp_path.iterdir()) == []
