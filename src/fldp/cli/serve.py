"""The commands that run a collector and look after its data."""

import os
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.options import adds_options, note
from fldp.cli.shell import app
from fldp.collector.config.settings import Settings, SettingsError, described, writable
from fldp.errors import ParameterError
from fldp.support.validation import counted

if TYPE_CHECKING:
    from fldp.collector.config.database_url import Database
    from fldp.collector.storage.protocol import CollectorStore

Data = Annotated[
    Path | None,
    typer.Option("--data", help="The folder of the collector's database; or FLDP_SERVE_DATA; by default this one."),
]
Url = Annotated[
    str | None, typer.Option("--database", help="Its PostgreSQL database, instead; or FLDP_DATABASE.", metavar="URL")
]
Accept = Annotated[
    bool,
    typer.Option("--accept", help="Accept the database although its witness saw later commits, then check it."),
]


def _setting(name: str, default: object, about: str) -> Any:
    text = f"{about[0].upper()}{about[1:]}. [default: {default}]"
    return Annotated[str | None, typer.Option(f"--{name.replace('_', '-')}", help=text, show_default=False)]


takes_settings = adds_options(
    "flags",
    {name: (_setting(name, default, about), None) for name, default, about in described()},
    lambda flags, _: flags,
)
"""Give a command a flag for every setting; it gets those that were given as ``flags``."""


@app.command()
@takes_settings
def serve(
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Check the settings, print them, and exit.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Have simulated people answer, and keep nothing.")] = False,
    flags: dict[str, object] | None = None,
) -> None:
    """Run a collector. Flags override FLDP_... in the environment, which override the file."""
    settings = _settings(flags or {}, config, 1 if check else 2)
    folders = {"data": settings.data if settings.database is None else None, "lake": settings.lake}
    needed = {name: folder for name, folder in folders.items() if isinstance(folder, Path)}
    _check_folders(needed, 1 if check else 2)
    if isinstance(settings.lake, str):
        _check_lake(settings.lake)
    if check:
        for name, value in asdict(settings).items():
            typer.echo(f"{name} = {value}")
        return
    server = _load("granian")
    _check_compiler()
    for folder in needed.values():
        make_folder(folder)
    if demo:
        quiet = settings if (flags or {}).get("log") else replace(settings, log=False, audit=False)
        _load_demo().serve(quiet, _print_line)
    else:
        server.run(settings, _print_line)
    server.exit_now()


def _settings(flags: dict[str, object], config: Path | None, code: int) -> Settings:
    """Return the settings; with mistakes, print all of them and exit with this code."""
    try:
        return Settings.load(flags, os.environ, config)
    except SettingsError as error:
        for mistake in error.mistakes:
            note(mistake)
        raise typer.Exit(code) from None


def _check_folders(folders: dict[str, Path], code: int) -> None:
    """Exit with this code if a folder can neither be written to nor created."""
    for name, folder in folders.items():
        if not writable(folder) and (folder.exists() or not writable(folder.parent)):
            note(f"serve: {name} must be a folder that can be written to, or created inside one, got {str(folder)!r}")
            raise typer.Exit(code)


def _check_lake(address: str) -> None:
    from fldp.distributed.lake.writing import check_lake

    check_lake(address)


def make_folder(folder: Path) -> None:
    """Create a folder that only its owner can read. The parent must exist, so that a typo in a path creates nothing."""
    with suppress(OSError):  # opening the files inside reports it
        folder.mkdir(mode=0o700, exist_ok=True)


def _print_line(line: str) -> None:
    typer.echo(f"fldp: {line}")


def _load_demo() -> Any:
    from fldp.support import optional_imports

    optional_imports.load("httpx", "client")
    return optional_imports.load("fldp.collector.live_demo", "collector")


def _load(needed: str) -> Any:
    from fldp.support import optional_imports

    optional_imports.load("starlette", "collector")
    optional_imports.load(needed, "collector")
    return optional_imports.load("fldp.collector.server", "collector")


def _check_compiler() -> None:
    """Refuse to serve without Numba, before anything is made. It is loaded later, while the collector listens."""
    from fldp.numerics.kernels import has_compiler, load_compiler

    if not has_compiler():
        load_compiler()


def open_store(data: Path | None, database: str | None, *, make: bool = False) -> "CollectorStore":
    """Open the store of a folder or a database; create it only on request."""
    from fldp.collector.storage import open_store as stores

    folder, address = chosen(data, database)
    if make and address is None:
        make_folder(folder)
    return stores.open_store(folder, address, make=make)


def is_named(data: Path | None, database: str | None) -> bool:
    """Whether a flag or the environment says where the collector's data are."""
    return bool(data or database or os.environ.get("FLDP_SERVE_DATA") or os.environ.get("FLDP_DATABASE"))


def chosen(data: Path | None, database: str | None) -> "tuple[Path, Database | None]":
    """Return the folder, and the database if there is one; flags override the environment."""
    if data is not None and database is not None:
        raise ParameterError("fldp: give --data or --database, not both")
    names = () if data is not None else ("FLDP_SERVE_DATA", "FLDP_DATABASE")
    settings = Settings.load(
        {"data": data, "database": database}, {name: os.environ[name] for name in names if name in os.environ}
    )
    return settings.data, settings.database


@app.command()
def fsck(data: Data = None, database: Url = None, accept: Accept = False) -> None:
    """Count everything in a collector's database again, and compare; exit code 1 on any difference."""
    from fldp.collector.storage.fsck import fsck as run

    store = open_store(data, database)
    try:
        if accept:
            store.accept()
        good, bad = run(store)
    finally:
        store.close()
    raise typer.Exit(show_findings(good, bad))


def show_findings(good: list[str], bad: list[str]) -> int:
    """Print the findings of a check; return the exit code."""
    for line in good:
        typer.echo(f"good  {line}")
    for line in bad:
        typer.echo(f"BAD   {line}")
    typer.echo("nothing is wrong" if not bad else f"{len(bad)} differences")
    return 1 if bad else 0


@app.command()
def backup(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; it must not exist yet.")],
    data: Data = None,
    database: Url = None,
) -> None:
    """Copy a consistent snapshot of a collector's data into one file. The collector may run meanwhile."""
    from fldp.collector.storage import backup as archive

    store = open_store(data, database)
    try:
        rows = archive.backup(store, output)
    finally:
        store.close()
    note(f"{output}: {rows} rows")


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A file that fldp backup wrote.")],
    data: Data = None,
    database: Url = None,
) -> None:
    """Restore a collector from a backup, into a folder or database that has none, and count everything again.

    Reports withdrawn after the backup are counted again, until they are withdrawn again.
    """
    from fldp.collector.storage.fsck import fsck

    store = _restored(source, *chosen(data, database))
    note(f"fldp: the backup was written {_age(source)} ago; what was withdrawn since is counted again")
    try:
        good, bad = fsck(store)
    finally:
        store.close()
    raise typer.Exit(show_findings(good, bad))


def _age(path: Path) -> str:
    hours = int(max(0.0, time.time() - path.stat().st_mtime) // 3600)
    return counted(hours // 24, "day") if hours >= 24 else counted(hours, "hour") if hours else "less than an hour"


def _restored(source: Path, data: Path, database: Any) -> Any:
    from fldp.collector.storage import backup as archive
    from fldp.collector.storage import open_store as stores
    from fldp.collector.storage.sqlite.file import FILE

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
