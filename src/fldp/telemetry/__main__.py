"""Run ``python -m fldp.telemetry``."""

from fldp.telemetry.shell import main

if __name__ == "__main__":
    main()
