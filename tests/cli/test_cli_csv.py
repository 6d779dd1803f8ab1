"""Files as people have them, through the shell: the same file for survey init and for privatize."""

import pytest

from support.serving import run_here


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ('browser\n"  firefox "\nedge\nedge\n\n\n', ()),
        ("browser;n\nfirefox;1\nedge;2\nedge;3\n", ("--column", "browser")),
        ("sep=\t\nn\tbrowser\n1\tfirefox\n2\tedge\n\n3\tedge\n", ("--column", "browser")),
    ],
)
def test_what_makes_a_survey_can_answer_it(tmp_path, content, options):
    (tmp_path / "v.csv").write_text(content)
    run_here("survey", "init", "v.csv", *options, "-o", "s.toml", cwd=tmp_path)
    done = run_here("privatize", "v.csv", *options, "--survey", "s.toml", "-o", "r.fldp", cwd=tmp_path)
    assert done.stderr.startswith(b"3 reports of ")
    assert b'labels = ["edge", "firefox"]' in (tmp_path / "s.toml").read_bytes()


def test_semicolons_are_not_taken_for_labels(tmp_path):
    (tmp_path / "v.csv").write_text("a;b\nfirefox;1\nedge;2\n")
    done = run_here("survey", "init", "v.csv", code=2, cwd=tmp_path)
    assert done.stderr == b"v.csv: has the columns a, b: name one with --column\n"


def test_a_blank_line_is_a_missing_value_and_named_by_its_line(tmp_path):
    (tmp_path / "v.csv").write_text("n\n1\n\n7\n")
    grr = ("--oracle", "grr", "--epsilon", "1", "--domain", "4", "-o", "r.fldp")
    done = run_here("privatize", "v.csv", *grr, code=2, cwd=tmp_path)
    assert done.stderr == b"v.csv, line 3 has a missing value; see --unknown\n"
    (tmp_path / "v.csv").write_text("n\n1\n7\n")
    done = run_here("privatize", "v.csv", *grr, code=2, cwd=tmp_path)
    assert (
        done.stderr == b"v.csv, line 3 has a value that is not a whole number from 0 to 3 (not shown); see --unknown\n"
    )
    done = run_here("privatize", "v.csv", *grr, "--unknown", "drop", cwd=tmp_path)
    assert b"1 of 2 dropped: 1 unknown\n" in done.stderr
    assert b"1 report of GRR" in done.stderr


def test_addresses_of_people_need_consent(tmp_path):
    (tmp_path / "v.csv").write_text("mail\nann@example.org\nbob@example.org\nann@example.org\n")
    done = run_here("survey", "init", "v.csv", "-o", "s.toml", code=2, cwd=tmp_path)
    assert b"2 of 2 labels look like e-mail addresses; a survey is public with all of its labels" in done.stderr
    assert b"ann@" not in done.stderr
    assert not (tmp_path / "s.toml").exists()
    run_here("survey", "init", "v.csv", "-o", "s.toml", "--force", cwd=tmp_path)
    assert b"ann@example.org" in (tmp_path / "s.toml").read_bytes()
