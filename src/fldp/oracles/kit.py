"""Everything that an oracle of your own needs, from one place.

Subclass ``PureOracle`` if a report supports its own value with probability p and each other one with q,
``UnevenOracle`` if p and q depend on the value, ``StringOracle`` for strings, and ``FrequencyOracle`` otherwise.
``fldp.oracles.register`` makes the class known by its name, ``fldp.check_oracle`` checks it.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, repr=False)
... class Mine(SymbolOracle, PureOracle):
...     name = "mine"
>>> sorted(Mine.__abstractmethods__)
['law', 'perturb']
"""

from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, ZERO, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.numerics.word_kernels import keyed_hash, multiply_high, parity
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Law, Oracle, symbol_dtype
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.string_oracle import Fit, StringOracle
from fldp.oracles.base.support_counts import PureOracle, UnevenOracle
from fldp.oracles.base.symbol_reports import SymbolOracle, add_symbols
from fldp.randomness.coins import SetCoin, SubsetCoin, SymbolCoin, UnaryCoins, degenerate, exp_lower
from fldp.randomness.stream import Stream, Words
from fldp.support.validation import Described, fail, flag, fraction, integer, one_of, optional, positive, whole_numbers

__all__ = [
    "ONE",
    "U64",
    "ZERO",
    "Array",
    "Band",
    "Described",
    "Fit",
    "Floats",
    "FrequencyOracle",
    "Kernel",
    "Law",
    "Oracle",
    "Profile",
    "PureOracle",
    "Reports",
    "SetCoin",
    "Stream",
    "StringOracle",
    "SubsetCoin",
    "SymbolCoin",
    "SymbolOracle",
    "Tally",
    "UnaryCoins",
    "UnevenOracle",
    "Values",
    "Words",
    "add_symbols",
    "degenerate",
    "exp_lower",
    "fail",
    "flag",
    "fraction",
    "integer",
    "keyed_hash",
    "multiply_high",
    "one_of",
    "optional",
    "parity",
    "positive",
    "symbol_dtype",
    "walsh_hadamard",
    "whole_numbers",
]
