"""Values that differ in the protection that they need: in surveys, plans, cards and the shell."""

import json
from importlib import import_module

import pytest
from typer.testing import CliRunner

import fldp
from fldp.cli import app
from fldp.oracles.exposure import exposure
from fldp.presentation.card import as_text
from fldp.survey import SurveyError

LABELS = ["flu", "hiv", "cold", "cancer", "none"]
BASE = 'name = "health"\nquestion = "What do you have?"\nlabels = ["flu", "hiv", "cold", "cancer", "none"]\n'
DECLARED = {
    "urr": ('sensitive = ["hiv", "cancer"]', fldp.URR(2.0, 5, sensitive=[1, 3])),
    "urappor": ('sensitive = ["cancer", "hiv"]', fldp.URAPPOR(2.0, 5, sensitive=[1, 3])),
    "idue": ("budgets = {hiv = 0.5, cancer = 1}", fldp.IDUE(2.0, 5, budgets={1: 0.5, 3: 1.0})),
    "exponential": ('distance = "line"', fldp.Exponential(2.0, 5, distance="line")),
}


def survey(declared, name, **more):
    lines = [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    return "\n".join([BASE + declared, "[oracle]", f'name = "{name}"', "epsilon = 2.0", *lines])


def parsed(text):
    return fldp.Survey.parse(text, is_json=False)


@pytest.mark.parametrize("name", DECLARED)
def test_an_oracle_takes_what_its_survey_declares(name):
    declared, oracle = DECLARED[name]
    published = parsed(survey(declared, name))
    assert published.oracle == oracle
    assert fldp.Survey.from_dict(json.loads(json.dumps(published.canonical))).version == published.version
    assert not {"sensitive", "budgets", "distance"} & published.canonical.keys(), "the oracle has it"
    again = fldp.Survey.from_dict(published.canonical)
    assert again.differing == published.differing, "a plan for the published survey is the same"


@pytest.mark.parametrize(
    ("declared", "name", "message"),
    [
        ('sensitive = ["aids"]', "urr", "line 4: sensitive must be of labels of the survey, got 'aids'"),
        ("sensitive = []", "urr", "line 4: plan: sensitive must be a list of 1 to 256 different values"),
        ("sensitive = true", "oue", "line 4: plan: sensitive must be a list of 1 to 256 different values"),
        ("budgets = {hiv = -1}", "idue", "line 4: plan: a budget in budgets must be a positive, finite number, got -1"),
        ("budgets = {hiv = 3.0}", "idue", "a budget in budgets must be below epsilon, 2, got 3.0"),
        ('distance = "moon"', "oue", "line 4: plan: distance must be one of 'line', 'ring', got 'moon'"),
        ('distance = "line"\nsensitive = ["hiv"]', "oue", "must be one thing, not several at once"),
        ("", "urr", "oracle.sensitive is missing"),
        ('sensitive = ["flu", "hiv", "cold", "cancer", "none"]', "urr", "some of the 5 values, not all"),
    ],
)
def test_mistakes(declared, name, message):
    with pytest.raises(SurveyError) as caught:
        parsed(survey(declared, name))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("label", [["flu"], {}, None, 1.5, True, 10**5000], ids=lambda label: str(type(label)))
def test_what_is_no_label_at_all_is_refused_in_one_line(label):
    fields = {"name": "health", "question": "?", "labels": LABELS, "oracle": {"name": "oue", "epsilon": 1.0}}
    with pytest.raises(SurveyError, match="sensitive must be of labels of the survey, got"):
        fldp.Survey.from_dict(fields | {"sensitive": [label]})
    with pytest.raises(SurveyError, match="budgets must be left out where nothing is declared, got None"):
        fldp.Survey.from_dict(fields | {"budgets": None})


def test_labels_may_be_numbers():
    fields = {"name": "year", "question": "?", "labels": ["2024", "2025"], "oracle": {"name": "urr", "epsilon": 1.0}}
    assert fldp.Survey.from_dict(fields | {"sensitive": [2025]}).oracle.sensitive == (1,)


def test_strings_do_not_differ_since_nobody_can_list_them():
    fields = {"name": "words", "question": "?", "domain": "strings", "oracle": {"name": "cms", "epsilon": 1.0}}
    with pytest.raises(SurveyError, match="'sensitive' is not for strings"):
        fldp.Survey.from_dict(fields | {"sensitive": ["x"]})


def test_numbers_stand_for_values_where_there_are_no_labels():
    fields = {"name": "n", "question": "?", "domain_size": 9, "oracle": {"name": "urr", "epsilon": 1.0}}
    assert fldp.Survey.from_dict(fields | {"sensitive": [0, 8]}).oracle.sensitive == (0, 8)
    fields["oracle"] = {"name": "idue", "epsilon": 1.0}
    assert fldp.Survey.from_dict(fields | {"budgets": {"8": 0.5}}).oracle.budgets == ((8, 0.5),)
    with pytest.raises(SurveyError, match="sensitive must be of labels of the survey, got 9"):
        fldp.Survey.from_dict(fields | {"sensitive": [9]})


def test_the_longest_lists_fit_into_the_header_of_a_batch():
    budgets = {k: 0.12345678901234567 + k / 1e17 for k in range(100, 200)}
    for oracle in (
        fldp.URR(1.0, 10**6, sensitive=range(10**6 - 256, 10**6)),
        fldp.IDUE(1.2345678901234567, 300, budgets=budgets),
    ):
        assert fldp.wire.decode(fldp.wire.encode(oracle.privatize([0, 299]), "0" * 64)).oracle == oracle
    with pytest.raises(fldp.ParameterError, match="a list of 1 to 100 pairs"):
        fldp.IDUE(2.0, 300, budgets=dict.fromkeys(range(101), 1.0))


def test_plans_offer_them_where_they_are_declared_and_only_then():
    plain = {row.oracle.name for row in fldp.plan(domain_size=20, users=1000, epsilon=2.0).rows}
    assert not plain & DECLARED.keys()
    for declared, wanted in (
        ({"sensitive": [1, 3]}, {"urr", "urappor"}),
        ({"budgets": {1: 0.5}}, {"idue"}),
        ({"distance": "line"}, {"exponential"}),
    ):
        plan = fldp.plan(domain_size=20, users=1000, epsilon=2.0, **declared)
        assert {row.oracle.name for row in plan.rows} == plain | wanted
        assert wanted <= {row.oracle.name for row in plan.eligible}
        assert f"({', '.join(declared)})" in plan.reason
        assert ("It protects all values alike, by epsilon" in plan.reason) == (plan.recommended.epsilon < 2.0)


def test_all_that_a_plan_recommends_gives_the_declared_protection():
    """Plain oracles are offered with the largest epsilon at which they do."""
    for declared, notion in (
        ({"sensitive": [1, 3]}, fldp.ULDP(2.0, [1, 3])),
        ({"budgets": {1: 0.5, 2: 1.5}}, fldp.IDLDP(2.0, {1: 0.5, 2: 1.5})),
        ({"distance": "ring"}, fldp.CLDP(1.0, "ring", 5)),
    ):
        rows = fldp.plan(domain_size=5, users=1000, epsilon=2.0, **declared).eligible
        for oracle in {row.oracle for row in rows if row.oracle.name != "olh"}:
            assert fldp.verify(oracle).judge(notion).holds, oracle


def test_the_mean_error_is_that_of_all_values():
    for _, oracle in DECLARED.values():
        even = oracle.variance(1000, [200.0] * 5)
        assert oracle.estimator.mean_variance(1000) == pytest.approx(even.mean())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"sensitive": [20]}, "plan: sensitive must be of values below 20, got 20"),
        ({"budgets": {20: 0.5}}, "plan: budgets must be of values below 20, got 20"),
        ({"sensitive": [1], "distance": "line"}, "plan: sensitive and distance must be one thing"),
        ({"sensitive": [1], "eta": 0.5}, "plan: eta must be left out where values differ by sensitive, got 0.5"),
    ],
)
def test_bad_plans(asked, message):
    with pytest.raises(fldp.ParameterError, match=message):
        fldp.plan(**({"domain_size": 20, "users": 1000, "epsilon": 2.0} | asked))


