"""The benchmark of the oracles: that it forgets none, reckons errors right, and talks to peers. No times are judged."""

import json
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp import oracles as registry

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import answers  # noqa: E402
import command  # noqa: E402
import comparison  # noqa: E402
import document  # noqa: E402
import oracles  # noqa: E402
import questions  # noqa: E402
from comparison import Row, Setting, all_rows  # noqa: E402
from peers import counterparts, environment  # noqa: E402
from peers.environment import Peer, PeerError  # noqa: E402
from sides import Population, Run, Side, rescaled  # noqa: E402

SMALL = Setting(domain_size=16, users=200, turns=2, seconds=0.0)

TOY = """
import sys
sys.path.insert(0, {peers!r})
from protocol import runs, serve

def add(a, b):
    print("not an answer")
    return a + b

def run(mechanism, epsilon, domain_size, values, seconds):
    return runs(lambda: (list, lambda reports: [1 / domain_size] * domain_size), values, seconds)

serve("numpy", add=add, run=run)
"""


@pytest.fixture
def toy(tmp_path):
    """A peer that runs here: it gives every value the same share."""
    peer = Peer("toy==1.0")
    peer.python, peer.script = Path(sys.executable), tmp_path / "run_toy.py"
    peer.script.write_text(TOY.format(peers=str(BENCH / "peers")))
    with peer:
        yield peer


def test_every_oracle_has_a_row():
    rows, left_out = all_rows(Setting())
    assert {row.oracle.name for row in rows} | set(left_out) == set(registry.listed_names())
    assert {"rr", "fwr, eta 1", "fwr, eta 1/2", "fhr, eta 1/2, full"} <= {row.label for row in rows}
    assert len({row.label for row in rows}) == len(rows)
    assert all(row.oracle.domain_size in (1024, 2) for row in rows)


def test_an_oracle_that_needs_more_is_left_out_with_the_reason():
    _, left_out = all_rows(SMALL)
    needs = {
        "exponential": "Exponential: needs distance",
        "grouped": "Grouped: needs base, groups",
        "idue": "IDUE: needs budgets",
        "lwr": "LWR: needs epsilon_permanent",
        "urappor": "URAPPOR: needs sensitive",
        "urr": "URR: needs sensitive",
        "wave": "Wave: needs width",
    }
    assert left_out == {name: f"{need}, which a plan does not have" for name, need in needs.items()}


def test_every_counterpart_is_of_an_oracle_of_ours():
    rows, _ = all_rows(Setting())
    ours = {(row.oracle.name, row.oracle.eta) for row in rows}
    assert set(counterparts._COUNTERPARTS) <= ours
    assert counterparts.counterparts("fwr", Fraction(1, 2)) == ()


def row_with_noise(scale):
    """A row whose estimates are normal around the truth, with the variance that the oracle states, scaled."""
    row = Row("grr", fldp.GRR(epsilon=1.0, domain_size=16), {}, SMALL)
    population, rng = row.population, np.random.default_rng(7)
    spread = np.sqrt(scale * row.oracle.variance(population.users, population.counts))
    drawn = (population.counts + rng.normal(0, spread, (400, 16))) / population.users
    seconds = {"setup": 0.0, "client": 1.0, "server": 2.0}
    row.ours = Side("fldp", population, lambda: [{**seconds, "frequencies": frequencies} for frequencies in drawn])
    row.ours.take_turn()
    return row


def test_an_error_that_is_not_what_the_variance_says_is_missed():
    """The seed is fixed; by chance the first row would be missed once in a million."""
    good, bad = row_with_noise(1.0), row_with_noise(1.15)
    assert good.ours.mean("error") == pytest.approx(good.theory, rel=3 * good.ours.uncertainty)
    assert good.ours.mean("top_share") == pytest.approx(1, abs=4 * good.ours.top_uncertainty)
    assert not good.missed
    assert bad.missed


