"""``make release``: what the bills of materials say of the packages themselves."""

import json
import runpy
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "release.py"))
PLACE = {"type": "distribution", "url": "file:///somewhere/dist/fldp-0.1.0-py3-none-any.whl"}
INSTALLED = {
    "metadata": {"tools": {}},
    "components": [
        {"name": "numpy", "version": "2.5.4", "bom-ref": "numpy==2.5.4"},
        {"name": "fldp", "version": "0.1.0", "bom-ref": "fldp==0.1.0", "externalReferences": [PLACE]},
    ],
    "dependencies": [{"ref": "fldp==0.1.0", "dependsOn": ["numpy==2.5.4"]}],
}
PACKED = {
    "serialNumber": "urn:uuid:1c1a2f5e-6a44-4d4c-8f3a-0b0a3c1d9e11",
    "metadata": {"timestamp": "2026-11-18T12:00:00Z", "component": {"name": "js", "bom-ref": "fldp@0.1.0"}},
    "components": [],
}


def test_the_wheel_is_the_subject_of_its_bill_and_no_folder_is_named():
    bill = TOOL["python_materials"](INSTALLED)
    assert [part["name"] for part in bill["components"]] == ["numpy"]
    assert bill["metadata"]["component"] == {
        "name": "fldp", "version": "0.1.0", "bom-ref": "fldp==0.1.0", "purl": "pkg:pypi/fldp@0.1.0",
    }  # fmt: skip
    assert bill["dependencies"] == INSTALLED["dependencies"]
    assert "file:" not in json.dumps(bill)


def test_the_npm_package_has_its_name_and_nothing_differs_between_two_runs():
    bill = TOOL["npm_materials"](PACKED)
    again = TOOL["npm_materials"]({**PACKED, "serialNumber": "another"})
    assert bill["metadata"]["component"] == {"name": "fldp", "bom-ref": "fldp@0.1.0"}
    assert bill == again
