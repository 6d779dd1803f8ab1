"""``make release``: what the bills of materials say of the packages themselves, and READMEs that indexes can show."""

import json
import re

import pytest

from support.completeness import ROOT, tool

TOOL = vars(tool("release"))
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


def test_the_npm_package_names_the_repository_that_a_workflow_builds(tmp_path, monkeypatch):
    """A registry refuses a provenance from another repository than the package names."""
    file = tmp_path / "js" / "package.json"
    file.parent.mkdir()
    file.write_text((ROOT / "js" / "package.json").read_text())
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    TOOL["name_repository"](file)
    assert file.read_text() == (ROOT / "js" / "package.json").read_text()
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/fldp")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://host.example")
    TOOL["name_repository"](file)
    url = "git+https://host.example/somebody/fldp.git"
    expected = json.loads((ROOT / "js" / "package.json").read_text())
    expected["repository"] = {"type": "git", "url": url, "directory": "js"}
    assert json.loads(file.read_text()) == expected


def test_the_npm_package_has_its_name_and_nothing_differs_between_two_runs():
    bill = TOOL["npm_materials"](PACKED)
    again = TOOL["npm_materials"]({**PACKED, "serialNumber": "another"})
    assert bill["metadata"]["component"] == {"name": "fldp", "bom-ref": "fldp@0.1.0"}
    assert bill == again


@pytest.mark.parametrize("path", ["README.md", "js/README.md"])
def test_the_readme_of_an_index_leads_nowhere_in_the_repository(path):
    text = (ROOT / path).read_text()
    shown = tool("index_readme").standalone(text)
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", shown, flags=re.MULTILINE | re.DOTALL))
    assert all(target.startswith("https://") for target in targets)
    assert re.findall(r"^```.*?^```", shown, re.M | re.S) == re.findall(r"^```.*?^```", text, re.M | re.S)
    assert re.findall("^#.*", shown, re.M) == re.findall("^#.*", text, re.M)


def test_words_of_links_stay():
    text = (
        "Read [the `wire`](docs/wire.md#a), [1], [RFC](https://rfc.example) and\n\n![A picture](docs/a.png)\n\nmore.\n"
    )
    assert tool("index_readme").standalone(text) == ("Read the `wire`, [1], [RFC](https://rfc.example) and\n\nmore.\n")
