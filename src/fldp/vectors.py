"""Alias of ``fldp.conformance.vectors``, for ``python -m fldp.vectors``."""

import sys

from fldp.conformance.vectors import *  # noqa: F403
from fldp.conformance.vectors import main

if __name__ == "__main__":
    main(sys.argv[1])
