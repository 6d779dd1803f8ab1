"""A metrics.toml: what it declares, what lint says of it, and the surveys that follow from it."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp import ParameterError, plan
from fldp.survey import Survey
from fldp.telemetry.aggregates import add, merge, outcome
from fldp.telemetry.metrics import metric_of, metrics_of, read_metrics
from fldp.telemetry.publishing import exported, survey_of
from fldp.telemetry.rules import lint
from fldp.telemetry.specification import specification, version_of
from support.telemetry import ABOUT, FIELDS, declared

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 16)
GOOD = """format = "fldp-metrics-1"
app = "paint"
collector = "https://collector.example"
relay = "https://relay.example"
epsilon = 1.0

[metric.theme]
kind = "choice"
values = ["light", "dark", "system"]
why = "to know"
owner = "a@b.example"
expires = 2027-06-30
"""
_NAMES_OF_KEYS = (*FIELDS, *FIELDS["metric"]["theme"], "relay", "period", "origins", "versions")
_NAMES = st.sampled_from([*_NAMES_OF_KEYS, "edges", "weight", "take"]) | st.text(max_size=3)


def linted(text, **options):
    done = lint(text, "metrics.toml", TODAY, **options)
    return [str(each) for each in done.errors], [str(each) for each in done.warnings]


def test_a_good_file_has_neither_mistakes_nor_warnings():
    assert linted(GOOD) == ([], [])
    assert lint(GOOD, "metrics.toml", TODAY).metrics.metrics["theme"].labels == ("light", "dark", "system", "unset")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('format = "fldp-metrics-1"', 'format = "2"', "line 1: format must be one of 'fldp-metrics-1'"),
        ('app = "paint"', 'app = "Paint"', "line 2: app must be 1 to 64"),
        ('app = "paint"', "", "app is missing"),
        ("https://collector.example", "http://collector.example", "line 3: collector must be an address such as https"),
        ("https://relay.example", "relay.example", "line 4: relay must be an address"),
        ("epsilon = 1.0", "epsilon = 2.5", "line 5: epsilon must be a number from 0.01 to 2"),
        ("epsilon = 1.0", "epsilon = 1.5", "line 7: metric.theme costs epsilon 3 when it is first reported"),
        ("epsilon = 1.0", 'epsilon = 0.5\nperiod = "week"', "line 5: 5 reports of epsilon 0.5 do not fit"),
        ("epsilon = 1.0", 'epsilon = 1.0\nperiod = "day"', "line 6: period must be one of 'month', 'week'"),
        ("epsilon = 1.0", 'epsilon = 1.0\ndefault = "yes"', "line 6: default must be one of 'on', 'local', 'off'"),
        ("epsilon = 1.0", "epsilon = 1.0\ncolour = 1", "line 6: 'colour' is not a key of metrics"),
        ('kind = "choice"', 'kind = "text"', "line 8: metric.theme.kind must be one of"),
        ('kind = "choice"', "", "line 7: metric.theme.kind is missing"),
        ('kind = "choice"', 'kind = "choice"\ntake = "max"', "line 9: metric.theme.take must be one of 'last', 'most'"),
        ('"choice"', '"choice"\nweight = 0', "line 9: metric.theme.weight must be an integer from 1 to 100"),
        ('"choice"', '"choice"\nedges = [1]', "line 9: metric.theme.edges must be left out for the kind choice"),
        ('kind = "choice"', 'kind = "choice"\ncolour = 1', "line 9: 'colour' is not a key of a metric"),
        ('values = ["light", "dark", "system"]', "", "line 7: metric.theme.values is missing"),
        ('["light", "dark", "system"]', "[]", "line 9: metric.theme.values must be a list of 1 to 200 texts"),
        ('["light", "dark", "system"]', json.dumps([f"v{k}" for k in range(201)]), "a list of 1 to 200 texts"),
        ('"system"', '"unset"', "all different"),
        ('"system"', '"d\\u0430rk"', "line 9"),
        ('why = "to know"', "", "metric.theme.why is missing"),
        ('owner = "a@b.example"', 'owner = ""', "line 11: metric.theme.owner must be a text in one line"),
        ("2027-06-30", "2026-11-15", "line 12: metric.theme has expired on 2026-11-15"),
        ("2027-06-30", '"soon"', "line 12: metric.theme.expires must be a day such as 2027-06-30"),
        ("2027-06-30", '"20270630"', "line 12: metric.theme.expires must be a day such as 2027-06-30"),
        ("[metric.theme]", "[metric.Theme]", "metric 'Theme' must be such that paint-Theme is 1 to 64"),
        ('"choice"\nvalues = ["light", "dark", "system"]', '"number"\nedges = [1, 1]', "metric.theme.edges must"),
        ('"choice"\nvalues = ["light", "dark", "system"]', '"number"', "metric.theme.edges is missing"),
        ("epsilon = 1.0", "epsilon = 1.0.0", "line 5: is not TOML"),
    ],
)  # fmt: skip
def test_every_mistake_has_its_line(old, new, said):
    assert old in GOOD
    errors, _ = linted(GOOD.replace(old, new, 1))
    assert any(said in error for error in errors), errors


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "metrics must be a table of keys, got list"),
        ('{"metric": {"theme": 1}}', "metric.theme must be a table of keys"),
        ('{"metric": 1}', "metric must be tables such as [metric.theme]"),
        ('{"metric": {"theme": {}}}', "metric.theme.expires is missing"),
        ('{"versions": ["theme"]}', "versions must be a table of versions, each 64 hexadecimal digits"),
        ('{"versions": {"theme": "1"}}', "versions must be a table of versions, each 64 hexadecimal digits"),
    ],
)
def test_what_has_no_tables_is_told_so(text, said):
    assert any(said in str(error) for error in lint(text, "metrics.json", TODAY).errors)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(_JSON, st.sampled_from(list(_NAMES_OF_KEYS)))
def test_whatever_a_file_says_its_mistakes_are_listed(value, key):
    """A key of a good file with any value has mistakes, or the file is good; it never raises."""
    fields = json.loads(json.dumps(FIELDS))
    place = fields["metric"]["theme"] if key in FIELDS["metric"]["theme"] else fields
    place[key] = value
    done = lint(json.dumps(fields), "metrics.json", TODAY)
    assert done.errors or done.metrics is not None


def test_a_year_must_fit_too():
    number = GOOD.replace('"choice"\nvalues = ["light", "dark", "system"]', '"number"\nedges = [1, 2, 3]')
    weekly = number.replace("epsilon = 1.0", 'period = "week"\nepsilon = 0.4')
    errors, _ = linted(weekly)
    assert errors == [
        "line 6: 53 reports of epsilon 0.4 do not fit the default limit of a year, 12: set epsilon to 0.226 or less"
    ]
    assert linted(weekly.replace("0.4", "0.226"))[0] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('relay = "https://relay.example"\n', "", "line 3: no relay is declared"),
        ("epsilon = 1.0", 'epsilon = 1.0\ndefault = "on"', 'line 6: default is "on"'),
        ("2027-06-30", "2028-01-01", "line 12: metric.theme expires more than a year from now"),
        ('"light"', '"a@b.example"', "line 9: metric.theme has values that look like free text"),
        ('"light", ', "", "line 7: metric.theme has fewer than 3 values"),
    ],
)
def test_warnings(old, new, said):
    errors, warnings = linted(GOOD.replace(old, new, 1))
    assert errors == []
    assert len(warnings) == 1
    assert said in warnings[0]


def test_an_epsilon_above_1_is_a_warning_beside_the_mistake_that_it_is_for_twelve_months():
    number = GOOD.replace('"choice"\nvalues = ["light", "dark", "system"]', '"number"\nedges = [1, 2, 3]')
    errors, warnings = linted(number.replace("epsilon = 1.0", "epsilon = 1.5"))
    assert errors == [
        "line 5: 12 reports of epsilon 1.5 do not fit the default limit of a year, 12: set epsilon to 1 or less"
    ]
    assert warnings == ["line 5: epsilon is above 1: one report gives away a lot"]
    assert linted(number) == ([], [])


def test_first_reports_of_many_attributes_are_a_warning():
    table = GOOD[GOOD.index("[metric.theme]") :]
    weekly = GOOD.replace("epsilon = 1.0", 'period = "week"\nepsilon = 0.4') + table.replace("theme", "other")
    many = weekly + table.replace("theme", "third")
    assert linted(weekly)[1] == []
    assert "some reports do not fit the default limit of 2" in linted(many)[1][0]


def test_values_must_not_change_under_an_old_name():
    before = lint(GOOD, "metrics.toml", TODAY).metrics
    errors, _ = linted(GOOD.replace('"light", ', ""), before=before)
    assert errors == ["line 7: metric.theme has other values than before under its old name: give it a new name"]
    assert linted(GOOD.replace("to know", "to know it better"), before=before) == ([], [])
    _, warnings = linted(GOOD.replace("epsilon = 1.0", "epsilon = 0.5"), before=before)
    assert "all metrics become new surveys" in warnings[0]


@pytest.mark.parametrize("metrics", [declared(), declared(period="week", epsilon=0.2, relay="https://r.example")])
def test_a_client_computes_the_version_that_a_collector_does(metrics):
    """Without the survey's own code, which needs NumPy."""
    for metric in metrics.metrics.values():
        survey = Survey.from_dict(specification(metrics, metric))
        assert survey.canonical == specification(metrics, metric)
        assert survey.version == version_of(metrics, metric) == survey_of(metrics, metric).version
        assert survey.labels == metric.labels


