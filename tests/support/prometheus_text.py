"""A strict reader of Prometheus' text format: what its documentation asks for, beyond what parsers insist on."""

import itertools
import math
import re

SAMPLE = re.compile(r'([a-z_][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
ENDINGS = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


def families(text):
    """Return kind, help and samples of every family; assert each rule on the way."""
    assert text.endswith("\n")
    families, current = {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, current, about = line.split(" ", 3)
            assert about
            assert current not in families, f"{current} is in two pieces"
            families[current] = {"help": about, "samples": []}
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            assert "type" not in families[name]
            assert not families[name]["samples"]
            families[name]["type"] = kind
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            kind = families[current]["type"]
            assert name in [current + ending for ending in ENDINGS[kind]], line
            families[current]["samples"].append((name, dict(LABEL.findall(labels or "")), float(value)))
    for name, family in families.items():
        check(name, family)
    return families


def check(name, family):
    seen = [(each, tuple(sorted(labels.items()))) for each, labels, _ in family["samples"]]
    assert len(seen) == len(set(seen)), f"{name} has a series twice"
    assert family["samples"], name
    if family["type"] == "counter":
        assert name.endswith("_total")
        assert all(value >= 0 for _, _, value in family["samples"])
    elif family["type"] == "gauge":
        assert not name.endswith("_total")
    else:
        check_histogram(name, family["samples"])


def check_histogram(name, samples):
    """Each histogram is in one piece: buckets with rising bounds and counts, the last +Inf, then sum and count."""

    def without_bound(sample):
        return sorted((label, value) for label, value in sample[1].items() if label != "le")

    for _, group in itertools.groupby(samples, without_bound):
        *buckets, total, count = group
        assert [each for each, _, _ in (total, count)] == [f"{name}_sum", f"{name}_count"]
        bounds = [float(labels["le"]) for _, labels, _ in buckets]
        reached = [value for _, _, value in buckets]
        assert bounds == sorted(set(bounds))
        assert bounds[-1] == math.inf
        assert reached == sorted(reached)
        assert reached[-1] == count[2]
