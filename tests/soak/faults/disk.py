"""Disks that are full, and then not: a small file system of its own, or a limit on the size of files."""

import errno
import os
import random
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

MEGABYTES = 24
POSTGRES_MEGABYTES = 400  # tallies that are replaced fifty times a second are cleared away now and then only
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
        if server.process.poll() is not None:
            return  # the limit is that of the process
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
    with mounted(Path(folder) / "disk") as mount:
        yield [*([SmallDisk(mount)] if mount.is_mount() else []), SmallFiles(mount)]


@contextmanager
def postgres_disk(folder, cluster):
    """Give the address of a database whose tables are on a small file system, and its disk; None and no disk else.

    Only the tables are: where PostgreSQL cannot write its log it stops, which is the fault of another scenario.
    """
    with mounted(Path(folder), POSTGRES_MEGABYTES) as mount:
        if not mount.is_mount():
            yield None, []
            return
        owner = cluster.data.stat()
        os.chown(mount, owner.st_uid, owner.st_gid)
        tables = mount / "tables"
        tables.mkdir(mode=0o700)
        os.chown(tables, owner.st_uid, owner.st_gid)
        cluster.ask(f"CREATE TABLESPACE small LOCATION '{tables}'")
        url = cluster.database()
        name = url.rpartition("/")[2]
        cluster.ask(f"ALTER DATABASE {name} SET TABLESPACE small")
        try:
            yield url, [SmallDisk(mount)]
        finally:
            cluster.ask(f"DROP DATABASE {name} WITH (FORCE)")
            cluster.ask("DROP TABLESPACE small")


@contextmanager
def mounted(folder, megabytes=MEGABYTES):
    """Give a folder, on a small file system if that is permitted."""
    folder.mkdir()
    done = _mount(folder, megabytes)
    try:
        yield folder
    finally:
        if done:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(folder, megabytes):
    """Mount a tmpfs if that is permitted."""
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
