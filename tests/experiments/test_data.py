"""Populations: drawn, from files, and from public files that are fetched once."""

import functools
import gzip
import io
import os
import sys
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp import FldpError
from fldp.experiments import Population, corpora, counted, dataset
from fldp.experiments.datasets import population
from fldp.experiments.datasets import xlsx as spreadsheet
from fldp.experiments.datasets.download import Original, fetch
from fldp.experiments.datasets.population import get, load
from support.waiting import LONG

real_files = pytest.mark.skipif(not os.environ.get("FLDP_DATA"), reason="FLDP_DATA names no folder")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An empty folder of data and an empty cache, so that nothing of this machine is seen."""
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"FLDP_{name.upper()}", str(tmp_path / name))
    return tmp_path


def complaint(action):
    with pytest.raises(FldpError) as error:
        action()
    assert "\n" not in str(error.value)
    return str(error.value)


# Populations


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1.0, 2.0], "counts must be at least two integers of at least 0, got 'float64 of shape (2,)'"),
        ([5], "counts must be at least two integers of at least 0, got 'int64 of shape (1,)'"),
        ([[1, 2]], "counts must be at least two integers of at least 0, got 'int64 of shape (1, 2)'"),
        ([5, -1], "counts must be at least two integers of at least 0, got 'int64 of shape (2,)'"),
        ([0, 0], "counts must be counts of at least one user, got 0"),
    ],
)
def test_counts_that_are_none(counts, message):
    assert complaint(lambda: Population("x", counts)) == f"population x: {message}"


def test_a_population_is_its_own():
    counts = np.array([3, 4])
    people = Population("x", counts)
    counts[0] = 99
    assert people.counts.tolist() == [3, 4]
    with pytest.raises(ValueError, match="read-only"):
        people.counts[0] = 1
    assert people.digest == Population("y", [3, 4], ("a", "b")).digest != Population("x", [4, 3]).digest
    assert "labels must be as many as counts, 2, got 1" in complaint(lambda: Population("x", [3, 4], ("a",)))


def test_a_dataset_of_ones_own(monkeypatch):
    monkeypatch.setattr(population, "_registry", dict(population._registry))

    @dataset("mine", users=7, values=2)
    def mine(seed, more=0):
        return Population("anything", [3 + more, 4])

    assert (load("mine").name, load("mine").n) == ("mine", 7)
    assert complaint(lambda: load("mine", more=1)) == "dataset mine: must hold 7 users, got 8"
    assert complaint(lambda: load("mine", less=1)) == "dataset mine: has no parameter 'less', it takes more"
    assert complaint(lambda: load("file")) == "dataset file: needs the parameter 'path'"
    assert complaint(lambda: dataset("zipf")(mine)).startswith("dataset: the name 'zipf' is taken by fldp.")
    assert complaint(lambda: get("nope")).startswith("dataset: the name must be one of brown, ")
    dataset("wrong")(lambda seed: [1, 2])
    assert complaint(lambda: load("wrong")) == (
        "dataset wrong: what its function returns must be a Population, got [1, 2]"
    )


def test_zipf():
    people = load("zipf")
    assert people.counts[:5].tolist() == [112095, 51729, 32599, 23658, 18465]
    assert (people.n, people.domain_size, int(people.counts.min()) > 0) == (593_358, 1023, True)
    assert load("zipf", seed=1).digest != people.digest


@pytest.mark.parametrize(
    ("name", "parameters", "shares"),
    [
        ("uniform", {"values": 4}, [0.25] * 4),
        ("geometric", {"values": 3, "ratio": 0.5}, [4 / 7, 2 / 7, 1 / 7]),
        ("power", {"values": 3, "exponent": 1.0}, [6 / 11, 3 / 11, 2 / 11]),
        ("step", {"values": 5, "heavy": 2, "share": 0.7}, [0.35, 0.35, 0.1, 0.1, 0.1]),
    ],
)
def test_shapes(name, parameters, shares):
    """Each count within six standard deviations: false alarms below 1e-7 in all."""
    people = load(name, seed=5, users=1_000_000, **parameters)
    shares = np.array(shares)
    assert people.n == 1_000_000
    assert np.all(np.abs(people.counts - 1e6 * shares) < 6 * np.sqrt(1e6 * shares * (1 - shares)))
    assert people.digest == load(name, seed=5, users=1_000_000, **parameters).digest
    assert people.digest != load(name, seed=6, users=1_000_000, **parameters).digest


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("uniform", {"values": 1}, "uniform: values must be an integer from 2 to 16777216, got 1"),
        ("uniform", {"users": 0}, "uniform: users must be an integer from 1 to 1099511627776, got 0"),
        ("geometric", {"ratio": 1.0}, "geometric: ratio must be a number between 0 and 1, got 1.0"),
        ("power", {"exponent": 0}, "power: exponent must be a positive, finite number, got 0"),
        ("step", {"values": 5, "heavy": 5}, "step: heavy must be an integer from 1 to 4, got 5"),
        ("step", {"share": 0}, "step: share must be a number between 0 and 1, got 0"),
    ],
)
def test_shapes_that_are_none(name, parameters, message):
    assert complaint(lambda: load(name, **parameters)) == message


# Files


def test_files_of_values(tmp_path):
    csv, txt, parquet = (tmp_path / f"people.{ending}" for ending in ("csv", "txt", "parquet"))
    csv.write_text("id,browser\n1,lynx\n2,chrome\n3,\n4,chrome\n5,edge\n")
    txt.write_text("lynx\nchrome\n\nchrome\nedge\n")
    pq.write_table(pa.table({"browser": ["lynx", "chrome", None, "chrome", "edge"], "id": range(5)}), parquet)
    for path, column in ((csv, "browser"), (txt, None), (parquet, "browser")):
        people = counted.from_file(0, str(path), column)
        assert (people.labels, people.counts.tolist()) == (("chrome", "edge", "lynx"), [2, 1, 1])
        assert people.name == "people"


def test_files_of_counts(tmp_path):
    csv, packed, parquet = (tmp_path / f"people.{ending}" for ending in ("csv", "csv.gz", "parquet"))
    text = 'item,count\nlynx,3\n"a,b",70\nedge,0\n'
    csv.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    pq.write_table(pa.table({"item": ["lynx", "a,b", "edge"], "count": [3, 70, 0]}), parquet)
    for path in (csv, packed, parquet):
        people = load("file", path=str(path))
        assert (people.labels, people.counts.tolist()) == (("lynx", "a,b", "edge"), [3, 70, 0])
    counted.write_counts(tmp_path / "again.csv.gz", people)
    assert counted.read_counts(tmp_path / "again.csv.gz", "x").digest == people.digest


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"item,count\na,1\na,2\n", "an item must occur once, got 'a' again in row 2"),
        ("x.csv", b"item,count\na,1\nb,-2\n", "a count must be an integer of at least 0, got '-2' in row 2"),
        ("x.csv", b"item,count\na,1\nb\n", "a count must be an integer of at least 0, got '' in row 2"),
        ("x.csv", b"item,count\na,1\n", "at least two items are needed, got 1"),
        ("x.csv", b"a,b\n1,2\n", "has the columns a, b: name one with --column"),
        ("x.csv", b"item,count\n\xff,1\n", "is not UTF-8 text"),
        ("x.csv", b'item,count\n"a,1\n', "is not CSV: unexpected end of data"),
        ("x.csv.gz", b"item,count\na,1\n", "is not a whole file of gzip"),
        ("x.csv.gz", gzip.compress(b"item,count\na,1\n", mtime=0)[:-4], "is not a whole file of gzip"),
        ("x.csv.gz", gzip.compress(b"browser\nlynx\n", mtime=0), "must hold two columns, the second named count"),
        ("x.parquet", b"PAR1", "is not Parquet: "),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert complaint(lambda: load("file", path=str(path))).startswith(f"{path}: {message}")


def test_a_file_that_is_not_there():
    assert complaint(lambda: load("file", path="nowhere.csv")) == (
        "nowhere.csv: cannot be read: No such file or directory"
    )


def test_one_value_is_no_population(tmp_path):
    (tmp_path / "x.txt").write_text("a\na\n")
    message = complaint(lambda: load("file", path=str(tmp_path / "x.txt")))
    assert message == "population x: at least two different values are needed, got 1"


# Spreadsheets

STRINGS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<si><t>InvoiceNo</t></si><si><t>Description</t></si><si><t xml:space="preserve"> RED  BAG </t></si>
<si><r><t>BLUE </t></r><r><rPr><b/></rPr><t>BAG &amp; BOX</t></r><rPh sb="0" eb="1"><t>reading</t></rPh></si></sst>"""

