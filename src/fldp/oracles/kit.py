"""Everything that an oracle of your own needs, from one place.

Subclass ``FrequencyOracle`` for listed values, ``StringOracle`` for strings. Most reports are ``symbols``,
``symbol_sets``, ``bit_rows`` or ``numbered_bits``; for others, write a ``ReportFormat``. The estimator is ``Supports``
if a report supports its own value with probability p and each other one with q, ``SupportsByKind`` if p and q depend on
the value, and else an ``Estimator`` of your own. ``fldp.oracles.register`` makes the class known by its name,
``fldp.check_oracle`` checks it. A companion, a subclass of ``Analysis`` under ``@analyses(Mine)``, states its law, and
whatever else verifiers, attacks and integrity tests ask for.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, repr=False)
... class Mine(FrequencyOracle):
...     name = "mine"
...     report_format = property(lambda self: symbols(self.domain_size))
>>> Mine(epsilon=1.0, domain_size=5).privatize([1])
Traceback (most recent call last):
NotImplementedError: Mine: define report_format, tally_format, words, perturb and count, or _mechanism, which has them
"""

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, ZERO, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.numerics.word_kernels import keyed_hash, multiply_high, parity
from fldp.oracles.base.analysis import Analysis, StringAnalysis, analyses, analysis
from fldp.oracles.base.bit_reports import bit_rows, numbered_bits
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Law, Oracle
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Strategy, Targets, supports_worth
from fldp.oracles.base.string_oracle import Fit, StringEstimator, StringOracle
from fldp.oracles.base.support_counts import PureOracle, Supports, SupportsByKind, UnevenOracle
from fldp.oracles.base.support_counts_analysis import PureAnalysis, UnevenAnalysis
from fldp.oracles.base.symbol_reports import (
    add_symbols,
    support_counts,
    symbol_counts,
    symbol_dtype,
    symbol_sets,
    symbols,
)
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.randomness.coins import SetCoin, SubsetCoin, SymbolCoin, UnaryCoins, degenerate, exp_lower
from fldp.randomness.stream import Stream, Words
from fldp.support.validation import Described, fail, flag, fraction, integer, one_of, optional, positive, whole_numbers

__all__ = [
    "ONE",
    "U64",
    "ZERO",
    "Analysis",
    "Array",
    "Band",
    "BitStrategy",
    "CellClaim",
    "Claim",
    "Described",
    "Estimator",
    "Fit",
    "Floats",
    "FrequencyOracle",
    "Kernel",
    "Law",
    "Oracle",
    "Profile",
    "PureAnalysis",
    "PureOracle",
    "ReportFormat",
    "Reports",
    "Scores",
    "SetCoin",
    "Strategy",
    "Stream",
    "StringAnalysis",
    "StringEstimator",
    "StringOracle",
    "SubsetCoin",
    "Supports",
    "SupportsByKind",
    "SymbolCoin",
    "Symbols",
    "Tally",
    "TallyFormat",
    "Targets",
    "UnaryCoins",
    "UnevenAnalysis",
    "UnevenOracle",
    "Values",
    "Words",
    "add_symbols",
    "analyses",
    "analysis",
    "bit_rows",
    "degenerate",
    "exp_lower",
    "fail",
    "flag",
    "fraction",
    "integer",
    "keyed_hash",
    "multiply_high",
    "numbered_bits",
    "one_of",
    "optional",
    "parity",
    "positive",
    "support_counts",
    "supports_worth",
    "symbol_counts",
    "symbol_dtype",
    "symbol_sets",
    "symbols",
    "walsh_hadamard",
    "whole_numbers",
]


def __getattr__(name: str) -> None:
    if name == "SymbolOracle":
        raise ImportError(
            "SymbolOracle is gone: define report_format = symbols(...) and tally_format = symbol_counts(...)"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
