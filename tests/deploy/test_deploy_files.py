"""The files of deploy/, read: what they say fits the collector."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import yaml

from fldp.collector.config.settings import Settings, described
from fldp.collector.service.metrics import FAMILIES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SECRET = re.compile(
    r"(fldp_(admin|read|send|ticket)_\w+|BEGIN [A-Z ]*PRIVATE KEY|password\s*[=:]\s*['\"]?\w)", re.IGNORECASE
)
METRIC = re.compile(r"\b((?:fldp|process)_[a-z_]+)\b")


def text(name):
    return (DEPLOY / name).read_text()


def instructions(file="Containerfile"):
    """The instructions of a container file, continued lines joined."""
    joined = text(file).replace("\\\n", " ")
    return [line.split(None, 1) for line in joined.splitlines() if line and not line.startswith("#")]


def last(name):
    return [rest for word, rest in instructions() if word == name][-1]


def known(metric):
    plain = [metric.removesuffix(ending) for ending in ("", "_bucket", "_sum", "_count")]
    return any(name in FAMILIES for name in plain)


# ------------------------------------------------------------------------------------------------------- containers


def test_no_file_holds_a_secret():
    for file in DEPLOY.iterdir():
        assert not SECRET.search(file.read_text().replace("${POSTGRES_PASSWORD", "")), file.name


def test_the_image_runs_as_nobody_in_particular_and_says_how_it_is():
    user, _, group = last("USER").partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert "/readyz" in last("HEALTHCHECK")
    assert json.loads(last("ENTRYPOINT")) == ["fldp"]
    assert json.loads(last("CMD")) == ["serve"]
    for image in (rest.split()[0] for word, rest in instructions() if word == "FROM"):
        assert ":" in image
        assert not image.endswith(":latest")


def test_the_files_say_how_podman_keeps_the_health_check():
    for name in ("Containerfile", "Containerfile.release"):
        assert "podman build --format docker" in text(name).partition("FROM")[0]
    assert "export BUILDAH_FORMAT=docker" in text("compose.yaml").partition("services:")[0]


def test_the_user_of_the_image_is_made_without_warnings():
    """An id above 999 is no system's, and useradd would say so."""
    user = next(rest for word, rest in instructions() if word == "RUN" and "useradd" in rest)
    assert "--system" not in user


def test_the_image_copies_what_there_is_and_nothing_more_than_it_needs():
    copied = [rest.split() for word, rest in instructions() if word == "COPY" and "--from" not in rest]
    for *sources, _ in copied:
        assert all((ROOT / source).exists() for source in sources)
    assert {source for *sources, _ in copied for source in sources} == {
        "pyproject.toml", "constraints.txt", "README.md", "CHANGELOG.md", "LICENSE", "src",
        "tools/index_readme.py",
    }  # fmt: skip
    (extras,) = re.findall(r"'\.\[(.*?)\]'", text("Containerfile"))
    offered = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(extras.split(",")) <= set(offered)


def test_the_image_of_a_release_differs_in_where_the_package_comes_from_alone():
    """It has the wheel that was released, and checks it; what runs is the same."""
    ours, released = instructions(), instructions("Containerfile.release")
    second = [place for place, (word, _) in enumerate(ours) if word == "FROM"][1]
    assert released[-len(ours[second:]) :] == ours[second:]
    build = dict(released[: -len(ours[second:])])
    assert build["FROM"] == ours[0][1]
    assert build["COPY"].split() == ["constraints.txt", "dist/SHA256SUMS", "dist/fldp-*.whl", "./"]
    assert "sha256sum --check --strict" in build["RUN"].partition("pip install")[0]
    assert re.findall(r"\[([a-z,]+)\]\"", build["RUN"]) == re.findall(r"'\.\[(.*?)\]'", text("Containerfile"))


def test_the_checksums_of_a_release_are_checked_as_the_image_does(tmp_path):
    """The first line of the build, run on a folder as make release leaves it, and on one with another wheel."""
    wheel = tmp_path / "fldp-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    (tmp_path / "SHA256SUMS").write_text(
        f"{hashlib.sha256(b'a wheel').hexdigest()}  {wheel.name}\n{'0' * 64}  other.tgz\n"
    )
    check = ["sh", "-c", dict(instructions("Containerfile.release")[:4])["RUN"].partition("&&")[0]]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    wheel.write_bytes(b"another wheel")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode != 0


