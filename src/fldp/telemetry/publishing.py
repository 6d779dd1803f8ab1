"""Publishing: metrics become surveys of a collector, and a file for clients in other languages."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from fldp.errors import ParameterError
from fldp.support.canonical_json import Json
from fldp.survey.survey import Survey
from fldp.telemetry.metrics import AppMetric, AppMetrics, fields_of
from fldp.telemetry.specification import specification, survey_name, version_of


class PublishedMetric(NamedTuple):
    """What became of a survey: ``created``, ``there already``, ``closed`` or ``closed before``, and what to do then."""

    name: str
    version: str
    what: str
    advice: str = ""


class HasSurvey(Protocol):
    """A survey as a collector shows it; ``fldp.client.Published`` is one."""

    @property
    def survey(self) -> Survey: ...


class SurveyHost(Protocol):
    """A collector, as far as publishing needs one; ``fldp.Client`` is."""

    def surveys(self) -> list[dict[str, Json]]: ...
    def survey(self, name: str, *, version: str | None = None) -> HasSurvey: ...
    def create(self, survey: Survey) -> Mapping[str, Json]: ...
    def close(self, name: str, *, version: str | None = None) -> Mapping[str, Json]: ...


def survey_of(metrics: AppMetrics, metric: AppMetric) -> Survey:
    """Return the survey of a metric, checked as a new one; its version is what clients compute without all of this."""
    survey = Survey.from_dict(specification(metrics, metric))
    survey.check_draft()
    if survey.version != version_of(metrics, metric):
        raise ParameterError(
            f"telemetry: the version of {survey.name} must be {survey.version}, "
            f"got {version_of(metrics, metric)}; export it again"
        )
    return survey


def publish(metrics: AppMetrics, collector: SurveyHost, day: str) -> list[PublishedMetric]:
    """Create the surveys of all metrics, and close those that have expired or are gone. Once more changes nothing."""
    wanted = {survey_name(metrics.app, metric.name): survey_of(metrics, metric) for metric in metrics.active(day)}
    there = [row for row in collector.surveys() if str(row["name"]).startswith(f"{metrics.app}-")]
    opened = [row for row in there if row["state"] != "closed"]
    for row in opened:
        _refuse_other_values(collector, row, wanted)
    done = [_created(collector, survey, there) for survey in wanted.values()]
    return done + [_closed(collector, row) for row in opened if _is_gone(metrics.app, collector, row, wanted)]


def _refuse_other_values(collector: SurveyHost, row: Mapping[str, Json], wanted: Mapping[str, Survey]) -> None:
    """Refuse to publish other values under an old name: clients would refuse the survey, since its labels changed."""
    name, version = str(row["name"]), str(row["version"])
    survey = wanted.get(name)
    if survey is not None and version != survey.version:
        before = collector.survey(name, version=version).survey
        if before.labels != survey.labels:
            raise ParameterError(
                f"telemetry: {name} is published with other values, and people who answered it would refuse these: "
                "give the metric a new name"
            )


def _created(collector: SurveyHost, survey: Survey, there: list[dict[str, Json]]) -> PublishedMetric:
    states = [row["state"] for row in there if row["version"] == survey.version]
    collector.create(survey)
    if "closed" in states:
        return PublishedMetric(survey.name, survey.version, "closed before", _reopening(survey))
    return PublishedMetric(survey.name, survey.version, "there already" if states else "created")


def _reopening(survey: Survey) -> str:
    """Say what a survey means that somebody closed although its metric is declared."""
    return (
        f"reports of it are refused, and lost; fldp survey reopen {survey.name} "
        f"--version {survey.version[:12]} opens it again, or take the metric out of the file"
    )


def _is_gone(app: str, collector: SurveyHost, row: Mapping[str, Json], wanted: Mapping[str, Survey]) -> bool:
    """Whether a survey is of this program and of no metric that is declared now; other programs' are left alone."""
    name, version = str(row["name"]), str(row["version"])
    if name in wanted:
        return bool(version != wanted[name].version)
    return bool(collector.survey(name, version=version).survey.question.startswith(f"{app}: "))


def _closed(collector: SurveyHost, row: Mapping[str, Json]) -> PublishedMetric:
    name, version = str(row["name"]), str(row["version"])
    collector.close(name, version=version)
    return PublishedMetric(name, version, "closed")


def exported(metrics: AppMetrics, day: str) -> dict[str, Json]:
    """Return metrics as JSON with all defaults and with the versions pinned, so that no client asks what to send."""
    kept = metrics._replace(metrics={metric.name: metric for metric in metrics.active(day)})
    return {
        **fields_of(kept),
        "versions": {metric.name: survey_of(metrics, metric).version for metric in kept.metrics.values()},
        "surveys": {metric.name: specification(metrics, metric) for metric in kept.metrics.values()},
    }
