"""Results that show themselves: what print, repr and a notebook say, and tables of other libraries."""

import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import fldp
from fldp.data.comparison import Comparison
from fldp.privacy import averaging, bayes, repeats
from fldp.support.optional_imports import load
from support.commands import shell

GRR, FHR = fldp.GRR(epsilon=1.0, domain_size=5), fldp.FHR(epsilon=1.0, domain_size=7)
HOSTILE = ("<script>alert(1)</script>", "[bold]loud[/bold]", ":smile:", "red \x1b[31m\u202e", '" onload="x')
SURVEY = fldp.Survey(name="odd", question="<b>Which?</b>", oracle=GRR, labels=HOSTILE)


def estimated(count=400):
    return SURVEY.estimate(GRR.tally(GRR.privatize([k % 5 for k in range(count)], rng=1)))


THINGS = {
    "estimate": estimated,
    "combined": lambda: fldp.combine([fldp.simulate(oracle, [9] * 5, rng=1) for oracle in (GRR, fldp.OUE(2.0, 5))]),
    "recovered": lambda: fldp.recover(FHR.privatize([3] * 500, rng=7)),
    "comparison": lambda: estimated().compare(estimated(500)),
    "bare comparison": lambda: Comparison(np.array([0.0, 0.05]), np.array([0.01, 0.01])),
    "plan": lambda: fldp.plan(domain_size=5, users=10_000, epsilon=2.0),
    "card": lambda: fldp.card(FHR, users=100, rng=1),
    "card of a survey": lambda: fldp.card(SURVEY, users=100, rng=1),
    "verification": lambda: fldp.verify(FHR),
    "table": lambda: fldp.verify([["3/4", "1/4"], ["1/4", "3/4"]]),
    "audit": lambda: fldp.audit(GRR, samples=400, rng=1),
    "attack": lambda: fldp.attack(FHR, repeats=4, draws=100, rng=0),
    "guess": lambda: bayes(FHR),
    "averaging": lambda: averaging(FHR, most=4, trials=100, rng=1),
    "repeats": lambda: repeats(FHR),
    "integrity": lambda: fldp.integrity(GRR.privatize([1] * 50, rng=1)),
    "hitters": lambda: fldp.heavy_hitters({"<i>yes": 6000, "no": 3000}, epsilon=4.0, k=3, rng=7),
    "tally": lambda: GRR.tally(GRR.privatize([1, 2], rng=1)),
    "survey": lambda: SURVEY,
    "oracle": lambda: FHR,
    "strings": lambda: fldp.CMS(epsilon=2.0),
}