def test_the_version_depends_on_what_a_report_says_and_on_nothing_else():
    def version(**table):
        metrics = declared(metric={"theme": {"kind": "choice", "values": ["a", "b", "c"], **ABOUT, **table}})
        return version_of(metrics, metrics.metrics["theme"])

    assert version(why="another", owner="x", expires="2030-01-01", weight=7, take="most") == version()
    assert version(values=["a", "b", "d"]) != version()


@pytest.mark.parametrize(("relay", "rule"), [("", None), ("https://relay.example", True)])
def test_where_a_relay_is_declared_the_collector_takes_nothing_directly(relay, rule):
    metrics = declared(relay=relay)
    for metric in metrics.metrics.values():
        assert specification(metrics, metric)["collect"].get("oblivious") is rule


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("bins", [3, 9, 40])
def test_the_rule_of_the_mechanism_is_about_as_good_as_the_planner(epsilon, bins):
    """The rule never changes, so it is a simple one: an error within 5 percent of the least."""
    metric = metric_of("n", {"kind": "number", "edges": list(range(1, bins)), **ABOUT})
    name = specification(declared(epsilon=epsilon), metric)["oracle"]["name"]
    planned = plan(domain_size=len(metric.labels), users=10_000, epsilon=epsilon)
    [error] = [row.error_mean for row in planned.rows if row.name == name]
    assert error <= 1.05 * planned.recommended.error_mean


