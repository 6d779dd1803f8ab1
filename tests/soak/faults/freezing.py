"""A collector that stops itself, as a machine does that is paused, where a commit has written its keys.

``python -m soak.faults.freezing FOLDER ...``: what ``fldp serve ...`` runs. It stops when there is a file ``freeze`` in
the folder; with its keys and its locks held, and its connections open. If ``session`` is written in that file, the
process of the server that serves it is stopped too, so that it cannot end the session; its number is in the file then.
"""

import os
import signal
import sys
from pathlib import Path

from fldp import cli
from fldp.collector.storage.postgres import writes


def main():
    marker, insert, insert_new = Path(sys.argv.pop(1)) / "freeze", writes._insert, writes._insert_new

    def freeze(connection):
        if marker.exists() and marker.read_text() in ("", "session"):
            if marker.read_text():
                os.kill(connection.info.backend_pid, signal.SIGSTOP)
            marker.write_text(str(connection.info.backend_pid))
            os.kill(os.getpid(), signal.SIGSTOP)

    def freezing(connection, parts, *, folded):
        if not folded and any(survey for survey, _, _ in parts):  # neither folding nor a probe holds keys
            freeze(connection)
        insert(connection, parts, folded=folded)

    def freezing_new(connection, new):
        insert_new(connection, new)
        freeze(connection)

    writes._insert, writes._insert_new = freezing, freezing_new
    sys.argv.insert(1, "serve")
    cli.main()


if __name__ == "__main__":
    main()
