"""The package as it is shipped, and the commands as a user runs them."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp.experiments.datasets.synthetic import zipf
from support.serving import shell

ROOT = Path(__file__).parents[2]


def run(*command, code=0):
    done = subprocess.run([*command], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path):
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"fldp/__init__.py", "fldp/py.typed", "fldp/oracles/flexible/fhr.py"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"fldp", f"fldp-{fldp.__version__}.dist-info"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.long
def test_the_demo_ends_with_a_result():
    out, _ = shell("demo")
    assert "593,358 users" in out
    assert "112,095" in out
    assert out.count("yes") >= 12
    assert "eta 1/2" in out


def test_errors_are_one_line():
    _, said = shell("demo", "--epsilon", "-1", code=2)
    assert said == "FHR: epsilon must be a positive, finite number, got -1.0\n"


def test_help_and_version():
    assert run(sys.executable, "-m", "fldp", "--version").stdout == f"fldp {fldp.__version__}\n"
    assert "demo" in shell("--help")[0]


def test_the_zipf_population_is_frozen():
    values = zipf()
    assert len(values) == 593_358
    assert np.bincount(values, minlength=1023)[:5].tolist() == [112095, 51729, 32599, 23658, 18465]
    assert len(np.unique(values)) == 1023
    raw = np.random.default_rng(0).zipf(1.12, 1_000_000)
    assert np.array_equal(values[:500_000], raw[raw <= 1023][:500_000] - 1)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "LICENSE"])
def test_documents_are_there(name):
    assert len((ROOT / name).read_text()) > 500


@pytest.mark.parametrize("name", ["client", "distributed", "parquet", "participant_store"])
def test_a_module_that_is_loaded_on_first_use_needs_no_import_of_its_own(name):
    code = f"import fldp; print(fldp.{name}.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == f"fldp.{name}\n"
