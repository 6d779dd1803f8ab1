"""Surveys of several questions: [[questions]], [tables], the plan in the version, answers as mappings."""

import json

import numpy as np
import pyarrow.parquet
import pytest

import fldp
from fldp.participant_store import MemoryStore
from fldp.survey.survey import SurveyError
from support.commands import run_here

TEXT = """\
name = "desktop"
[[questions]]
name = "os"
question = "Which system do you use?"
labels = ["linux", "mac", "windows", "other"]
optional = true
importance = 2.0
[[questions]]
name = "plan"
question = "Do you pay?"
labels = ["no", "yes"]
[[questions]]
name = "level"
question = "How content are you, from 0 to 4?"
domain_size = 5
[tables]
cross = [["os", "plan"], ["plan", "level"]]
[oracle]
epsilon = 1.0
"""


def survey(text=TEXT):
    return fldp.Survey.parse(text, is_json=False, draft=True)


def test_the_plan_is_part_of_the_version():
    published = survey()
    assert published.canonical["oracle"] == {
        "name": "sampled",
        "epsilon": 1.0,
        "base": "ss",
        "views": [[0], [1], [2], [0, 1], [1, 2]],
        "weights": [926, 375, 559, 1118, 1118],
    }
    assert "importance" not in json.dumps(published.canonical)
    assert published.version == "2baa60b76480612fd040ee71c7a7ebcb7ee6c2fbe878ffe3112ca1e40d885480"
    again = fldp.Survey.from_dict(json.loads(json.dumps(published.canonical)))
    assert again.version == published.version
    assert again.oracle == published.oracle


def test_a_survey_that_asks_less_is_another_version():
    drawn = survey(TEXT.replace("[tables]", '[tables]\nask = "drawn"'))
    assert drawn.ask == "drawn"
    assert drawn.canonical["tables"] == {"ask": "drawn"}
    assert drawn.version != survey().version
    assert fldp.Survey.from_dict(drawn.canonical).ask == "drawn"


def test_answers_are_mappings():
    published = survey()
    records = published.encode([{"os": "mac", "plan": "yes", "level": 3}, {"plan": "no", "level": "0", "extra": 1}])
    assert published.oracle.record_code.decode(records).tolist() == [[1, 1, 3], [4, 0, 0]]
    assert published.label(int(records[1])) == "os: no answer, plan: no, level: 0"


BAD_ANSWERS = [
    (
        {"os": "amiga", "plan": "no", "level": 0},
        "unknown answer to 'os' at position 0 (not shown, to protect the answer)",
    ),
    ({"os": "mac", "level": 0}, "record: question 'plan' has no answer and is not optional"),
    ({"os": "mac", "plan": "no", "level": 5}, "unknown answer to 'level'"),
    ({"os": "mac", "plan": "no", "level": True}, "unknown answer to 'level'"),
    ("mac", "records must be mappings"),
]


@pytest.mark.parametrize(("answers", "message"), BAD_ANSWERS, ids=[message[:30] for _, message in BAD_ANSWERS])
def test_bad_answers(answers, message):
    with pytest.raises(fldp.DomainError) as error:
        survey().encode([answers])
    assert message in str(error.value)
    assert "amiga" not in str(error.value)


def people(n):
    rng = np.random.default_rng(1)
    systems = rng.choice(["linux", "mac", "windows", "other", ""], n, p=[0.2, 0.3, 0.3, 0.1, 0.1])
    pays = np.where(rng.random(n) < np.where(systems == "mac", 0.9, 0.2), "yes", "no")
    return [
        dict(zip(("os", "plan", "level"), row, strict=True))
        for row in zip(systems, pays, rng.integers(0, 5, n), strict=True)
    ]


