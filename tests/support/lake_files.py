"""Small files of a lake."""

import numpy as np

import fldp
from fldp.wire import parquet

ORACLE = fldp.FHR(epsilon=1.0, domain_size=300)


ONE, OTHER = "1" * 64, "2" * 64


def reports(count, seed=0, oracle=ORACLE):
    values = np.random.default_rng(seed).integers(0, oracle.domain_size, count)
    return oracle.privatize(values, rng=seed)


def save(path, count=100, seed=0, survey=None, oracle=ORACLE, group=None):
    """Write reports as fldp does, in row groups of a given size, and return them."""
    reports_made = reports(count, seed, oracle)
    path.parent.mkdir(parents=True, exist_ok=True)
    step = group or count
    with path.open("wb") as file:
        parquet.write(file, oracle, (reports_made[start : start + step] for start in range(0, count, step)), survey)
    return reports_made


def flipped(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


FAMILIES = (
    ORACLE,
    fldp.GRR(epsilon=1.0, domain_size=300),
    fldp.OLH(epsilon=1.0, domain_size=300),
    fldp.OUE(epsilon=1.0, domain_size=300),
    fldp.SS(epsilon=1.0, domain_size=300),
    fldp.FWR(epsilon=1.0, domain_size=300, eta=0.5),
)