def test_its_environment_are_settings(monkeypatch):
    variables = dict(re.findall(r"(FLDP_\w+)=(\S+)", last("ENV")))
    settings = Settings.load({}, variables)
    assert (settings.host, settings.port, settings.data) == ("0.0.0.0", 8080, Path("/data"))
    assert f"{settings.data}" == last("VOLUME")
    assert f"{settings.port}" == last("EXPOSE")


def test_the_services_have_no_more_than_they_need():
    services = yaml.safe_load(text("compose.yaml"))["services"]
    assert services.keys() == {"collector", "postgres"}
    for service in services.values():
        assert service["read_only"] is True
        assert "no-new-privileges:true" in service["security_opt"]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        secrets = [value for name, value in service["environment"].items() if "PASSWORD" in name]
        assert secrets == ["${POSTGRES_PASSWORD:?write it into .env, see the top of compose.yaml}"]
    assert services["collector"]["cap_drop"] == ["ALL"]
    assert services["collector"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    healthy = services["postgres"]["healthcheck"]["test"]
    assert healthy[1:4] == ["pg_isready", "--host", "127.0.0.1"]  # the socket answers while the image sets itself up
    names = {f"FLDP_{name.upper()}" for name, _, _ in described()}
    own = {name for name in services["collector"]["environment"] if name.startswith("FLDP_")}
    assert own <= names
    assert int(services["collector"]["stop_grace_period"].removesuffix("s")) > Settings().stop_seconds


# ---------------------------------------------------------------------------------------------------------- systemd


def test_the_unit_starts_the_collector_with_settings_that_it_knows():
    (command,) = re.findall(r"^ExecStart=/opt/fldp/bin/fldp serve (.*)$", text("fldp.service"), re.MULTILINE)
    words = command.split()
    assert {word for word in words if word.startswith("--")} == {"--data", "--admin-token-file"}
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", text("fldp.service"), re.MULTILINE)
    assert int(seconds) > Settings().stop_seconds
    for line in ("DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet="):
        assert f"\n{line}\n" in text("fldp.service")


# ------------------------------------------------------------------------------------------------------- monitoring


def expressions():
    board = json.loads(text("grafana.json"))
    yield from (target["expr"] for panel in board["panels"] for target in panel["targets"])
    yield from (variable["query"] for variable in board["templating"]["list"] if variable["type"] == "query")
    for group in yaml.safe_load(text("alerts.yaml"))["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def test_boards_and_alerts_ask_for_metrics_that_there_are():
    named = {name for expression in expressions() for name in METRIC.findall(expression)}
    assert len(named) > 15
    assert [name for name in named if not known(name)] == []
    assert not known("fldp_nothing_total")


def test_every_alert_says_what_is_wrong_and_the_document_what_to_do():
    (group,) = yaml.safe_load(text("alerts.yaml"))["groups"]
    document = (ROOT / "docs" / "operations.md").read_text()
    for rule in group["rules"]:
        assert rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert f"`{rule['alert']}`" in document


def test_the_board_has_panels_that_do_not_overlap():
    board = json.loads(text("grafana.json"))
    cells = [
        (place["x"] + dx, place["y"] + dy)
        for place in (panel["gridPos"] for panel in board["panels"])
        for dx in range(place["w"])
        for dy in range(place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert max(x for x, _ in cells) < 24


def test_prometheus_scrapes_where_the_collector_listens():
    (job,) = yaml.safe_load(text("prometheus.yml"))["scrape_configs"]
    assert job["job_name"] == "fldp"
    assert job["static_configs"] == [{"targets": [f"{Settings().host}:{Settings().port}"]}]
    assert all('job="fldp"' in expression for expression in expressions() if "up{" in expression)


# ------------------------------------------------------------------------------------------------------------- Caddy


def test_caddy_hides_the_metrics_and_logs_no_addresses():
    sample = text("Caddyfile")
    bare = re.sub(r"#.*", "", sample)
    assert "respond @metrics 404" in bare
    assert not re.search(r"^\s*log\b", bare, re.MULTILINE)
    assert bare.count("{") == bare.count("}")
    assert f"127.0.0.1:{Settings().port}" in bare
    assert f"{Settings().max_body >> 20}MiB" in bare
