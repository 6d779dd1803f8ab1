"""A collector in a process of its own that says which kernels one report runs interpreted, and which it compiles.

Run by test_collector_compiled.py: whether kernels run compiled is a matter of the whole process.
"""

import asyncio
import gc
import json
import sys
from pathlib import Path

import fldp
from fldp import Survey, wire
from fldp.collector.config.settings import Settings
from fldp.collector.routes.reports import _decoded
from fldp.collector.service import kernel_warmup
from fldp.collector.service.collector import Collector
from fldp.collector.storage.protocol import StoredSurvey
from fldp.collector.storage.segments import packed, total
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.numerics.kernels import Kernel
from support import cases

LONG = 1 << 16


def oracles():
    """One of every family, a larger one of every kind of long report, and those over strings."""
    for name, family in cases.FAMILIES.items():
        yield f"{name} small", family.make(1.0, family.sizes[len(family.sizes) // 2])
    for cls in (fldp.GRR, fldp.HR, fldp.PGR, fldp.OLH, fldp.FHR, fldp.HRR, fldp.OUE, fldp.SUE, fldp.SS):
        yield f"{cls.__name__} long", cls(1.0, LONG)
    yield "grouped long", fldp.Grouped(1.0, base="oue", groups=(LONG, 3))
    yield "grouped sets", fldp.Grouped(1.0, base="ss", groups=(LONG, 300))
    for oracle in (fldp.CMS(1.0, 64, 1024), fldp.HCMS(1.0), fldp.RAPPOR(1.0, 2.0)):
        yield oracle.name, oracle


def survey_of(name, oracle):
    return Survey(name.lower().replace(" ", "-"), "Which?", oracle)


def signatures():
    """How many forms of how many kernels are compiled."""
    compiled = [kernel.__dict__.get("compiled") for kernel in gc.get_objects() if isinstance(kernel, Kernel)]
    return sum(len(function.signatures) for function in compiled if function is not None)


def one(oracle):
    return oracle.privatize(1 if hasattr(oracle, "domain_size") else ["a word"])


def counted(published, body):
    """Take a body the way that one report goes: decoded, checked, stored, read again, tallied."""
    reports = _decoded(published, body, 1)
    return total(published.survey.oracle, packed([reports])).n


async def looked_at(collector, name, oracle):
    """Return the kernels that ran interpreted, and how many were compiled, for one report of a survey."""
    survey = survey_of(name, oracle)
    body = wire.encode(one(oracle), survey.version)
    specification = json.dumps(survey.canonical)
    entry, _ = collector.store.publish(StoredSurvey(0, survey.version, survey.name, specification, "2026", None))
    published = await collector.surveys.get(entry.version, fresh=True)
    interpreted, before, call = [], signatures(), Kernel.__call__
    Kernel.__call__ = lambda self, *arguments: interpreted.append(self.__name__) or call(self, *arguments)
    try:
        assert counted(published, body) == 1
    finally:
        Kernel.__call__ = call
    return interpreted, signatures() - before


async def main(folder):
    collector = Collector(Settings(data=folder), SqliteStore(folder / "fldp.db"))
    try:
        await collector.heavy(kernel_warmup.start)  # as when it starts, but to its end
        print(json.dumps({name: await looked_at(collector, name, oracle) for name, oracle in oracles()}))
    finally:
        collector.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
