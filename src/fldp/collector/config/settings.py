"""Settings: flags, then the environment, then a TOML file, then what stands here."""

import os
import ssl
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fldp.collector.config.database_url import Database
from fldp.collector.config.proxies import Network, networks
from fldp.errors import ParameterError
from fldp.support.validation import show

PREFIX = "FLDP_"
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class SettingsError(ParameterError):
    """Settings with mistakes, all of which are in ``mistakes``."""

    def __init__(self, mistakes: list[str]) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(mistakes))


Reader = Callable[[Any], Any]


def _whole(low: int, high: int) -> tuple[Reader, str]:
    def read(value: Any) -> int:
        number = int(value.replace("_", "")) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            raise ValueError
        return number

    return read, f"an integer from {low} to {high}"


def _seconds(low: float, high: float) -> tuple[Reader, str]:
    def read(value: Any) -> float:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
        if not low <= number <= high:
            raise ValueError
        return number

    return read, f"a number from {low:g} to {high:g}"


def _flag() -> tuple[Reader, str]:
    def read(value: Any) -> bool:
        word = str(value).lower()
        if word not in _TRUE + _FALSE:
            raise ValueError
        return word in _TRUE

    return read, "true or false"


def _text() -> tuple[Reader, str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value or not value.isprintable():
            raise ValueError
        return value

    return read, "a text"


def _folder() -> tuple[Reader, str]:
    def read(value: Any) -> Path:
        if not isinstance(value, str | Path) or not str(value):
            raise ValueError
        return Path(value)

    return read, "a folder"


def _database() -> tuple[Reader, str]:
    def read(value: Any) -> Database:
        if not isinstance(value, str):
            raise ValueError
        return Database(value)

    return read, "an address such as postgresql://user@host/name, its password percent-encoded"


def _file() -> tuple[Reader, str]:
    def read(value: Any) -> Path:
        if not isinstance(value, str | Path) or not os.access(value, os.R_OK) or not Path(value).is_file():
            raise ValueError
        return Path(value)

    return read, "a file that can be read"


def _networks() -> tuple[Reader, str]:
    def read(value: Any) -> tuple[Network, ...]:
        return networks(",".join(value) if isinstance(value, list) else value)

    return read, "addresses or networks, such as 127.0.0.1, 10.0.0.0/8"


def _setting(default: Any, kind: tuple[Reader, str], about: str, variable: str = "") -> Any:
    """Describe a setting. Its variable in the environment is FLDP_ and its name, unless another one is given."""
    return field(default=default, metadata={"read": kind[0], "rule": kind[1], "about": about, "variable": variable})


MiB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """What a collector can be told.

    >>> Settings.load({"port": "9000"}, {"FLDP_HOST": "0.0.0.0", "FLDP_PORT": "1"}).port
    9000
    """

    # FLDP_DATA is taken: it names the folder of the datasets, where no collector should put its database.
    data: Path = _setting(Path("."), _folder(), "the folder of the database", "FLDP_SERVE_DATA")  # noqa: RUF009
    database: Database | None = _setting(None, _database(), "a PostgreSQL database, instead")  # noqa: RUF009
    lake: Path | None = _setting(None, _folder(), "a folder for the reports of days that are over, as Parquet")  # noqa: RUF009
    host: str = _setting("127.0.0.1", _text(), "the address to listen on")
    port: int = _setting(8080, _whole(1, 65535), "the port to listen on")
    max_body: int = _setting(64 * MiB, _whole(1024, 1 << 30), "bytes of the body of one request")
    max_reports: int = _setting(2_000_000, _whole(1, 10**8), "reports in one batch")
    max_buffered: int = _setting(256 * MiB, _whole(1024, 1 << 36), "bytes of all bodies that are being read or checked")
    max_in_flight: int = _setting(512, _whole(1, 100_000), "requests at the same time")
    max_answers: int = _setting(64, _whole(1, 100_000), "estimates and the like that are computed or wait for a thread")
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
    tls_certificate: Path | None = _setting(None, _file(), "a PEM file: the certificate and its chain")  # noqa: RUF009
    tls_key: Path | None = _setting(None, _file(), "a PEM file: the key of the certificate")  # noqa: RUF009
    trusted_proxies: tuple[Network, ...] = _setting(
        (), _networks(), "proxies whose X-Forwarded-For and -Proto are believed; /metrics then needs a token"
    )
    log: bool = _setting(True, _flag(), "log requests, as JSON lines on standard error")
    log_senders: bool = _setting(False, _flag(), "log addresses and user agents too: this identifies people")

    @property
    def scratch(self) -> Path | None:
        """The folder for files that are gone when they are closed; None if there is none that can be written.

        With PostgreSQL it is the system's own: the folder that the collector was started in is not its business.
        """
        return self.data if self.database is None else next(filter(writable, _temporary()), None)

    @classmethod
    def load(cls, flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None) -> "Settings":
        """Read settings from everywhere; report all mistakes at once."""
        file = file or (Path(environment["FLDP_CONFIG"]) if environment.get("FLDP_CONFIG") else None)
        mistakes: list[str] = []
        written = _from_file(file, mistakes) if file else {}
        chosen: dict[str, Any] = {}
        for setting in fields(cls):
            variable = setting.metadata["variable"] or PREFIX + setting.name.upper()
            places = (
                (f"--{setting.name.replace('_', '-')}", flags.get(setting.name)),
                (variable, environment.get(variable)),
                (f"{file}", written.get(setting.name)),
            )
            for place, value in places:
                if value is not None:
                    chosen[setting.name] = _read(setting, place, value, mistakes)
                    break
        mistakes += [] if mistakes else _tls_mistakes(chosen.get("tls_certificate"), chosen.get("tls_key"))
        if mistakes:
            raise SettingsError(mistakes)
        made = cls(**chosen)
        if made.max_buffered < 4 * made.max_body:  # a body, and its reports as arrays, must fit in at once
            rule = f"at least 4 times max_body, which is {made.max_body}"
            raise SettingsError([f"serve: max_buffered must be {rule}, got {made.max_buffered}"])
        return made


def _read(setting: Any, place: str, value: Any, mistakes: list[str]) -> Any:
    try:
        return setting.metadata["read"](value)
    except (ValueError, TypeError, AttributeError, OverflowError):
        got = "another" if setting.name == "database" else show(value)[:60]  # which may hold a password
        mistakes.append(f"serve: {setting.name} must be {setting.metadata['rule']}, got {got} from {place}")
        return None


def _tls_mistakes(certificate: Path | None, key: Path | None) -> list[str]:
    """Return what is wrong with the two files together."""
    if certificate is None and key is None:
        return []
    if certificate is None or key is None:
        return ["serve: tls_certificate and tls_key must be given together"]
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: b"")
    except (OSError, ValueError):
        return [f"serve: {certificate} and {key} cannot be used as a certificate and its key, without a password"]
    return []


def _from_file(file: Path, mistakes: list[str]) -> dict[str, Any]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        mistakes.append(f"{file}: cannot be read: {error.strerror}")
        return {}
    except ValueError as error:
        mistakes.append(f"{file}: is not TOML: {error}")
        return {}
    unknown = found.keys() - {setting.name for setting in fields(Settings)}
    mistakes.extend(f"{file}: {name} is not a setting" for name in sorted(unknown))
    return found


def described() -> list[tuple[str, str, str]]:
    """Return the name, default and meaning of every setting.

    >>> described()[3]
    ('host', '127.0.0.1', 'the address to listen on')
    """
    return [(setting.name, _shown(setting.default), setting.metadata["about"]) for setting in fields(Settings)]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None or value == () else f"{value}"


def _temporary() -> list[Path]:
    """Return the system's folders for temporary files. Unlike those of ``tempfile``, the working folder is not one."""
    named = [os.environ.get(variable, "") for variable in ("TMPDIR", "TEMP", "TMP")]
    return [Path(name) for name in (*named, "/tmp", "/var/tmp", "/usr/tmp") if name.startswith("/")]  # noqa: S108


def writable(folder: Path) -> bool:
    """Tell whether files can be made in a folder."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
