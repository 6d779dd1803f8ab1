"""Settings: from flags, else the environment, else a TOML file, else the defaults here."""

import os
import ssl
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fldp.collector.config.database_url import Database
from fldp.collector.config.proxies import Network, networks
from fldp.errors import ParameterError
from fldp.support.validation import Constraint, MistakeList, fail, from_text, integer, line, number

PREFIX = "FLDP_"
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class SettingsError(ParameterError):
    """Settings with mistakes, all of which are in ``mistakes``."""

    def __init__(self, mistakes: list[str]) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(mistakes))


def _whole(low: int, high: int) -> Constraint:
    return from_text(int, integer(low, high))


def _seconds(low: float, high: float) -> Constraint:
    return from_text(float, number(low, high))


def _flag(owner: str, name: str, value: Any) -> bool:
    word = str(value).lower()
    if word not in _TRUE + _FALSE:
        raise fail(owner, name, "true or false", value)
    return word in _TRUE


def _folder(owner: str, name: str, value: Any) -> Path:
    if not isinstance(value, str | Path) or not str(value):
        raise fail(owner, name, "a folder", value)
    return Path(value)


def _lake(owner: str, name: str, value: Any) -> Path | str:
    if not isinstance(value, str) or "://" not in value:
        return _folder(owner, name, value)
    if "@" in value.partition("://")[2].partition("/")[0]:  # logs and errors name the address
        raise fail(owner, name, "an address without a user and a password", value, secret=True)
    return value


def _database(owner: str, name: str, value: Any) -> Database:
    try:
        return Database(str(value))
    except ValueError:
        rule = "an address such as postgresql://user@host/name, its password percent-encoded"
        raise fail(owner, name, rule, value, secret=True) from None  # it may hold a password


def _file(owner: str, name: str, value: Any) -> Path:
    try:
        if isinstance(value, str | Path) and os.access(value, os.R_OK) and Path(value).is_file():
            return Path(value)
    except ValueError:  # a name that no file can have
        pass
    raise fail(owner, name, "a file that can be read", value)


def _new_file(owner: str, name: str, value: Any) -> Path:
    if not isinstance(value, str | Path) or not Path(value).name or not os.path.isdir(Path(value).parent):
        raise fail(owner, name, "a file in a folder that exists", value)
    return Path(value)


def _networks(owner: str, name: str, value: Any) -> tuple[Network, ...]:
    try:
        return networks(",".join(value) if isinstance(value, list) else value)
    except (ValueError, TypeError, AttributeError):
        raise fail(owner, name, "addresses or networks, such as 127.0.0.1, 10.0.0.0/8", value) from None


def _setting(default: Any, check: Constraint, about: str, variable: str = "") -> Any:
    """Describe a setting. Its variable in the environment is FLDP_ and its name, unless another one is given."""
    return field(default=default, metadata={"check": check, "about": about, "variable": variable})


