"""``python -m fldp``."""

from fldp.cli import main

if __name__ == "__main__":
    main()