SHEET = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>StockCode</t></is></c>
<c r="C1" t="s"><v>1</v></c></row>
<row r="2"><c r="A2"><v>536365</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="s"><v>2</v></c></row>
<row r="3"><c r="A3"><v>536366</v></c><c r="C3" t="s"><v>3</v></c></row>
<row r="4"><c r="A4"><v>536367</v></c><c r="C4" s="1"/></row>
<row r="5"><c r="A5"><v>536368</v></c><c r="C5"><v>20713</v></c></row>
<row r="6"><c r="C6" t="inlineStr"><is><t>7" BAG RED RED</t></is></c></row>
<row r="7"><c r="C7" t="str"><f>A1</f><v>BOX</v></c></row>
</sheetData></worksheet>"""
TEXTS = [" RED  BAG ", "BLUE BAG & BOX", "20713", '7" BAG RED RED', "A1BOX"]


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
PARTS = {
    "[Content_Types].xml": f"""<Types xmlns="{PACKAGE}/content-types">
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
<Override PartName="/xl/sharedStrings.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>""",
    "xl/workbook.xml": f"""<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>
<sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1"
 Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>""",
}


def xlsx(sheet=SHEET, strings=STRINGS):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as parts:
        for name, text in {**PARTS, "xl/sharedStrings.xml": strings, "xl/worksheets/sheet1.xml": sheet}.items():
            if text:
                parts.writestr(name, text)
    return file.getvalue()


