"""The figures hold what they should: series, points, axes, labels, colours."""

from fractions import Fraction

import numpy as np
import pytest

from fldp import FWR, OUE
from fldp.experiments.paper.claims.accuracy import CROSSOVER
from fldp.experiments.paper.figures import PICTURES, attack_against_error
from fldp.experiments.paper.figures.series import looks
from fldp.oracles import names
from fldp.presentation.figure_style import Look
from fldp.presentation.plot import COLOURS, save
from support import reproduction

THREE = ["OUE, eta 1", "OLH, eta 1", "FHR as published, eta 1/2"]
SEVEN = [*THREE, "FHR, full decoder, eta 1/2", "FWR, eta 1/2", "FWR, eta 1", "PGR, eta 1"]


@pytest.fixture(scope="module")
def evidence():
    return reproduction.evidence()


@pytest.fixture(scope="module")
def drawn(evidence):
    files = {}

    def draw(name):
        if name not in files:
            files[name] = PICTURES[name].draw(evidence)
        return files[name]

    return draw


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def lines(axes):
    """Return the lines that have a name, by it."""
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_the_paper_names_them_and_so_do_we():
    assert list(PICTURES) == [
        "kld", "se", "re", "ncr", "kld-extended", "se-extended", "re-extended", "ncr-extended",
        "variance", "users", "eta", "costs", "attack",
    ]  # fmt: skip
    assert all(picture.caption.endswith(".") for picture in PICTURES.values())


@pytest.mark.parametrize("metric", ["kld", "se", "re", "ncr"])
@pytest.mark.parametrize(("kind", "series"), [("", THREE), ("-extended", SEVEN)])
def test_the_four_figures(evidence, drawn, metric, kind, series):
    figure = drawn(metric + kind)
    assert legend(figure) == series
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Step, top 10", "Power, top 10", "Step, top 20", "Power, top 20",
    ]  # fmt: skip
    for axes in figure.axes:
        assert list(lines(axes)) == series
        assert axes.get_yscale() == ("linear" if metric == "ncr" else "log")
        assert len(axes.collections) == len(series), "a band of spread for each"
        assert axes.spines["top"].get_visible() is False
    assert [axes.get_ylabel() for axes in figure.axes] == [metric.upper(), "", metric.upper(), ""]
    assert figure.axes[2].get_xlabel() == "epsilon\n40,000 users, 127 values"
    better = "higher is better" if metric == "ncr" else "lower is better"
    assert better in figure.get_suptitle()
    assert "Mean of 6 runs" in figure.get_suptitle()


def test_lines_are_the_means_of_the_table(evidence, drawn):
    rows = evidence.main.where(dataset="power", k=20, metric="re")
    axes = drawn("re-extended").axes[3]
    for line, series in zip(lines(axes).values(), looks(evidence.main), strict=True):
        assert line.get_xdata().tolist() == [0.4, 1.0, 2.0]
        means = [rows.where(series=series, epsilon=epsilon)["value"].mean() for epsilon in (0.4, 1.0, 2.0)]
        assert line.get_ydata() == pytest.approx(means)
    one = rows.where(series="OUE", epsilon=1.0)["value"]
    band = axes.collections[0].get_paths()[0].vertices
    at = band[np.isclose(band[:, 0], 1.0), 1]
    assert at.max() == pytest.approx(one.mean() + one.std(ddof=1))
    assert at.min() == pytest.approx(max(one.mean() - one.std(ddof=1), one.min()))


def test_one_colour_for_each_oracle_and_a_line_for_eta_and_decoder(evidence, drawn):
    axes = drawn("kld-extended").axes[0]
    for line, look in zip(lines(axes).values(), looks(evidence.main).values(), strict=True):
        assert line.get_color() == COLOURS[look.oracle]
        assert line.get_linestyle() == ("-" if look.eta == 1 else ":" if look.decoder == "paper" else "--")
    assert lines(drawn("kld").axes[0])["FHR as published, eta 1/2"].get_color() == "#2a9d5c", "green, as in the paper"
    marks = {Look(name, "linear", Fraction(1)).mark for name in names() if name != "rr"}
    assert len(marks) >= 11, "no two oracles share a mark"