def test_an_error_is_the_mean_square_times_the_users():
    population = Population(np.array([0, 0, 0, 1]), 2)
    assert population.error(np.array([0.5, 0.5])) == pytest.approx(4 * 0.0625)
    assert population.top_share(np.array([0.5, 0.5])) == pytest.approx(2 / 3)
    run = Run.of(population, [1.5, -0.5], setup=1.0, client=2.0, server=3.0)
    assert (run.setup, run.client, run.server) == (1.0, 2.0, 3.0)
    assert run.error == pytest.approx(4 * 0.5625)
    assert run.rescaled_error == run.norm_sub_error == pytest.approx(4 * 0.0625)


def test_rescaled_adds_up():
    assert rescaled(np.array([0.6, 0.9, -0.2])).tolist() == pytest.approx([0.4, 0.6, 0.0])
    assert rescaled(np.array([-0.6, -0.9])).tolist() == [0.0, 0.0]


def test_a_peer_answers_again_and_again(toy):
    assert toy.ask("add", a=1, b=2) == 3
    assert toy.ask("add", a="x", b="y") == "xy"


def test_a_peer_that_fails_says_why_in_one_line(toy):
    with pytest.raises(PeerError, match=r"^peers: toy cannot add: TypeError: unsupported operand .*$"):
        toy.ask("add", a=1, b="y")
    assert toy.ask("add", a=1, b=2) == 3  # in a new process


def test_a_peer_that_cannot_be_installed_is_exit_code_2(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(environment, "_ROOT", tmp_path)
    monkeypatch.setattr(sys, "executable", "false")
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert command.run("nothing", [Peer("toy==1.0")], lambda: pytest.fail("measured")) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[1:] == ["peers: cannot make .venv-peers/toy: no message"]


def test_the_whole_comparison_beside_a_toy(toy, monkeypatch, tmp_path, capsys):
    beside = counterparts.Counterpart(toy, "grr", "EVEN", "It gives every value the same share.")
    monkeypatch.setattr(comparison, "counterparts", lambda name, eta: (beside,) if name in ("grr", "rr") else ())
    monkeypatch.setattr(toy, "prepare", lambda say: None)
    monkeypatch.setattr(sys, "argv", ["bench", "--json", str(tmp_path / "found.json")])
    command.run("nothing", [toy], lambda: oracles.measure(SMALL))
    out = capsys.readouterr().out
    assert "toy EVEN" in out
    assert beside.caveat in out
    assert "fwr, eta 1/2: no peer has it" in out
    printed = json.loads((tmp_path / "found.json").read_text())
    assert printed["peers"] == ["toy==1.0"]
    rows = {row["oracle"]: row for row in printed["rows"]}
    even = rows["grr"]["peers"][0]
    truth = SMALL.population(16).counts / 200
    assert even["runs"] == 2
    assert even["error"] == pytest.approx(200 * np.mean((truth - 1 / 16) ** 2))
    assert even["error_ours_to_theirs"] == pytest.approx(rows["grr"]["ours"]["error"] / even["error"])
    assert even["faster_server"] == pytest.approx(even["server"] / rows["grr"]["ours"]["server"])
    assert rows["rr"]["domain_size"] == 2


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0"), (1, "1"), (0.888, "0.888"), (1.0004, "1"), (2.3456, "2.35"), (99.95, "100"), (-2234, "-2,230")),
        *((2234, "2,230"), (999_600, "1,000,000"), (33_598_921, "33,600,000"), (0.001, "0.001"), (0.00661, "0.00661")),
        *((2.0e-5, "2e-05"), (2.5e12, "2.5e+12")),
    ],
)
def test_a_number_has_three_figures_and_needs_no_exponent(number, text):
    assert answers.significant(number) == text


def test_a_number_may_have_fewer_figures():
    assert [answers.significant(number, 2) for number in (0.0094, 0.57, 26.4, 123.4)] == ["0.0094", "0.57", "26", "120"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0.88, "880 ms"), (1.5, "1.5 s"), (1234, "1,230 s"), (6.33e-5, "63.3 µs"), (0.0003, "300 µs")),
        *((0.000_999_9, "1 ms"), (1.55e-9, "1.55 ns"), (8.76e-10, "0.876 ns")),
    ],
)
def test_a_time_has_the_unit_that_suits_it(seconds, text):
    assert answers.shown(seconds) == text
    assert answers.quantity(seconds, "s") == text


