"""The commands that copy all of a collector's data into a file, and back."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.cli import app
from fldp.cli.options import note
from fldp.cli.serve_commands import Data, Url, chosen, make_folder, open_store, show_findings


@app.command()
def backup(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; it must not be there yet.")],
    data: Data = None,
    database: Url = None,
) -> None:
    """Copy all of a collector's data, as it is at one moment, into one file. The collector may run meanwhile."""
    from fldp.collector import archive

    store = open_store(data, database)
    try:
        rows = archive.backup(store, output)
    finally:
        store.close()
    note(f"{output}: {rows} rows")


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A file that backup has written.")],
    data: Data = None,
    database: Url = None,
) -> None:
    """Make a collector's data from a backup, in a folder or database that has none, and count everything again."""
    from fldp.collector.fsck import fsck

    store = _restored(source, *chosen(data, database))
    try:
        good, bad = fsck(store)
    finally:
        store.close()
    raise typer.Exit(show_findings(good, bad))


def _restored(source: Path, data: Path, database: Any) -> Any:
    from fldp.collector import archive, stores
    from fldp.collector.sqlite_file import FILE

    if database is None:
        make_folder(data)
        archive.restore_file(source, data / FILE)
        return stores.open_store(data)
    store = stores.open_store(data, database, make=True)
    try:
        archive.restore(source, store)
    except BaseException:
        store.close()
        raise
    return store