class Tags(HTMLParser):
    """Reads HTML strictly enough: every element ends, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""

    def handle_starttag(self, tag, attributes):
        self.seen |= {tag, *(name for name, _ in attributes)}
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen |= {tag, *(name for name, _ in attributes)}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(html):
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


@pytest.mark.parametrize("name", THINGS)
def test_everything_shows_itself(name):
    result = THINGS[name]()
    assert len(repr(result).splitlines()) == 1
    assert len(repr(result)) < 200 or name == "guess"
    assert str(result) != repr(result)
    assert not [c for c in str(result) if c < " " and c != "\n"]
    assert all(line == line.rstrip() for line in str(result).splitlines())
    tags = read(result._repr_html_())
    assert not tags.seen & {"script", "b", "i", "link", "img", "iframe", "form", "onload"}
    if name not in ("comparison", "bare comparison", "integrity"):
        assert "epsilon" in str(result)
        assert "eta" in str(result) or "eps" in str(result)


def test_labels_are_shown_as_they_are_and_do_nothing():
    for result in (estimated(), estimated().compare(estimated(500)), SURVEY):
        text, html = str(result), read(result._repr_html_()).text
        for shown in (*HOSTILE[:3], "red \N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}", HOSTILE[4]):
            assert shown in text
            assert shown in html


def test_print_says_what_the_shell_says(tmp_path):
    grr = ("--oracle", "grr", "--epsilon", "1", "--domain", "5")
    fhr = ("--oracle", "fhr", "--epsilon", "1", "--domain", "7")

    def same(result, *command):
        lines = shell(*command)[0].rstrip("\n").split("\n")
        assert str(result).split("\n") == [line.rstrip() for line in lines]

    same(THINGS["plan"](), "plan", "--domain", "5", "--users", "10000", "--epsilon", "2")
    same(fldp.verify(FHR), "verify", *fhr)
    same(THINGS["card"](), "card", *fhr, "--users", "100", "--seed", "1")
    same(THINGS["attack"](), "attack", *fhr, "--repeats", "4", "--draws", "100")
    (tmp_path / "values").write_text("\n".join("0123401234"))
    shell("privatize", tmp_path / "values", *grr, "-o", tmp_path / "r.fldp", "--seed", "1")
    shell("tally", tmp_path / "r.fldp", "-o", tmp_path / "t.fldp")
    counted = GRR.tally(GRR.privatize([0, 1, 2, 3, 4] * 2, rng=1))
    same(GRR.estimate(counted), "estimate", tmp_path / "t.fldp")
    inspected, _ = shell("inspect", tmp_path / "t.fldp")
    assert all(" ".join(line.split()) in " ".join(inspected.split()) for line in str(counted).splitlines())


@pytest.mark.parametrize("domain_size", [4, 1000])
def test_a_plan_fits_a_terminal_of_eighty_columns(domain_size, monkeypatch):
    advice = fldp.plan(domain_size=domain_size, users=10_000, epsilon=1.0, eta=0.5)
    assert "server" in str(advice)
    for module in ("plan", "tables"):
        monkeypatch.setattr(f"fldp.presentation.{module}.screen_width", lambda: 80)
    table = str(advice).split("Errors are")[0].splitlines()
    assert max(map(len, table)) <= 80
    assert len(table) == len(advice.rows) + 6, "a line for each row"
    assert "…" not in str(advice)


def test_a_witness_is_a_sentence():
    assert "witness      report (2, 1) is 2.71828 times as likely from value 0 as from value 1" in str(fldp.verify(FHR))
    assert "and cannot come from value" in str(fldp.verify([[1, 0], [0, 1]]))
    assert "Fraction" not in shell("verify", "--oracle", "oue", "--epsilon", "1", "--domain", "5")[0]
    assert "Witness(value=" in shell("verify", "--oracle", "rr", "--epsilon", "1", "--json")[0], "JSON stays exact"


def test_nothing_is_loaded_before_something_is_shown():
    code = (
        "import sys, fldp\n"
        "oracle = fldp.GRR(1.0, 5)\n"
        "repr(oracle.privatize(1)), repr(oracle), dir(fldp)\n"
        "assert not {'rich', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'fldp.presentation'} & set(sys.modules)\n"
        "str(oracle)\n"
        "assert 'rich' in sys.modules\n"
        "assert not {'pandas', 'polars', 'pyarrow', 'matplotlib', 'fldp.client'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


ROWS = (
    *("estimate", "combined", "recovered", "comparison", "bare comparison"),
    *("plan", "attack", "audit", "averaging", "hitters"),
)


@pytest.mark.parametrize("name", ROWS)
def test_rows_for_other_libraries(name):
    result = THINGS[name]()
    pandas, polars, arrow = result.to_pandas(), result.to_polars(), result.to_arrow()
    assert list(pandas.columns) == polars.columns == arrow.column_names
    assert len(pandas) == len(polars) == len(arrow) > 0
    for column in pandas.columns:
        assert list(pandas[column].dropna()) == polars[column].drop_nulls().to_list()
        assert polars[column].to_list() == arrow[column].to_pylist()


def test_levels_reach_the_rows():
    change = estimated().compare(estimated(500))
    narrow, wide = (change.to_polars(level)["high"] - change.to_polars(level)["low"] for level in (0.5, 0.99))
    assert (narrow < wide).all()
    assert change.to_pandas()["label"].tolist() == list(HOSTILE)


@pytest.mark.parametrize(("library", "extra"), [("pandas", "pandas"), ("polars", "polars"), ("arrow", "parquet")])
def test_a_library_that_is_missing_is_named_with_its_extra(library, extra, monkeypatch):
    module = {"arrow": "pyarrow"}.get(library, library)
    estimate, advice = estimated(), THINGS["plan"]()
    monkeypatch.setitem(sys.modules, module, None)
    for shown in (estimate, advice):
        with pytest.raises(fldp.FldpError) as error:
            getattr(shown, f"to_{library}")()
        assert str(error.value) == f"fldp: this needs {module}, install it with: pip install 'fldp[{extra}]'"


def test_a_card_as_text_and_as_a_page(monkeypatch):
    card = THINGS["card"]()
    assert card.text().rstrip("\n") == str(card)
    assert max(map(len, card.text(width=50).splitlines())) <= 50
    page = card.html()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "<svg" in card._repr_html_()
    monkeypatch.setattr("fldp.presentation.card.find_spec", lambda name: None)
    assert "<svg" not in card._repr_html_()
    assert "What somebody can guess" in card._repr_html_()


def test_a_picture_of_an_estimate(tmp_path):
    figure = estimated().plot(k=3, truth=[100] * 5, title="costs $1 and $2")
    assert isinstance(figure, load("matplotlib.figure", "plot").Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert "too few" in figure.axes[0].get_xlabel()
    assert "too few" not in estimated(20_000).plot().axes[0].get_xlabel()
    (tmp_path / "values").write_text("\n".join("0123401234"))
    grr = ("--oracle", "grr", "--epsilon", "1", "--domain", "5")
    shell("privatize", tmp_path / "values", *grr, "-o", tmp_path / "r.fldp", "--seed", "1")
    shell("estimate", tmp_path / "r.fldp", "--plot", tmp_path / "shell.png")
    from fldp.presentation.plot import save

    save(GRR.estimate(GRR.privatize([0, 1, 2, 3, 4] * 2, rng=1)).plot(), tmp_path / "python.png")
    assert (tmp_path / "shell.png").read_bytes() == (tmp_path / "python.png").read_bytes()
