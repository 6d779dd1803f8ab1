"""Disks that are full, and then not: a small file system of its own, or a limit on the size of files."""

import errno
import os
import random
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

MEGABYTES = 24
PAGE = 4096


class SmallDisk:
    """A folder on a tmpfs of a few megabytes. Needs the right to mount."""

    name = "small tmpfs"

    def __init__(self, folder):
        self.folder = Path(folder)
        self._ballast = self.folder / "ballast"

    def fill(self, server, rng: random.Random):
        """Write until no page is left."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, PAGE):
                while _written(file, bytes(size)):
                    pass

    def empty(self, server):
        self._ballast.unlink()


class SmallFiles:
    """No file of the collector may grow beyond a size: the kernel refuses the write, in the middle of it if need be."""

    name = "limit on files"

    def __init__(self, folder):
        self.folder = Path(folder)

    def fill(self, server, rng: random.Random):
        limit = rng.randrange(PAGE, 16 * PAGE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    def empty(self, server):
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _written(file, piece):
    try:
        return file.write(piece) == len(piece)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False


@contextmanager
def disks(folder):
    """Give the kinds of disk that can be had here, both with their data in the same folder."""
    made = Path(folder) / "disk"
    made.mkdir()
    mounted = _mount(made)
    try:
        yield [*([SmallDisk(made)] if mounted else []), SmallFiles(made)]
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(made)], check=True)


def _mount(folder):
    """Mount a tmpfs if that is permitted."""
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
