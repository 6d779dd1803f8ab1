"""Programs that `make test` installs where they are missing: tools/need.sh."""

import os
import shutil


def program(name, need=None):
    """Return the path of a program."""
    where = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert where, f"{name} is not installed: run tools/need.sh {need or name}"
    return where
