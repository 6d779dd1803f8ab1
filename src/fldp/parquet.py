"""Alias of ``fldp.wire.parquet``."""

from fldp.wire.parquet import *  # noqa: F403