def test_the_card_says_what_is_not_protected():
    said = as_text(fldp.card(DECLARED["urr"][1], users=1000, rng=1))
    assert "Only 2 of the 5 answers are sensitive. Any other answer is named for certain by 76.2 % of its" in flat(said)
    assert "sometimes only yours" in flat(said)
    assert "Promised: 2-ULDP with 2 sensitive values." in flat(said)
    said = as_text(fldp.card(DECLARED["idue"][1], users=1000, rng=1))
    assert "Answers are not protected alike: 2 of 5 by a budget of their own, from 0.5," in flat(said)
    said = as_text(fldp.card(DECLARED["exponential"][1], users=1000, rng=1))
    assert "neighbours by epsilon 0.5, the farthest by epsilon 2." in flat(said)
    assert "76.2 %" in exposure(DECLARED["urr"][1])
    assert exposure(DECLARED["idue"][1]).startswith("No report rules out any value for certain. Answers are not")


def flat(text):
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_the_shell(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(survey("sensitive = ['hiv']", "urr"))
    printed = json.loads(invoked("plan", "--survey", str(path), "--users", "1000", "--json"))
    assert {"urr", "urappor"} <= {row["oracle"]["name"] for row in printed["rows"]}
    assert printed["sensitive"] == [1]
    options = ("--oracle", "idue", "--epsilon", "2", "--domain", "5", "--budgets", "0:0.5, 3:1")
    assert "holds" in invoked("verify", *options, "--claim", "IDLDP(2, {0: 0.5, 3: 1})")
    for oracle, name, text in (("urr", "sensitive", "0,x"), ("idue", "budgets", "0:x"), ("idue", "budgets", "1")):
        with pytest.raises(fldp.ParameterError, match=f"fldp: --{name} must be values"):
            invoked("verify", "--oracle", oracle, "--epsilon", "1", "--domain", "5", f"--{name}", text)
    with pytest.raises(fldp.ParameterError, match="fldp: the oracle urr has no --budgets"):
        invoked("verify", "--oracle", "urr", "--epsilon", "1", "--domain", "5", "--budgets", "0:1")


def invoked(*arguments):
    """Run a command in this process."""
    for module in ("plan", "privacy"):
        import_module(f"fldp.cli.{module}")
    done = CliRunner().invoke(app, arguments)
    if done.exception:
        raise done.exception
    return done.stdout


def test_a_person_is_asked_before_values_are_revealed():
    """The default limits leave at least two values possible, which URR does not."""
    from fldp.participant_store import MemoryStore

    person = fldp.Participant(MemoryStore())
    with pytest.raises(fldp.BudgetError, match="a report must leave at least 2 values possible, got 1"):
        person.answer(parsed(survey(*DECLARED["urr"][:1], "urr")), "flu", origin="https://a.example")
    assert not person.answer(parsed(survey(DECLARED["idue"][0], "idue")), "hiv", origin="https://a.example").repeated
