"""Display: results show themselves, as text where they are printed and as a table in a notebook.

How they look is decided in the room of presentation, which comes after the rooms of what is shown. So the package names
the module that draws (``drawn_by``), and it is loaded when something is shown for the first time.
"""

from collections.abc import Callable
from types import ModuleType


class _Drawing:
    """The module that draws, once the package has named it."""

    load: Callable[[], ModuleType]


def drawn_by(load: Callable[[], ModuleType]) -> None:
    """Name the module that draws: ``load`` imports it on first use."""
    _Drawing.load = staticmethod(load)


def drawing() -> ModuleType:
    """Return the module that draws, ``fldp.presentation.result_display``."""
    return _Drawing.load()


class Displayed:
    """What shows itself: ``print`` says what the shell says, a notebook shows a table, ``repr`` stays one line."""

    __slots__ = ()

    def __str__(self: object) -> str:
        text: str = drawing().text(self)
        return text

    def _repr_html_(self: object) -> str:
        html: str = drawing().html(self)
        return html
