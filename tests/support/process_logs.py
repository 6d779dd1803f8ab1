"""The log of this process, which a collector inside a test sends to standard error with all else that is said."""

import logging
import sys
import threading
from contextlib import contextmanager

LOGGERS = tuple(map(logging.getLogger, ("fldp.collector", "fldp.collector.audit")))
HOOKS = ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook"))


def _state():
    return [(logger.level, logger.propagate, logger.handlers[:]) for logger in LOGGERS]


@contextmanager
def as_before():
    """Undo what ``logs.configure`` changes for the whole process; pytest puts its own handlers back itself."""
    loggers, hooks = _state(), [getattr(module, name) for module, name in HOOKS]
    try:
        yield
    finally:
        if _state() != loggers:
            _restore(loggers, hooks)


def _restore(loggers, hooks):
    for logger, (level, propagate, handlers) in zip(LOGGERS, loggers, strict=True):
        for handler in logger.handlers:
            logging.getLogger().removeHandler(handler)
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)
    for (module, name), hook in zip(HOOKS, hooks, strict=True):
        setattr(module, name, hook)
    logging.captureWarnings(False)
