"""Options that exclude each other, or say nothing where they are given: one line each, before anything is done."""

import pytest

import fldp
from fldp import wire
from support.commands import run_here
from support.surveys import SURVEY

GRR = ("--oracle", "grr", "--epsilon", "1", "--domain", "5")
THERE = ("--to", "http://127.0.0.1:9")  # where nobody listens: it is never asked
QUESTIONS = """\
name = "desktop"
[[questions]]
name = "os"
question = "Which system do you use?"
labels = ["linux", "mac", "windows"]
[[questions]]
name = "plan"
question = "Do you pay?"
labels = ["no", "yes"]
[oracle]
epsilon = 1.0
"""
REFUSED = [
    (("tally", "r", "--survey", "s.toml", "--survey-version", "ab"), "fldp: --survey is version "),
    (("estimate", "r", "--question", "os"), "fldp: --question is for surveys of several questions; give one as"),
    (("estimate", "r", "--prior", "p.csv"), "fldp: --prior needs --post bayes or --method bayes"),
    (("estimate", "r", "--post", "bayes", "--prior", "odd.csv"), "odd.csv: is not CSV: "),
    (("estimate", "r", "--post", "bayes", "--prior", "latin.csv"), "latin.csv: is not UTF-8 text"),
    (("estimate", "r", "--post", "bayes", "--prior", "p.csv"), "p.csv: line 3: '9' is not one of the values"),
    (("estimate", "t", "--method", "em", *GRR), "t: method em needs a file of reports, as fldp privatize writes it"),
    (("verify", *GRR, "--table", "law.csv"), "fldp: give --table, or an oracle, not both"),
    (("verify", *GRR, "--candidates", "c.txt"), "fldp: --candidates is for oracles over strings, got GRR("),
    (("attack", *GRR, "--column", "a"), "fldp: --column needs --prior"),
    (("poisoning", "--candidates", "c.txt"), "fldp: --candidates needs --survey or --oracle"),
    (("poisoning", *GRR, "--targets", "1", "--target", "0"), "fldp: give --targets or --target, not both"),
    (("poisoning", *GRR, "--target", "7"), "fldp: --target '7' is not one of the values"),
    (("poisoning", "--survey", "q.toml", "--targets", "1"), "fldp: --targets is for one question; of several, name a"),
    (("poisoning", "--survey", "q.toml", "--target", "os=os2"), "fldp: --target must be NAME=ANSWER of the"),
    (("plan", "--users", "100", "--questions", "3,4"), "fldp: --questions needs --epsilon, and no --survey"),
    (
        ("plan", "--users", "100", "--questions", "3,4", "--epsilon", "1", "--cross", "0+1"),
        "fldp: --cross must be all, none, or pairs such as 0-1,0-2, got '0+1'",
    ),
    (("issuer", "create"), "fldp: say where the key is kept: --to ADDRESS, or --key FILE for fldp issuer serve"),
    (
        ("issuer", "serve", "--key", "k", "--tickets", "t", "--tls-key", "k"),
        "issuer: --tls-certificate and --tls-key must be given together",
    ),
    (
        ("issuer", "serve", "--key", "nowhere", "--tickets", "t"),
        "nowhere: cannot be read: No such file or directory",
    ),
    (("estimates", "browser", *THERE, "-o", "e.csv"), "fldp: a table is only shown; name a --format to save: json,"),
    (
        ("estimates", "browser", *THERE, "--method", "select"),
        "fldp: --method is for answers that are strings, with --candidates",
    ),
    (("export", "browser", *THERE, "-o", "r.parquet", "--lake", "l"), "fldp: give --output or --lake, not both"),
    (("export", "browser"), "fldp: name the collector with --to, or give only --lake and --data or --database"),
    (("export", *THERE), "fldp: with --to, give the survey's name, and neither --data nor --database"),
    (("survey", "delete", "browser", *THERE), "fldp: say what to delete: one --version of the survey, or --all"),
    (("ticket", "create", "browser", *THERE, "--count", "1", "-o", "r"), "r: already exists; "),
    (("token", "list", "--data", "d", "--database", "postgresql://h/n"), "fldp: give --data or --database, not both"),
    (("estimates", "browser", *THERE, "--version", "ab"), "fldp: --version must be 4 or more of a version's digits"),
    (("relay", "--to", "x"), "fldp: --to must be an address such as https://collector.example, got 'x'"),
    (("relay", "--to", "https://h", "--issuer", "y"), "fldp: --issuer must be an address such as"),
    (("plan", "--users", "9", "--epsilon", "1", "--questions", ",,"), "fldp: --questions must be numbers such as 4"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("FLDP_COLLECTOR", "FLDP_SERVE_DATA", "FLDP_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    oracle = fldp.GRR(1.0, 5)
    files = {
        "s.toml": SURVEY.encode(),
        "q.toml": QUESTIONS.encode(),
        "r": wire.encode(oracle.privatize([1, 2, 3])),
        "t": wire.encode_tally(oracle.tally(oracle.privatize([1, 2, 3]))),
        "p.csv": b"value,count\n0,5\n9,1\n",
        "odd.csv": b'value,count\n"0"x,5\n',
        "latin.csv": b"value,count\n\xe9,5\n",
        "c.txt": b"a\nb\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"), REFUSED, ids=lambda part: " ".join(part) if isinstance(part, tuple) else ""
)
def test_options_that_do_not_fit_are_refused_in_one_line(folder, arguments, message):
    done = run_here(*arguments, code=2, cwd=folder)
    said = done.stderr.decode()
    assert said.startswith(message)
    assert said.count("\n") == 1
    assert done.stdout == b""
