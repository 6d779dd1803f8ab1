"""Every test that may be skipped is listed here with its reason, so that none is skipped unnoticed."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SKIPS = {  # how often a file may skip something
    "acceptance/bayes_acceptance.py": 1,  # the datasets
    "deploy/test_deploy_tools.py": 1,  # a container engine
    "distributed/test_duckdb.py": 1,  # R with arrow and dplyr
    "experiments/test_data.py": 2,  # the datasets, and the corpus that one of them is counted from
    "package/test_machine_code.py": 1,  # a processor of another kind
    "privacy/test_attack.py": 1,  # another allocator than that of glibc
    "search/test_heavy_hitters.py": 1,  # the datasets
}
_SKIP = re.compile(r"pytest\.(?:mark\.)?(?:skip|skipif|importorskip|xfail)\(")


def test_no_other_test_is_skipped():
    counts = {path.relative_to(TESTS).as_posix(): len(_SKIP.findall(path.read_text())) for path in TESTS.rglob("*.py")}
    assert {name: count for name, count in counts.items() if count} == SKIPS
