"""The checks of `npm run lint` see what they are for: a mistake that is planted in a copy is found.

That what is checked in passes them is checked by `make lint`, which is a part of `make test`.
"""

import shutil
import subprocess

import pytest

from support.javascript import ROOT, node

FILES = ("biome.json", "js/package.json", "js/tsconfig.json", "js/tsconfig.pages.json")
STATIC = "src/fldp/collector/static"
PAGE, SOURCE = f"{STATIC}/shared/format.js", "js/src/support/errors.ts"

# What is planted, where, and what the checks say of it. Types are checked once the style is good.
STYLE = [
    (PAGE, "\nexport const plain = 'text'\n", "format"),
    (PAGE, "\nfunction unused() {}\n", "noUnusedVariables"),
    (PAGE, "\nexport let k = 0;\nif ((k = 1)) k += 1;\n", "noAssignInExpressions"),
]
TYPES_OF_PAGES = [
    (PAGE, "\nexport const wrong = percent({});\n", "TS2345"),
    (PAGE, "\nexport const none = document.nothing;\n", "TS2339"),
    (PAGE, "\nexport const untyped = (thing) => thing;\n", "TS7006"),
]
TYPES_OF_THE_CLIENT = [(SOURCE, '\nexport const wrong: number = "text";\n', "TS2322")]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("lint")
    for folder in ("js/src", STATIC):
        shutil.copytree(ROOT / folder, root / folder)
    for file in FILES:
        shutil.copy(ROOT / file, root / file)
    (root / "js/node_modules").symlink_to(ROOT / "js/node_modules")
    return root


def lint(root):
    node()
    done = subprocess.run(
        ["npm", "run", "--silent", "lint"], cwd=root / "js", capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("mistakes", [STYLE, TYPES_OF_PAGES, TYPES_OF_THE_CLIENT], ids=["style", "pages", "client"])
def test_mistakes_are_found(copy, mistakes):
    before = {path: path.read_text() for path in (copy / PAGE, copy / SOURCE)}
    for file, planted, _ in mistakes:
        with (copy / file).open("a") as page:
            page.write(planted)
    try:
        code, text = lint(copy)
    finally:
        for path, content in before.items():
            path.write_text(content)
    assert code != 0
    assert [message for *_, message in mistakes if message not in text] == []