def test_the_variance_crosses_where_the_paper_says(evidence, drawn):
    figure = drawn("variance")
    left, right = figure.axes
    assert legend(figure) == SEVEN
    for axes in (left, right):
        assert axes.get_xlabel() == "epsilon"
        assert axes.get_yscale() == "log"
        (mark,) = [line for line in axes.get_lines() if list(line.get_xdata()) == [CROSSOVER, CROSSOVER]]
        assert mark.get_ydata() == [0, 1]
        errors = [container for container in axes.containers if container.lines[0].get_marker() != "None"]
        assert len(errors) == len(SEVEN)
    assert pytest.approx(1.7627, abs=1e-4) == CROSSOVER
    dotted = next(line for line in right.get_lines() if line.get_linestyle() == ":" and len(line.get_xdata()) > 50)
    x, y = map(np.asarray, dotted.get_data())
    assert np.interp(CROSSOVER, x, y) == pytest.approx(1, abs=0.01), "theory crosses OUE there"
    assert (y[x < 1.7] < 1).all()
    assert (y[x > 1.85] > 1).all()
    assert "1.76" in right.texts[0].get_text()


def test_points_lie_on_the_lines_of_theory(evidence, drawn):
    """Six runs of 127 values: the points are within five standard errors of the lines."""
    for name, panel, places in (("variance", 0, 3), ("variance", 1, 3), ("users", 0, 2)):
        axes = drawn(name).axes[panel]
        drawn_lines = [
            line for line in axes.get_lines() if line.get_marker() in ("", "None") and len(line.get_xdata()) > 1
        ]
        points = [
            line for line in axes.get_lines() if line.get_linestyle() == "None" and len(line.get_xdata()) == places
        ]
        assert len(points) == len(SEVEN)
        for point, line in zip(points, drawn_lines, strict=False):
            assert point.get_color() == line.get_color()
            x, y = (np.asarray(data, np.float64) for data in line.get_data())
            on_line = np.exp(np.interp(np.asarray(point.get_xdata(), np.float64), x, np.log(y)))
            assert np.asarray(point.get_ydata()) == pytest.approx(on_line, rel=5 * np.sqrt(2 / (2 * 126)))


def test_error_against_users(evidence, drawn):
    left, right = drawn("users").axes
    assert (left.get_xlabel(), right.get_xlabel()) == ("users", "users")
    assert (left.get_xscale(), left.get_yscale(), right.get_yscale()) == ("log", "log", "linear")
    assert "NCR" in right.get_ylabel()
    assert list(lines(right)) == SEVEN
    assert list(lines(right)["OUE, eta 1"].get_xdata()) == [1000, 10_000]
    theory = next(line for line in left.get_lines() if line.get_linestyle() == "-" and len(line.get_xdata()) == 2)
    one, ten = theory.get_ydata()
    assert one / ten == pytest.approx(np.sqrt(10)), "one over the root of the users"
    assert "epsilon 1" in drawn("users").get_suptitle()


def test_error_against_eta(evidence, drawn):
    left, right = drawn("eta").axes
    theory = [line for line in left.get_lines() if line.get_linestyle() == "-" and len(line.get_xdata()) == 3]
    assert [list(line.get_xdata()) for line in theory] == [[1.0, 0.5, 0.25]] * 2
    expected = [FWR(0.5, 127, eta=eta).variance(1, 1 / 127) for eta in (1.0, 0.5, 0.25)]
    assert theory[0].get_ydata() == pytest.approx(expected)
    assert {text.get_text() for text in left.texts} == {"epsilon 0.5", "epsilon 1"}
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["1", "1/2", "1/4"]
    guesses = next(line for line in right.get_lines() if line.get_linestyle() == "-")
    gains = {attack.oracle.eta: attack.blind.gain for attack in evidence.attacks if _is(attack, "fwr", 0.5)}
    assert list(guesses.get_ydata()) == [gains[Fraction(1)], gains[Fraction(1, 2)], gains[Fraction(1, 4)]]
    assert legend(drawn("eta")) == ["FWR", "FHR as published (eta 1/2)", "FHR, full decoder (eta 1/2)"]


