"""An object store for tests: moto's S3 server in a process of its own, with one empty bucket at a time."""

import itertools
import os
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress

import fsspec

from support.ports import free_port
from support.waiting import until

ACCESS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1"}


class ObjectStore:
    """A running store. ``environment`` is what leads programs to it; ``bucket`` makes a new one."""

    def __init__(self):
        self.port, self._numbers = free_port(), itertools.count()
        self.environment = {**ACCESS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self._answers)

    def _answers(self):
        assert self.process.poll() is None, "moto's server has ended"
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 30):
            return True

    @property
    def files(self):
        """The store as anybody else sees it: nothing is remembered of what was there before."""
        return fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)

    def bucket(self):
        name = f"lake{next(self._numbers)}-{os.getpid()}"
        self.files.mkdir(name)
        return name

    def stop(self):
        self.process.terminate()
        self.process.wait(300)


@contextmanager
def object_store():
    """Run a store, and lead this process and its children to it."""
    store, before = ObjectStore(), dict(os.environ)
    os.environ.update(store.environment)
    try:
        yield store
    finally:
        store.stop()
        os.environ.clear()
        os.environ.update(before)
