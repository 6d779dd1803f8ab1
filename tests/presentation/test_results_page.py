import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "results.md"


def test_the_examples_of_the_page_are_what_they_print():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(PAGE), module_relative=False, optionflags=flags).failed == 0