def test_tables_by_name_hold_the_truth():
    published, rows = survey(), people(20_000)
    tables = published.estimate(published.privatize([{**row, "level": int(row["level"])} for row in rows], rng=2))
    assert tables.names == ("os", "plan", "level")
    truth = np.array([sum(row["os"] == label for row in rows) for label in ("linux", "mac", "windows", "other", "")])
    low, high = tables["os"].interval(0.9999).T
    assert ((low < truth) & (truth < high)).all()
    pays = sum(row["os"] == "mac" and row["plan"] == "yes" for row in rows) / sum(row["os"] == "mac" for row in rows)
    within = tables.cross("os", "plan").rows(0.9999)
    assert within.low[1, 1] < pays < within.high[1, 1]
    assert tables.cross("plan", "os").counts == pytest.approx(tables.cross("os", "plan").counts.T)
    assert tables.cross("os", "plan").independence().p_value < 1e-6
    assert tables.associations().significant == [("os", "plan")]
    assert "Shares with 100% intervals" in str(within)
    answered = tables["os"].answered(0.9999)
    shares = truth[:-1] / truth[:-1].sum()
    assert ((answered.low <= shares) & (shares <= answered.high)).all()
    with pytest.raises(fldp.ParameterError, match=r"'os' and 'level' are not asked together in any view; this survey"):
        tables.cross("os", "level")


MISTAKES = [
    ('labels = ["no", "yes"]', 'labels = ["no"]', "line 11: questions[1].labels must be a list of 2 to 1000000 labels"),
    ('name = "plan"', 'name = "os"', "questions[1].name must be different from the name of questions[0], got 'os'"),
    ('name = "plan"', 'name = "a b"', "questions[1].name must be"),
    ("domain_size = 5", "", "questions[2].the domain is missing"),
    ('["plan", "level"]', '["plan", "age"]', "tables.cross must be pairs of os, plan, level, got ['plan', 'age']"),
    ("epsilon = 1.0", "epsilon = -1.0", "epsilon must be a positive, finite number"),
    ("epsilon = 1.0", "", "oracle.epsilon is missing"),
    ("epsilon = 1.0", 'epsilon = 1.0\nname = "grr"', "oracle.name must be 'sampled', or left out"),
    ("epsilon = 1.0", "epsilon = 1.0\nweights = [1]", "oracle.weights need oracle.views"),
    ("epsilon = 1.0", "epsilon = 1.0\nviews = 1", "'os' and 'plan' are not together in any of oracle.views"),
    ("epsilon = 1.0", "epsilon = 1.0\nviews = [[0]]", "none tells the answers to question 1 apart"),
    ("importance = 2.0", "importance = 0", "questions[0].importance must be a positive, finite number, got 0"),
    ("importance = 2.0", "weight = 2.0", "'weight' is not a key of a question"),
    (
        'name = "desktop"',
        'name = "desktop"\nquestion = "x"',
        "'question' is not a key of a survey of several questions",
    ),
    ("[tables]", '[tables]\nask = "some"', "tables.ask must be one of 'all', 'drawn', got 'some'"),
    ('question = "Do you pay?"\n', "", "questions[1].question is missing"),
    ('"other"]', '""]', "questions[0].labels must be texts of 1 to"),
    ('"other"]', '"no answer"]', "questions[0].labels must be other than 'no answer', which optional = true adds"),
    ("domain_size = 5", "domain_size = 1_000_000_000", "questions[2].labels must be an integer from 2 to"),
    ("cross = [[", 'cross = "some"\nx = [[', "tables.cross must be 'all', 'none' or a list of pairs of questions"),
    ("[tables]", "[tables]\nimportance = [1]", "tables.importance must be a number for each of the 2 pairs"),
    ("[tables]", "[tables]\nimportance = [1, 0]", "tables.importance must be a positive, finite number, got 0"),
    ("[oracle]\nepsilon = 1.0", "", "the table [oracle] is missing, with an epsilon"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES, ids=[message[:40] for _, _, message in MISTAKES])
def test_mistakes_are_named(old, new, message):
    assert old in TEXT
    with pytest.raises(SurveyError) as error:
        survey(TEXT.replace(old, new, 1))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("questions", [], "questions must be a list of 1 to"),
        ("questions", ["os", "plan"], "questions[0] must be a table, got 'os'"),
        ("tables", 3, "tables must be a table, got 3"),
    ],
)
def test_parts_of_another_kind_are_named(key, value, message):
    with pytest.raises(SurveyError) as error:
        fldp.Survey.from_dict({**survey().canonical, key: value})
    assert message in str(error.value)


