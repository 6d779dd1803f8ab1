"""Kernels: functions of arrays that run as plain Python for one short report and compiled for anything larger.

This is the only file that names Numba, which is loaded at the first batch. A client that privatizes one value runs the
same source without it, and so does an installation without the extra ``kernels``: exact, slower, and said once where it
takes long. A server calls ``always_compile``: interpreted loops over requests of strangers would cost a hundred times
as much and hold the interpreter's lock.

Integers in a kernel are ``uint64``, and so are the constants, because Numba turns ``uint64 + int64`` into a float.
Arrays of rows come flattened where speed matters: Numba vectorises loops over one axis only.
"""

import hashlib
import importlib.util
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from fldp.support.optional_imports import load

P = ParamSpec("P")
R = TypeVar("R")

U64 = np.uint64
ZERO, ONE = U64(0), U64(1)

MAX_INTERPRETED = 1 << 15  # columns of one row: more of them take longer in plain Python than loading Numba does
MAX_BY_NUMPY = 1 << 22  # numbers: more of them take longer in NumPy than loading Numba does
MAX_IN_BATCHES = 1 << 24  # numbers of many batches, together: the same for what one process counts
MAX_UNSAID = 1 << 14  # numbers that are interpreted without a word where Numba is missing


class _Mode:
    """Whether this process may interpret kernels. A process that serves never goes back."""

    always_compiled = False
    simulates = False
    counted = 0  # numbers, in batches


_mode = _Mode()


def always_compile() -> None:
    """Run every kernel compiled from now on in this process, also over one user."""
    _mode.always_compiled = True


@contextmanager
def simulating() -> Iterator[None]:
    """Run kernels compiled, also over one user, once Numba is loaded: times tell nothing about made-up people.

    >>> with simulating():
    ...     _mode.simulates
    True
    """
    before, _mode.simulates = _mode.simulates, True
    try:
        yield
    finally:
        _mode.simulates = before


def load_compiler() -> None:
    """Load Numba, which takes a second: from then on every batch is compiled. Without it, say what to install."""
    load("numba", "kernels")


@cache
def has_compiler() -> bool:
    """Whether Numba is installed; it is not loaded for that."""
    return importlib.util.find_spec("numba") is not None


def pays(work: int, most: int = MAX_BY_NUMPY) -> bool:
    """Whether this much work is done sooner by machine code: it is much, or Numba is loaded anyway."""
    return has_compiler() and (_mode.always_compiled or "numba" in sys.modules or work > most)


def expect_more(numbers: int) -> None:
    """Note a batch of a long run. Numba is loaded once all batches of this process together pay for it.

    Each of them is too small for that, so NumPy would count them all, however many.
    """
    _mode.counted += numbers
    if "numba" not in sys.modules and pays(_mode.counted, most=MAX_IN_BATCHES):
        load_compiler()


@cache
def _say_that_it_takes_long() -> None:
    warnings.warn(
        "fldp: Numba is not installed, so large batches run in plain Python, with the same results and much"
        " slower; install it with: pip install 'fldp[kernels]'",
        RuntimeWarning,
        stacklevel=2,
    )


class Kernel(Generic[P, R]):
    """A function that can be called as plain Python, or through ``compiled``.

    >>> @Kernel
    ... def add(values):
    ...     return values[0] + values[1]
    >>> add(np.array([1, 2]))
    np.int64(3)
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.python = function
        self._by_numpy: Callable[P, R] | None = None
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(over="ignore"):
            return self.python(*args, **kwargs)

    def over(self, users: int, columns: int = 1) -> Callable[P, R]:
        """Return the callable for this many users and columns: the Python source for one short row, else machine code.

        Zero users count as one: anybody can time whether Numba is loaded, and that must not show whether a kind of
        value occurs.
        """
        machine_code = _mode.always_compiled or (_mode.simulates and "numba" in sys.modules)
        return self if users <= 1 and columns <= MAX_INTERPRETED and not machine_code else self.compiled

    def by_numpy(self, function: Callable[P, R]) -> Callable[P, R]:
        """Have NumPy do the same to few numbers: a small file is done with it before Numba is loaded."""
        self._by_numpy = function
        return function

    def for_work(self, numbers: int) -> Callable[P, R]:
        """Return the callable for this many numbers: NumPy's, where there is one and it is done sooner."""
        return self.compiled if self._by_numpy is None or pays(numbers) else self._by_numpy

    @cached_property
    def compiled(self) -> Callable[P, R]:
        """The machine code, compiled at first use and cached on disk between runs; without Numba the Python source."""
        if not has_compiler():
            return self._interpreted
        from numba import njit

        try:
            function: Callable[P, R] = njit(cache=True, nogil=True, boundscheck=False)(self._linked())
        except RuntimeError:  # no folder for the cache: a read-only installation without a home
            function = njit(nogil=True, boundscheck=False)(self._linked())
        return function

    def _interpreted(self, *args: P.args, **kwargs: P.kwargs) -> R:
        rows: Any = args[0]  # a state or a table may be large for few of them
        if np.size(rows) > MAX_UNSAID:
            _say_that_it_takes_long()
        return self(*args, **kwargs)

    @property
    def _called(self) -> "dict[str, Kernel[Any, Any]]":
        """The kernels that this one calls, by name."""
        function = self.python
        assert isinstance(function, types.FunctionType)
        names = {name: function.__globals__.get(name) for name in function.__code__.co_names}
        return {name: kernel for name, kernel in names.items() if isinstance(kernel, Kernel)}

    def _linked(self) -> types.FunctionType:
        """Return the function with the kernels that it calls replaced by their compiled forms.

        Numba's cache on disk looks only at the file of the function itself. The digest in the name makes it notice a
        change of the flags here or of a called kernel in another file.
        """
        function = self.python
        assert isinstance(function, types.FunctionType)
        compiled = {name: kernel.compiled for name, kernel in self._called.items()}
        linked = types.FunctionType(function.__code__, {**function.__globals__, **compiled}, function.__name__)
        linked.__qualname__ = f"{function.__qualname__}_{self._digest}"
        linked.__module__ = function.__module__
        return linked

    @property
    def _digest(self) -> str:
        """Hash of this file and of the files of all kernels that the function calls, directly or not."""
        digest = hashlib.sha256(Path(__file__).read_bytes())
        for kernel in self._called.values():
            digest.update(_source(kernel.python) + kernel._digest.encode())
        return digest.hexdigest()[:8]


def _source(function: Any) -> bytes:
    """Return the file that a function is written in; a function typed at a prompt has only its bytecode."""
    code: types.CodeType = function.__code__
    file = Path(code.co_filename)
    return file.read_bytes() if file.is_file() else code.co_code