def test_answers_are_rows_of_a_document():
    about = {"against": "textbook", "method": "once"}
    faster = answers.speedup("tally", (154e-9, 344e-6), at_least=300, per=" a report", **about)
    within = answers.duration("gateway", (63.3e-6, 63.4e-6), below=0.0003, **about)
    slower = answers.slowdown("batch", (59.6e-9, 28.3e-9), at_most=2, **about)
    assert answers.documented([faster, within, slower])[1:] == [
        ["tally", "154 ns a report", "344 µs a report: textbook", "2,230 x", "at least 300 x", ""],
        ["gateway", "63.3 µs", "63.4 µs: textbook", "63.3 µs", "below 300 µs", ""],
        ["batch", "59.6 ns", "28.3 ns: textbook", "2.11 x", "at most 2 x", "missed"],
    ]


def test_a_part_of_a_document_is_written_between_its_markers():
    text = "before\n<!-- bench: a -->\nold\n<!-- end -->\n<!-- bench: b -->\n<!-- end -->\nafter\n"
    table = document.markdown([["x", "y"], ["1", "2"]])
    written = document.replaced(text, "a", table)
    assert written == text.replace("old", "| x | y |\n| --- | --- |\n| 1 | 2 |")
    assert "old" in document.replaced(text, "b", "new")
    with pytest.raises(ValueError, match="must have one part 'c'"):
        document.replaced(text, "c", "new")


def test_the_document_has_a_part_for_all_that_is_written_into_it():
    parts = {
        "benchmarks.md": (
            *("core", "one call", "one command", "oracles, cost", "oracles, error", "questions"),
            *(f"collector, {part}" for part in ("single", "pressure", "several", "batches", "memory")),
        ),
        "heavy_hitters.md": ("heavy hitters",),
        "scale.md": ("lakes", "domains", "projection"),
    }
    for file, names in parts.items():
        text = (document.DOCS / file).read_text()
        for name in names:
            document.replaced(text, name, "")
    said = document.circumstances(command.machine())
    assert all(word in said for word in ("Measured on 20", "python 3.", "numpy", "load average"))


def test_the_true_epsilon_of_fake_data_is_enumerated():
    """All tuples of three questions of three answers: those that differ in one answer keep what is declared."""
    declared, count, size = 1.0, 3, 3
    raised = np.exp(questions.true_epsilon("RS+FD[GRR]", declared, count))
    own, other = raised / (raised + size - 1), 1 / (raised + size - 1)

    def chance(seen, held):
        return sum(own if a == b else other for a, b in zip(seen, held, strict=True)) / count / size ** (count - 1)

    tuples = list(product(range(size), repeat=count))
    ratios = {held: max(chance(seen, tuples[0]) / chance(seen, held) for seen in tuples) for held in tuples}
    assert np.log(max(ratios.values())) == pytest.approx(questions.true_epsilon("RS+FD[GRR]", declared, count))
    assert np.log(ratios[0, 0, 1]) == pytest.approx(declared)
    assert ratios[0, 0, 1] < ratios[1, 1, 1]
    assert questions.true_epsilon("RS+FD[GRR]", questions.declared_for(1.0, 10), 10) == pytest.approx(1)
    assert questions.true_epsilon("SMP[GRR]", 1.0, 10) == 1


def test_errors_of_several_questions_and_who_is_better():
    rows = questions.people(2, 3)
    truth = [(np.bincount(column, minlength=3) / len(rows)).tolist() for column in rows.T]
    assert questions.error(rows, 3, truth) == 0
    off = [[share + 0.01 for share in each] for each in truth]
    assert questions.error(rows, 3, off) == pytest.approx(1e-4 * len(rows))
    measured = [
        questions.Row(name, 2, 3, 1.0, true, error, 1.0, 1.0)
        for name, true, error in (("fldp", 1.0, 20.0), ("SMP[GRR]", 1.0, 18.0), ("RS+FD[GRR]", 2.9, 5.0))
    ]
    assert questions.best_of_peers(measured).scheme == "SMP[GRR]"
    assert not questions.is_missed(measured)
    assert questions.is_missed([measured[0], questions.Row("SMP[GRR]", 2, 3, 1.0, 1.0, 10.0, 1.0, 1.0)])