def column(data, heading="Description"):
    return list(spreadsheet.read_column(io.BytesIO(data), heading))


def test_a_column_of_a_spreadsheet():
    assert column(xlsx()) == [*TEXTS[:-1], "BOX"]
    assert column(xlsx(), "StockCode") == ["Description"]
    assert column(xlsx(), "InvoiceNo") == ["536365", "536366", "536367", "536368"]


BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (xlsx().replace(b"PK", b"KP"), "spreadsheet: is not a whole .xlsx: "),
        (xlsx()[:-30], "spreadsheet: is not a whole .xlsx: "),
        (xlsx(sheet=None), "spreadsheet: is not a whole .xlsx: "),
        (xlsx(sheet=SHEET[:-30]), "spreadsheet: is not a whole .xlsx: "),
        (xlsx(sheet=SHEET.replace("<v>3<", "<v>9<")), "spreadsheet: is not a whole .xlsx: "),
        (xlsx(strings=None), "spreadsheet: is not a whole .xlsx: "),
        (xlsx(strings=STRINGS.replace("Description", "Prescription")), "spreadsheet: the first row has no 'Descr"),
        (xlsx(sheet=SHEET.partition("?>")[2].join([BOMB, ""])), "spreadsheet: has a document type, which a spread"),
        (xlsx(strings=STRINGS.partition("?>")[2].join([BOMB, ""])), "spreadsheet: has a document type, which a"),
    ],
)
def test_bad_spreadsheets(data, message):
    assert complaint(lambda: column(data)).startswith(message)


def test_a_spreadsheet_that_unpacks_to_too_much(monkeypatch):
    monkeypatch.setattr(spreadsheet, "MAX_BYTES", 600)
    assert "must have at most 600 bytes, got" in complaint(lambda: column(xlsx()))


def test_a_row_that_claims_to_be_far_down(monkeypatch):
    monkeypatch.setattr(spreadsheet, "MAX_ROWS", 1000)
    far = SHEET.replace('<row r="7">', '<row r="9999999999">')
    assert complaint(lambda: column(xlsx(far))) == "spreadsheet: must have at most 1,000 rows"


# The corpora, small


def online_zip(data=None):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as outer:
        outer.writestr("Online Retail.xlsx", xlsx() if data is None else data)
    return file.getvalue()


ONLINE_COUNTS = {"BAG": 3, "BOX": 2, "RED": 2, "&": 1, "20713": 1, "7": 1, "BLUE": 1}