MiB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """The settings of a collector.

    >>> Settings.load({"port": "9000"}, {"FLDP_HOST": "0.0.0.0", "FLDP_PORT": "1"}).port
    9000
    """

    # FLDP_DATA is taken: it names the folder of the datasets, where no collector should put its database.
    data: Path = _setting(Path("."), _folder, "the folder of the database", "FLDP_SERVE_DATA")  # noqa: RUF009
    database: Database | None = _setting(None, _database, "a PostgreSQL database, instead")  # noqa: RUF009
    lake: Path | str | None = _setting(  # noqa: RUF009
        None,
        _lake,
        "a folder, or an address such as s3://bucket/lake, for the reports of days that are over, as Parquet",
    )
    host: str = _setting("127.0.0.1", line, "the address to listen on")
    port: int = _setting(8080, _whole(1, 65535), "the port to listen on")
    max_body: int = _setting(64 * MiB, _whole(1024, 1 << 30), "bytes of the body of one request")
    max_reports: int = _setting(2_000_000, _whole(1, 10**8), "reports in one batch")
    max_buffered: int = _setting(256 * MiB, _whole(1024, 1 << 36), "bytes of all bodies that are being read or checked")
    max_in_flight: int = _setting(512, _whole(1, 100_000), "requests at the same time")
    max_answers: int = _setting(
        64, _whole(1, 100_000), "estimates and similar requests that are running or waiting for a thread"
    )
    max_slow: int = _setting(256, _whole(1, 100_000), "clients that take more than a second to send or to read")
    max_waiting: int = _setting(512, _whole(1, 100_000), "requests that wait for a commit")
    max_connections: int = _setting(1024, _whole(1, 100_000), "connections; others wait until one is free")
    max_header: int = _setting(16 << 10, _whole(8192, MiB), "bytes of the header of a request")
    max_values: int = _setting(1 << 20, _whole(2, 1 << 25), "values of a survey, and numbers of its tally, times 4")
    header_seconds: float = _setting(10.0, _seconds(0.1, 3600), "to send a header, and between two requests")
    idle_seconds: float = _setting(10.0, _seconds(0.1, 3600), "between two pieces of a body")
    body_seconds: float = _setting(60.0, _seconds(0.1, 3600), "to send a body")
    stop_seconds: float = _setting(75.0, _seconds(0.1, 3600), "for requests to end when the collector stops")
    fold_seconds: float = _setting(2.0, _seconds(0.01, 3600), "between two rounds of folding")
    rate: float = _setting(0.0, _seconds(0, 1e9), "requests with reports per second and survey; 0 is no limit")
    threads: int = _setting(4, _whole(1, 256), "threads that check reports, and as many that estimate")
    tls_certificate: Path | None = _setting(None, _file, "a PEM file: the certificate and its chain")  # noqa: RUF009
    tls_key: Path | None = _setting(None, _file, "a PEM file: the key of the certificate")  # noqa: RUF009
    ohttp: bool = _setting(False, _flag, "answer requests that a relay carries (oblivious HTTP)")
    otel: bool = _setting(False, _flag, "send spans and metrics of the collector itself by OpenTelemetry")
    trusted_proxies: tuple[Network, ...] = _setting(
        (), _networks, "proxies whose X-Forwarded-For and -Proto are trusted; /metrics then needs a token"
    )
    admin_token_file: Path | None = _setting(  # noqa: RUF009
        None, _new_file, "where the first admin token is written, readable by its owner alone; nothing is overwritten"
    )
    log: bool = _setting(True, _flag, "log requests, as JSON lines on standard error")
    log_every: int = _setting(1, _whole(1, 10**9), "log one in this many successful requests, and all others")
    audit: bool = _setting(True, _flag, "log who administers what, even if requests are not logged")
    log_senders: bool = _setting(False, _flag, "log addresses and user agents too: this identifies people")

    @property
    def scratch(self) -> Path | None:
        """The folder for files that are gone when they are closed; None if there is none that can be written.

        With PostgreSQL it is the system's folder for temporary files, not the folder that the collector was started in.
        """
        return self.data if self.database is None else next(filter(writable, _temporary()), None)

    @classmethod
    def load(cls, flags: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None) -> "Settings":
        """Read settings from everywhere; report all mistakes at once, with the source of each value."""
        file = file or (Path(environment["FLDP_CONFIG"]) if environment.get("FLDP_CONFIG") else None)
        mistakes = MistakeList()
        table = _from_file(file, mistakes) if file else {}
        checked: dict[str, Any] = {}
        for setting in fields(cls):
            variable = setting.metadata["variable"] or PREFIX + setting.name.upper()
            sources = (
                (f"--{setting.name.replace('_', '-')}", flags.get(setting.name)),
                (variable, environment.get(variable)),
                (f"{file}", table.get(setting.name)),
            )
            for source, value in sources:
                if value is not None:
                    check = setting.metadata["check"]
                    checked[setting.name] = mistakes.check((setting.name,), check, value, source=source)
                    break
        settings = cls(**{name: value for name, value in checked.items() if value is not None})
        _check_buffer(settings, mistakes)
        _check_tls(settings, mistakes)
        if mistakes:
            raise SettingsError([f"serve: {message}" for message in mistakes.messages])
        return settings


def _check_buffer(settings: Settings, mistakes: MistakeList) -> None:
    """A body, and its reports as arrays, must fit into the buffer at once."""
    if settings.max_buffered < 4 * settings.max_body:
        rule = f"at least 4 times max_body, which is {settings.max_body}"
        mistakes.add(("max_buffered",), rule, settings.max_buffered)


def _check_tls(settings: Settings, mistakes: MistakeList) -> None:
    """Check the certificate and its key together, unless one of them is a mistake already."""
    certificate, key, path = settings.tls_certificate, settings.tls_key, ("tls_certificate",)
    wrong = {mistake.path for mistake in mistakes.listed} & {("tls_certificate",), ("tls_key",)}
    if wrong or (certificate is None and key is None):
        return
    if certificate is None or key is None:
        mistakes.note(path, "tls_certificate and tls_key must be given together")
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: b"")
    except (OSError, ValueError):
        mistakes.note(path, f"{certificate} and {key} are not a certificate and its key, which must have no password")


def _from_file(file: Path, mistakes: MistakeList) -> dict[str, Any]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        mistakes.note((), f"{file}: cannot be read: {error.strerror}")
        return {}
    except (ValueError, RecursionError) as error:
        mistakes.note((), f"{file}: is not TOML: {error}")
        return {}
    for name in sorted(table.keys() - {setting.name for setting in fields(Settings)}):
        mistakes.note((name,), f"{file}: {name} is not a setting")
    return table


def described() -> list[tuple[str, str, str]]:
    """Return the name, default and meaning of every setting.

    >>> described()[3]
    ('host', '127.0.0.1', 'the address to listen on')
    """
    return [(setting.name, _shown(setting.default), setting.metadata["about"]) for setting in fields(Settings)]


def _shown(value: Any) -> str:
    words = {"None": "none", "()": "none", "True": "true", "False": "false"}
    return words.get(f"{value}", f"{value}")


def _temporary() -> list[Path]:
    """Return the system's folders for temporary files; unlike in ``tempfile``, the working folder is not one."""
    named = [os.environ.get(variable, "") for variable in ("TMPDIR", "TEMP", "TMP")]
    return [Path(name) for name in (*named, "/tmp", "/var/tmp", "/usr/tmp") if name.startswith("/")]  # noqa: S108


def writable(folder: Path) -> bool:
    """Whether files can be made in a folder."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