def test_an_important_pair_is_asked_of_more_people():
    plain, weighed = survey(), survey(TEXT.replace("[tables]", "[tables]\nimportance = [9, 1]"))
    assert plain.oracle.design.entries == weighed.oracle.design.entries
    (first, second), (more, less) = plain.oracle.design.weights[3:], weighed.oracle.design.weights[3:]
    assert first == second
    assert more > 2 * less


def test_a_participant_answers_once_for_all_questions():
    published, participant = survey(), fldp.Participant(MemoryStore())
    answers = {"os": "mac", "plan": "yes", "level": "3"}
    first = participant.answer(published, answers, origin="https://collector.example")
    again = participant.answer(published, {**answers, "os": "linux"}, origin="https://collector.example")
    assert (first.repeated, again.repeated, first.report == again.report) == (False, True, True)
    assert str(first.spent) == "epsilon 1, eta 1, 1 answer"
    changed = survey(TEXT.replace('"other"]', '"another"]'))
    with pytest.raises(fldp.BudgetError, match="labels have changed"):
        participant.answer(changed, answers, origin="https://collector.example")


def test_an_answer_that_the_survey_lacks_is_not_told_by_a_refusal():
    published = survey()
    seen = [
        fldp.Participant(MemoryStore()).answer(
            published, {"os": "amiga", "plan": "yes", "level": "3"}, origin="https://collector.example"
        )
        for _ in range(3)
    ]
    assert not any(answer.repeated for answer in seen)
    for answers in ({"os": "mac"}, "mac"):
        with pytest.raises(fldp.DomainError):
            fldp.Participant(MemoryStore()).answer(published, answers, origin="https://collector.example")


def test_the_shell_goes_the_whole_way(tmp_path):
    def run(*words):
        return run_here(*words, cwd=tmp_path).stdout.decode()

    (tmp_path / "s.toml").write_text(TEXT)
    lines = [f"{row['os']},{row['plan']},{row['level']}" for row in people(5000)]
    (tmp_path / "people.csv").write_text("os,plan,level\n" + "\n".join(lines) + "\n")
    run("privatize", "people.csv", "--survey", "s.toml", "-o", "r.fldp")
    run("tally", "r.fldp", "-o", "t.fldp")
    whole = json.loads(run("estimate", "t.fldp", "--survey", "s.toml", "--json"))
    assert [each["question"] for each in whole["questions"]] == ["os", "plan", "level"]
    assert whole["eta"] == 1
    assert whole["gives_away"] == "No report rules out any value for certain."
    crossed = json.loads(run("estimate", "t.fldp", "--survey", "s.toml", "--cross", "os", "plan", "--json"))
    assert crossed["independence"]["df"] == 4
    assert len(crossed["cells"]) == 10
    table = run("estimate", "t.fldp", "--survey", "s.toml", "--csv").splitlines()
    assert table[0] == "table,cell,count,stderr,low,high,frequency"
    assert len(table) == 1 + 5 + 2 + 5 + 10 + 10
    cells = run("estimate", "t.fldp", "--survey", "s.toml", "--cross", "os", "plan", "--csv").splitlines()
    assert cells[0] == "os,plan,count,stderr,low,high,share"
    assert len(cells) == 1 + 5 * 2
    pairs = run("estimate", "t.fldp", "--survey", "s.toml", "--associations", "--csv").splitlines()
    assert len(pairs) == 1 + 2
    listed = json.loads(run("estimate", "t.fldp", "--survey", "s.toml", "--associations", "--json"))["associations"]
    assert [list(row) for row in listed] == [pairs[0].split(",")] * 2
    assert "Cramer" in run("estimate", "t.fldp", "--survey", "s.toml", "--associations")
    assert "biased" in run("estimate", "t.fldp", "--survey", "s.toml", "--consistent", "--question", "os")
    assert "verdict" in run("verify", "--survey", "s.toml")
    assert "One report for all 3 questions together" in run("card", "--survey", "s.toml", "--users", "5000")