def brown_zip():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as parts:
        parts.writestr("brown/ca01", "\n\n\tThe/at jury/nn said/vbd ``/`` The/at and\\/or/cc ''/'' --/-- ./.\n")
        parts.writestr("brown/cr09", "2/3/cd the/at ?/. jury's/nn$ 1\\/2/cd (/( A/at\n")
        parts.writestr("brown/README", "not/nn counted/vbd\n")
        parts.writestr("brown/cats.txt", "ca01 news\n")
    return file.getvalue()


BROWN_COUNTS = {"the": 3, "1\\/2": 1, "2/3": 1, "a": 1, "and\\/or": 1, "jury": 1, "jury's": 1, "said": 1}


@pytest.mark.parametrize(
    ("count", "data", "expected"),
    [
        (corpora.count_descriptions, online_zip(), ONLINE_COUNTS),
        (corpora.count_words, brown_zip(), BROWN_COUNTS),
    ],
)
def test_the_recipes_by_hand(tmp_path, count, data, expected):
    """A word once a row and without quotation marks; words in lower case and without punctuation."""
    (tmp_path / "x.zip").write_bytes(data)
    assert dict(count(tmp_path / "x.zip")) == expected


@pytest.mark.parametrize("count", [corpora.count_descriptions, corpora.count_words])
@pytest.mark.parametrize("data", [b"", b"no zip", online_zip()[:200]])
def test_corpora_that_are_no_zip(tmp_path, count, data):
    (tmp_path / "x.zip").write_bytes(data)
    assert complaint(lambda: count(tmp_path / "x.zip")).startswith(f"{tmp_path / 'x.zip'}: is not a whole zip file: ")


def test_a_flipped_bit_in_a_zip(tmp_path):
    data = bytearray(brown_zip())
    data[60] ^= 1
    (tmp_path / "x.zip").write_bytes(data)
    assert "is not a whole zip file: Bad CRC-32" in complaint(lambda: corpora.count_words(tmp_path / "x.zip"))


# Fetching, from a server of our own


class Server(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path not in self.server.files:
            self.send_error(404)
            return
        data, extra = self.server.files[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(data) + extra))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
        if self.path == "/stalls":
            self.server.release.wait(LONG)

    def log_message(self, *ignored):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.asked, server.release = [], threading.Event()
    server.files = {
        "/brown.zip": (brown_zip(), 0),
        "/online.zip": (online_zip(), 0),
        "/short": (b"abc", 5),
        "/stalls": (b"abc", 5),
    }
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


def original(server, path="/brown.zip", **changes):
    return Original("x.zip", f"http://127.0.0.1:{server.server_address[1]}{path}", timeout=LONG, **changes)


def test_a_corpus_is_fetched_once(folders, server):
    prepared = functools.partial(
        corpora.prepared, "words", original(server), corpora.count_words, (10, len(BROWN_COUNTS))
    )
    first = prepared()
    assert dict(zip(first.labels, first.counts.tolist(), strict=True)) == BROWN_COUNTS
    assert first.labels[0] == "the"
    assert sorted(os.listdir(folders / "cache")) == ["words_counts.csv.gz", "x.zip"]
    assert prepared().digest == first.digest, "from the counts"
    (folders / "cache" / "words_counts.csv.gz").unlink()
    assert prepared().digest == first.digest, "from the file"
    assert len(server.asked) == 1


def test_online_is_fetched(folders, server):
    prepared = corpora.prepared("o", original(server, "/online.zip"), corpora.count_descriptions, (11, 7))
    assert dict(zip(prepared.labels, prepared.counts.tolist(), strict=True)) == ONLINE_COUNTS


def test_the_data_folder_is_looked_at_first(folders, server):
    (folders / "cache" / "x.zip").write_bytes(b"not this one")
    (folders / "data" / "x.zip").write_bytes(brown_zip())
    assert corpora.prepared("w", original(server), corpora.count_words, (10, 8)).n == 10
    (folders / "data" / "w_counts.csv.gz").write_bytes(gzip.compress(b"item,count\na,5\nb,6\n", mtime=0))
    assert corpora.prepared("w", original(server), corpora.count_words, (11, 2)).n == 11
    assert server.asked == []