def test_an_export_is_read_as_the_file_is(tmp_path):
    metrics = declared()
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(exported(metrics, "2026-11-16")))
    again = read_metrics(str(path))
    assert again._replace(versions={}, source=metrics.source) == metrics
    assert again.versions == {name: version_of(metrics, metric) for name, metric in metrics.metrics.items()}
    assert lint(path.read_text(), "metrics.json", TODAY).errors == [
        error for error in lint(path.read_text(), "metrics.json", TODAY).errors if "collector" in str(error)
    ]


def test_an_export_that_was_changed_by_hand_is_to_be_exported_again():
    metrics = declared()
    theme = metrics.metrics["theme"]._replace(values=("light", "dark"))
    stale = metrics._replace(versions={"theme": version_of(metrics, theme)})
    with pytest.raises(ParameterError, match=r"the version of paint-theme must be .*, got .*; export it again"):
        survey_of(stale, metrics.metrics["theme"])


def test_the_example_is_good():
    path = ROOT / "examples" / "wordy" / "metrics.toml"
    done = lint(path.read_text(), str(path), TODAY)
    assert (done.errors, done.warnings) == ([], [])


TAKES = [
    ("flag", "any", [False, True, False], "yes"),
    ("flag", "last", [True, False], "no"),
    ("choice", "last", ["a", "b", "a"], "a"),
    ("choice", "most", ["a", "b", "b", "c"], "b"),
    ("version", "last", ["1.2.3", "2.0.9"], "2.0"),
    ("version", "last", ["9.9"], "other"),
    ("number", "last", [5, 0.5], "below 1"),
    ("number", "max", [0, 12, 3], "10 or more"),
    ("number", "sum", [4, 4, 1], "1 to 10"),
    ("number", "median", [0, 0, 5, 50, 50], "1 to 10"),
    ("duration", "median", [99.9, 100, 100], "100 to 200 ms"),
    ("duration", "max", [1e9], "12,800 ms or more"),
]


@pytest.mark.parametrize(("kind", "take", "values", "expected"), TAKES)
def test_many_values_become_one_label_also_in_two_processes(kind, take, values, expected):
    fields = {
        "choice": {"values": ["a", "b", "c"]},
        "version": {"values": ["1", "2", "2.0"]},
        "number": {"edges": [1, 10]},
    }
    metric = metric_of("m", {"kind": kind, "take": take, **fields.get(kind, {})})
    assert outcome(metric, {}) == "unset"
    for cut in range(len(values) + 1):
        held, later = {}, {}
        for part, aggregate in ((values[:cut], held), (values[cut:], later)):
            for value in part:
                add(metric, aggregate, value, metric.label(value))
        merge(metric, held, later)
        assert outcome(metric, held) == expected
        assert len(held) <= len(metric.labels)


@pytest.mark.parametrize("value", [None, 1, "purple", b"dark", ["dark"], True])
def test_what_is_not_declared_has_no_label(value):
    assert metrics_of(FIELDS).metrics["theme"].label(value) is None
    assert metric_of("n", {"kind": "number", "edges": [1]}).label(value) in (
        None,
        "1 or more" if value == 1 and value is not True else None,
    )


def test_other_takes_what_is_not_declared():
    metric = metric_of("theme", {"kind": "choice", "values": ["light", "other"]})
    assert metric.label("purple") == metric.label(7) == "other"


def test_pages_that_send_directly_are_named_by_their_origins():
    """The collector lets them; without the key, surveys have the version that they had before there was one."""
    web = metrics_of({**FIELDS, "origins": ["https://paint.example"]})
    plain = metrics_of(FIELDS)
    survey = survey_of(web, web.metrics["theme"])
    assert survey.collect["origins"] == ["https://paint.example"]
    assert survey.version != survey_of(plain, plain.metrics["theme"]).version
    assert exported(web, "")["origins"] == ["https://paint.example"]
    assert metrics_of(exported(web, "")).origins == web.origins
    assert "origins" not in exported(plain, "")
    for wrong in ('["paint.example"]', '"https://paint.example"', '["https://paint.example/"]', "[1]"):
        [error], _ = linted(GOOD.replace("epsilon", f"origins = {wrong}\nepsilon"))
        assert "line 5: origins must be a list of origins" in error