def _is(attack, name, epsilon):
    return (attack.oracle.name, attack.oracle.epsilon) == (name, epsilon)


def test_costs_are_bars(evidence, drawn):
    figure = drawn("costs")
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "bits of a report", "client, for a report", "server, for 20,000 reports",
    ]  # fmt: skip
    rows = sorted(evidence.costs, key=lambda cost: -cost.server)
    bits, client, server = figure.axes
    assert [bar.get_width() for bar in bits.patches] == [cost.bits for cost in rows]
    assert [bar.get_width() for bar in server.patches] == pytest.approx([1e3 * cost.server for cost in rows])
    assert [bar.get_width() for bar in client.patches] == pytest.approx([1e9 * cost.client / 20_000 for cost in rows])
    assert [tick.get_text() for tick in bits.get_yticklabels()][:1] == [
        f"{rows[0].oracle.title}, eta {rows[0].oracle.eta}"
    ]
    assert {cost.oracle.name for cost in rows} >= {"fhr", "fwr", "grr", "hr", "hrr", "olh", "oue", "pgr", "ss", "sue"}
    assert all(axes.get_xscale() == "log" for axes in figure.axes)


def test_the_fair_comparison_has_all_oracles(evidence, drawn):
    figure = drawn("attack")
    left, right = figure.axes
    shown = set(legend(figure))
    assert {*SEVEN, "GRR, eta 1", "HR, eta 1", "HRR, eta 1", "SS, eta 1", "SUE, eta 1", "Grouped, eta 0"} <= shown
    assert not any("1/4" in name for name in shown), "the figure of eta has those"
    for axes, part in ((left, lambda a: a.blind.gain), (right, lambda a: a.informed.after)):
        line = lines(axes)["OUE, eta 1"]
        mine = [attack for attack in evidence.attacks if attack.oracle.name == "oue"]
        assert list(line.get_ydata()) == [part(attack) for attack in mine]
        expected = [OUE(e, 127).variance(1, 1 / 127) for e in (0.5, 1.0)]
        assert line.get_xdata() == pytest.approx(expected, rel=1e-6)
    one, other = lines(left)["FHR as published, eta 1/2"], lines(left)["FHR, full decoder, eta 1/2"]
    assert list(one.get_ydata()) == list(other.get_ydata()), "the same reports"
    assert all(np.asarray(one.get_xdata()) > np.asarray(other.get_xdata())), "decoded with less error"
    assert (
        attack_against_error.ERRORS[0]
        < min(map(min, (line.get_xdata() for line in lines(left).values())))
        < attack_against_error.ERRORS[1]
    )


def test_every_figure_names_an_eta_beside_an_epsilon(drawn):
    for name in PICTURES:
        figure = drawn(name)
        text = " ".join(legend(figure)) if figure.legends else ""
        text += " ".join(axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes)
        text += " ".join(tick.get_text() for axes in figure.axes for tick in axes.get_yticklabels())
        assert "eta" in text, name


def test_files_are_the_same_for_the_same_figure(evidence, tmp_path):
    """Whichever of the two is written first."""
    for number, endings in enumerate((("svg", "png"), ("png", "svg"))):
        figure = PICTURES["costs"].draw(evidence)
        for ending in endings:
            save(figure, tmp_path / f"{number}.{ending}")
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        one, two = (path.read_bytes() for path in sorted(tmp_path.glob(f"*.{ending}")))
        assert one.startswith(start)
        assert one == two