def test_wrong_totals_are_refused_and_not_kept(folders, server):
    message = complaint(lambda: corpora.prepared("w", original(server), corpora.count_words, (10, 9)))
    assert message == f"{folders / 'cache' / 'x.zip'}: must hold 9 values, got 8"
    assert os.listdir(folders / "cache") == ["x.zip"]


def test_a_file_whose_hash_is_another(folders, server):
    wrong = original(server, sha256="0" * 64)
    assert "x.zip: could not be fetched (the download is a different file): get http://" in complaint(
        lambda: fetch(wrong)
    )
    assert os.listdir(folders / "cache") == []
    (folders / "data" / "x.zip").write_bytes(brown_zip())
    assert f"{folders / 'data' / 'x.zip'}: is not the file from" in complaint(
        lambda: corpora.prepared("w", wrong, corpora.count_words, (10, 8))
    )


@pytest.mark.parametrize(
    ("path", "changes", "why"),
    [
        ("/nowhere", {}, "404 Not Found"),
        ("/short", {}, "3 of 8 bytes arrived"),
        ("/brown.zip", {"most": 100}, "more than 100 bytes"),
        ("/stalls", {"timeout": 0.3}, "timed out"),
    ],
)
def test_fetching_that_fails_leaves_nothing(folders, server, path, changes, why):
    wanted = replace(original(server, path), **changes)
    message = complaint(lambda: fetch(wanted))
    assert message.startswith(f"x.zip: could not be fetched ({why}): get {wanted.url} some other way")
    assert message.endswith("put it into a folder and name that in FLDP_DATA")
    assert os.listdir(folders / "cache") == []


def test_no_network(folders):
    unreachable = Original("x.zip", "http://127.0.0.1:9/x.zip", timeout=LONG)
    assert complaint(lambda: fetch(unreachable)) == (
        "x.zip: could not be fetched ([Errno 111] Connection refused): get http://127.0.0.1:9/x.zip some other way, "
        "put it into a folder and name that in FLDP_DATA"
    )


def test_folders_that_are_none(folders, monkeypatch):
    monkeypatch.setenv("FLDP_DATA", "/nowhere/at/all")
    assert complaint(lambda: load("online")) == "FLDP_DATA: must name a folder, got '/nowhere/at/all'"
    monkeypatch.delenv("FLDP_DATA")
    (folders / "file").write_text("")
    monkeypatch.setenv("FLDP_CACHE", str(folders / "file" / "x"))
    message = complaint(lambda: fetch(Original("x.zip", "http://127.0.0.1:9/x.zip")))
    assert message == f"{folders / 'file' / 'x'}: cannot be made: Not a directory; name another with FLDP_CACHE"


def test_where_the_cache_is(monkeypatch):
    from fldp.experiments.datasets.download import cache_folder

    monkeypatch.delenv("FLDP_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/caches")
    assert cache_folder() == Path("/some/caches/fldp")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == Path("/home/somebody/.cache/fldp")


def test_a_bar_shows_on_a_terminal(folders, server, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal has no bars
    monkeypatch.setattr(sys, "stderr", Terminal())
    fetch(original(server))
    assert "fetching x.zip" in sys.stderr.getvalue()


# The real files


@real_files
def test_the_real_datasets():
    online, brown = load("online"), load("brown")
    assert (online.n, online.domain_size, online.labels[:3]) == (2_363_344, 2_603, ("SET", "OF", "BAG"))
    assert (brown.n, brown.domain_size, brown.labels[:2]) == (1_013_320, 49_797, ("the", "of"))
    oracle = fldp.FHR(1.0, online.domain_size)
    assert fldp.simulate(fldp.OUE(1.0, online.domain_size), online.counts, rng=1).n == online.n
    assert oracle.domain_size == 2_603


@real_files
def test_the_real_corpus_gives_the_prepared_counts():
    folder = Path(os.environ["FLDP_DATA"])
    if not (folder / "brown.zip").is_file():
        pytest.skip("no brown.zip")
    population = Population.of("brown", corpora.count_words(corpora.check(folder / "brown.zip", corpora.BROWN)))
    prepared = counted.read_counts(folder / "brown_counts.csv.gz", "brown")
    assert (population.labels, population.digest) == (prepared.labels, prepared.digest)