def rows_of(path, folder):
    """Run the command on rows of answers; return its reports, and what it said."""
    done = run_here("privatize", path, "--survey", "s.toml", "-o", "r.fldp", "--seed", 1, cwd=folder)
    return (folder / "r.fldp").read_bytes(), done.stderr.decode()


def test_rows_of_parquet_are_rows_of_csv(tmp_path):
    rows = people(50)
    (tmp_path / "s.toml").write_text(TEXT)
    lines = [f"{row['level']},{row['os']},{row['plan']}" for row in rows]
    (tmp_path / "rows.csv").write_text("level,os,plan\n" + "\n".join(lines) + "\n")
    columns = {name: [row[name] if row[name] != "" else None for row in rows] for name in ("level", "os", "plan")}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet")
    from_text, from_columns = (rows_of(f"rows.{form}", tmp_path) for form in ("csv", "parquet"))
    assert from_columns == from_text
    assert "50 reports of Sampled" in from_text[1]


def test_rows_with_an_answer_that_the_survey_lacks(tmp_path):
    (tmp_path / "s.toml").write_text(TEXT)

    def privatized(rows, *options):
        (tmp_path / "rows.csv").write_text(f"os,plan,level\n{rows}")
        command = ("privatize", "rows.csv", "--survey", "s.toml", "-o", "r.fldp", *options)
        done = run_here(*command, code=None, cwd=tmp_path)
        return done.returncode, done.stderr.decode()

    good, odd, short = "mac,yes,1\n", "mac,maybe,1\n", "mac,no\n"
    told = "rows.csv, line 3 has an unknown answer (not shown) to plan; see --unknown\n"
    assert privatized(good + odd) == (2, told)
    assert privatized(short) == (2, "rows.csv, line 2 has no answer to level; see --unknown\n")
    code, said = privatized(good + odd + short + odd, "--unknown", "drop")
    assert code == 0
    assert said.startswith("3 of 4 rows dropped: 2 by plan, 1 by level\n1 report of Sampled")
    told = "rows.csv: holds no row to privatize: 1 of 1 rows dropped: 1 by plan\n"
    assert privatized(odd, "--unknown", "drop") == (2, told)
    code, said = privatized(good, "--unknown", "other")
    assert code == 2
    assert "--unknown must be error or drop for several questions, got 'other'" in said
    code, said = privatized(good, "--column", "os")
    assert code == 2
    assert "--column is for one question; several have a column each, by their names" in said


def test_options_of_several_questions_are_refused_where_they_say_nothing(tmp_path):
    (tmp_path / "s.toml").write_text(TEXT)
    (tmp_path / "rows.csv").write_text("os,plan,level\n" + "mac,yes,1\n" * 100)
    run_here("privatize", "rows.csv", "--survey", "s.toml", "-o", "r.fldp", cwd=tmp_path)
    run_here("tally", "r.fldp", "-o", "t.fldp", cwd=tmp_path)

    def refused(*options):
        done = run_here("estimate", "t.fldp", "--survey", "s.toml", *options, code=None, cwd=tmp_path)
        assert done.returncode != 0
        return done.stderr.decode()

    assert "--plot draws one question; name it with --question" in refused("--plot", "p.png")
    assert "--anytime is for single questions, unbiased" in refused("--anytime", 1000, "--associations")
    assert "ask for one of question, cross and associations" in refused("--question", "os", "--associations", "--json")
