"""Experiments: populations, metrics, and an experiment as data that is run into a table.

>>> from fldp.experiments import Specification, run
>>> small = Specification(datasets=["step"], oracles=["oue", "fhr"], epsilons=[0.5, 1.0], runs=3, top=[10])
>>> table = run(small)
>>> [round(each.mean, 1) for each in table.where(metric="ncr", oracle="fhr").summary("epsilon")]
[1.0, 1.0]
"""

from fldp.experiments.datasets import from_files as counted
from fldp.experiments.datasets import public_corpora as corpora
from fldp.experiments.datasets import synthetic as data
from fldp.experiments.datasets.population import Population, dataset
from fldp.experiments.runner.contenders import Contender, Source
from fldp.experiments.runner.metrics import metric
from fldp.experiments.runner.run import run
from fldp.experiments.runner.specification import EXTENDED, PAPER, Specification
from fldp.experiments.runner.table import Table

__all__ = [
    "EXTENDED",
    "PAPER",
    "Contender",
    "Population",
    "Source",
    "Specification",
    "Table",
    "corpora",
    "counted",
    "data",
    "dataset",
    "metric",
    "run",
]
