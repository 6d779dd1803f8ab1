"""The exception tree.

::

    FldpError                  catch this one to catch them all
    ├── ParameterError         a parameter of an oracle, a stream or a call is not allowed
    ├── DomainError            a value or a report lies outside what the oracle knows
    ├── WireError              bytes that are not what they claim to be
    ├── MergeError             tallies or reports that do not belong together
    ├── BudgetError            an answer would cost more privacy than its owner allows
    ├── CollectorError         a collector refused, or could not be reached
    └── CheckError             an oracle does not do what it says (fldp.conformance.checks)

A message is one line and says who, what, the rule, and the value:
``GRR: epsilon must be a positive number, got -1.0``.
"""

__all__ = [
    "BudgetError",
    "CollectorError",
    "DomainError",
    "FldpError",
    "MergeError",
    "ParameterError",
    "WireError",
]


class FldpError(Exception):
    """Base of everything this package raises on purpose."""


class ParameterError(FldpError, ValueError):
    """A parameter of an oracle, a stream or a call is not allowed."""


class DomainError(FldpError, ValueError):
    """A value or a report lies outside what the oracle knows; ``index`` says which one, where that is known."""

    index: int | None = None


class WireError(FldpError, ValueError):
    """Bytes that are not what they claim to be; ``index`` is the report that is wrong, if it is one."""

    index: int | None = None


class MergeError(FldpError, ValueError):
    """Tallies or reports that do not belong together."""


class BudgetError(FldpError):
    """An answer would cost more privacy than its owner allows."""


class CollectorError(FldpError):
    """A collector refused, or could not be reached.

    ``status`` is what it answered, None if it did not; ``kind`` the type of its problem, ``index`` the place of a bad
    report in a batch, ``mistakes`` those in a survey, where it named them.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: str | None = None,
        index: int | None = None,
        mistakes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.index, self.mistakes = status, kind, index, mistakes

    @property
    def refused(self) -> bool:
        """Whether the collector said no, and would say it again; otherwise another attempt may succeed."""
        return self.status is not None and 400 <= self.status < 500 and self.status not in (408, 429)
