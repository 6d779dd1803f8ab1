"""Build what is published, twice with the same bytes, and try each file where nothing else is installed: make release.

Writes to ``dist/``: the source distribution and the wheel, the npm package, a bill of materials (CycloneDX) of each
language, and the SHA-256 of all of them.
"""

import argparse
import hashlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CYCLONEDX = "cyclonedx-bom==7.5.0"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NODES = ("20", "latest")  # the oldest and the newest; npm has the programs themselves as packages
SMOKE = """
import fldp
oracle = fldp.GRR(epsilon=1.0, domain_size=5)
estimate = oracle.estimate(oracle.privatize([0, 1, 2, 3, 4] * 400, rng=1))
assert fldp.verify(oracle).holds and abs(estimate.counts.sum() - 2000) < 1e-6
print("ran", fldp.__version__, fldp.Responder(oracle)(3))
"""
SMOKE_KERNELS = """
import sys
import fldp
oracle = fldp.FHR(epsilon=1.0, domain_size=5)
assert len(oracle.privatize([0, 1, 2, 3, 4] * 40000, rng=1)) == 200000 and "numba" in sys.modules
print("compiled")
"""
SMOKE_JS = """
import { readFileSync } from "node:fs";
import { every, participant, Survey } from "fldp";
import { fileStore } from "fldp/node";
const labels = ["no", "yes", "often"];
const tea = { name: "tea", question: "Tea?", labels, oracle: { name: "grr", epsilon: 1 } };
const survey = await Survey.of(tea, "https://collector.example", every);
const { batch } = await participant(survey, { store: fileStore("ledger") }).prepare("often");
console.log("ran", JSON.parse(readFileSync("node_modules/fldp/package.json")).version, batch.length);
"""


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> str:
    """Run a command; what it printed is shown where it fails."""
    ended = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def build(source: Path, target: Path) -> list[Path]:
    """Build all packages from a copy of the repository; the time of its commit is the one that goes into the files."""
    when = {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct", cwd=source).strip()}
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", target, source, **when)
    js = source / "js"
    standalone = runpy.run_path(str(source / "tools" / "index_readme.py"))["standalone"]
    (js / "README.md").write_text(standalone((js / "README.md").read_text()))
    name_repository(js / "package.json")
    run("npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", cwd=js)
    run("npm", "pack", "--silent", "--pack-destination", target, cwd=js, **when)
    return sorted(target.iterdir())


def name_repository(file: Path) -> None:
    """Write into the npm package where it is built, if a workflow says so: npm compares that with the provenance."""
    if name := os.environ.get("GITHUB_REPOSITORY"):
        url = f"git+{os.environ['GITHUB_SERVER_URL']}/{name}.git"
        package = json.loads(file.read_text())
        package["repository"] = {"type": "git", "url": url, "directory": file.parent.name}
        file.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n")


def copied(folder: Path, commit: str) -> Path:
    """Copy the repository as of a commit."""
    run("git", "clone", "--quiet", "--no-hardlinks", "--no-checkout", ROOT, folder)
    run("git", "checkout", "--quiet", "--detach", commit, cwd=folder)
    return folder


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def built_twice(scratch: Path) -> list[Path]:
    """Build the last commit in two places; the bytes must be the same."""
    commit = run("git", "rev-parse", "HEAD").strip()
    first, second = (
        build(copied(scratch / name, commit), scratch / f"{name}-dist") for name in ("one", "another-place")
    )
    for one, other in zip(first, second, strict=True):
        if digest(one) != digest(other):
            sys.exit(f"{one.name} is not reproducible: two builds of one commit differ")
    return first


def materials(wheel: Path, js: Path, target: Path, scratch: Path) -> None:
    """Write the bills of materials: of the wheel with what it needs, and of the npm package."""
    place = scratch / "materials"
    run("uv", "venv", "--quiet", place)
    run("uv", "pip", "install", "--quiet", "--python", place / "bin/python", "-c", ROOT / "constraints.txt", wheel)
    options = ("--output-reproducible", "--of", "JSON", "-o", scratch / "python.json")
    run("uv", "tool", "run", "--from", CYCLONEDX, "cyclonedx-py", "environment", *options, place / "bin/python")
    described = python_materials(json.loads((scratch / "python.json").read_text()))
    (target / "fldp-python.cdx.json").write_text(json.dumps(described, indent=2) + "\n")
    sbom = run("npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev", cwd=js)
    (target / "fldp-javascript.cdx.json").write_text(json.dumps(npm_materials(json.loads(sbom)), indent=2) + "\n")


def python_materials(bill: dict[str, Any]) -> dict[str, Any]:
    """Make the package the subject of its bill; the folder that it was installed from is gone."""
    own = next(part for part in bill["components"] if part["name"] == "fldp")
    kept = {name: value for name, value in own.items() if name != "externalReferences"}
    subject = {**kept, "purl": f"pkg:pypi/fldp@{own['version']}"}
    components = [part for part in bill["components"] if part is not own]
    return {**bill, "metadata": {**bill["metadata"], "component": subject}, "components": components}


def npm_materials(bill: dict[str, Any]) -> dict[str, Any]:
    """Name the package, which npm calls by its folder; serial number and time are all that differs between two runs."""
    component = {**bill["metadata"]["component"], "name": "fldp"}
    metadata = {**bill["metadata"], "component": component, "timestamp": "1970-01-01T00:00:00Z"}
    return {**bill, "serialNumber": "urn:uuid:00000000-0000-4000-8000-000000000000", "metadata": metadata}


def pythons() -> list[str]:
    """Return the oldest and the newest supported Python that this machine has."""
    there = [name for name in PYTHONS if _answers(f"python{name}")]
    if not there:
        sys.exit(f"a release is tried on one of Python {', '.join(PYTHONS)} at least, and there is none")
    return sorted({there[0], there[-1]}, key=PYTHONS.index)


def _answers(program: str) -> bool:
    """Whether a program can be run: what lies on the path may only stand for one that is switched off."""
    program_path = shutil.which(program)
    return (
        bool(program_path)
        and not subprocess.run([program_path, "--version"], capture_output=True, check=False).returncode
    )


def try_python(package: Path, scratch: Path) -> None:
    """Install a package where nothing else is, and use it."""
    for name in pythons():
        place = scratch / f"{package.name}-{name}"
        run("uv", "venv", "--quiet", "--no-python-downloads", "--python", f"python{name}", place)
        run("uv", "pip", "install", "--quiet", "--python", place / "bin/python", package)
        said = run(place / "bin/python", "-c", SMOKE, cwd=scratch) + run(place / "bin/fldp", "--version", cwd=scratch)
        # A bare installation is light, and works without Numba; the extra makes large batches fast.
        if "numba" in run("uv", "pip", "list", "--python", place / "bin/python"):
            sys.exit(f"{package.name}: a bare installation brings Numba")
        run("uv", "pip", "install", "--quiet", "--python", place / "bin/python", f"{package}[kernels]")
        said += run(place / "bin/python", "-c", SMOKE_KERNELS, cwd=scratch)
        print(f"{package.name} on Python {name}: {' '.join(said.split())}", flush=True)


def try_source(package: Path, scratch: Path) -> None:
    """Run the quick tests of a source distribution from what it holds."""
    place = scratch / "from-sdist"
    place.mkdir()
    run("tar", "-xzf", package, "--strip-components=1", "-C", place)
    run("uv", "venv", "--quiet", place / ".venv")
    python = place / ".venv/bin/python"
    run("uv", "pip", "install", "--quiet", "--python", python, "-c", "constraints.txt", "-e", ".[dev]", cwd=place)
    workers = str(os.cpu_count())
    said = run(python, "-m", "pytest", "-q", "-m", "not serving and not long", "-n", workers, "tests", cwd=place)
    print(f"{package.name}: {said.splitlines()[-1]}")


def try_javascript(package: Path, scratch: Path) -> None:
    """Install the npm package where nothing else is, and draw an answer, on each Node."""
    place = scratch / "node"
    place.mkdir()
    (place / "package.json").write_text('{"type": "module", "private": true}')
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", package, cwd=place)
    (place / "smoke.js").write_text(SMOKE_JS)
    for name in NODES:
        node = ("npx", "--yes", "--silent", f"node@{name}")
        said = run(*node, "smoke.js", cwd=place)
        print(
            f"{package.name} on Node {run(*node, '--version', cwd=place).strip()}: {' '.join(said.split())}", flush=True
        )


def main() -> None:
    """Build, compare, describe and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="do not run the tests of the source distribution")
    quick = parser.parse_args().quick
    target = ROOT / "dist"
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        packages = built_twice(scratch)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        wheel, sdist, npm = (
            next(file for file in packages if file.name.endswith(end)) for end in (".whl", ".tar.gz", ".tgz")
        )
        for package in (wheel, sdist):
            try_python(package, scratch)
        try_javascript(npm, scratch)
        if not quick:
            try_source(sdist, scratch)
        for package in packages:
            shutil.copy(package, target)
        materials(wheel, scratch / "one/js", target, scratch)
    files = sorted(file for file in target.iterdir())
    (target / "SHA256SUMS").write_text("".join(f"{digest(file)}  {file.name}\n" for file in files))
    print((target / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
