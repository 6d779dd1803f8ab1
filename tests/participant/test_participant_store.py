import copy
import gzip
import hashlib
import os
import pickle
import sqlite3
import stat
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from fldp import FldpError, Limits, Participant, Spent
from fldp.participant import notes
from fldp.participant.ledger import Charge, Ledger, Refusals
from fldp.participant.sqlite_store import FileStore
from fldp.participant.text_files import ChanceFile
from fldp.participant_store import MemoryStore, Store
from support import careless_sqlite
from support.participant_surveys import ORIGIN, WIDE, specification


def charge(number=0, origin=ORIGIN):
    return Charge(origin, "t", f"{number:064}", Spent(Fraction(1, 10), Fraction(1, 2), 1), "f0", 5, "2026-11-01")


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else FileStore(tmp_path / "answers.db")


def test_what_is_replaced_is_overwritten(tmp_path, monkeypatch):
    careless_sqlite.use(monkeypatch)
    file = FileStore(tmp_path / "answers.db")
    with file.exclusive() as book:
        book.add(charge(), b"first" * 100)
    assert b"firstfirst" in file.path.read_bytes()
    with file.exclusive() as book:
        book.replace(charge(), b"second")
    assert b"firstfirst" not in file.path.read_bytes()


@contextmanager
def edited(path):
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


def answered(path):
    return Participant(path).answer(specification(), "firefox", origin=ORIGIN)


def test_what_was_added_is_there(store):
    assert isinstance(store, Store)
    with store.exclusive() as book:
        assert book.ledger == Ledger()
        assert book.find(ORIGIN, charge().version) is None
        book.add(charge(), b"\x00\xff")
        book.add(charge(1), b"")
        assert book.ledger == Ledger((charge(), charge(1)))
    with store.exclusive() as book:
        assert book.ledger == Ledger((charge(), charge(1)))
        assert book.find(ORIGIN, charge().version) == b"\x00\xff"
        assert book.find(ORIGIN, charge(1).version) == b""
        assert book.find("https://other.example", charge().version) is None


def test_refusals_are_counted(store):
    with store.exclusive() as book:
        assert book.refusals == ()
        book.refuse(ORIGIN, "2026-11-01")
        book.refuse("https://other.example", "2026-11-01")
    with store.exclusive() as book:
        book.refuse(ORIGIN, "2026-11-02")
        expected = (Refusals(ORIGIN, 2, "2026-11-02"), Refusals("https://other.example", 1, "2026-11-01"))
        assert book.refusals == expected
    with store.exclusive() as book:
        assert book.refusals == expected
        assert book.ledger == Ledger()


@pytest.mark.parametrize("error", [ValueError, FldpError, KeyboardInterrupt])
def test_an_exception_undoes_all(store, error):
    def work():
        with store.exclusive() as book:
            book.add(charge(), b"x")
            book.refuse(ORIGIN, "2026-11-01")
            raise error

    with pytest.raises(error):
        work()
    with store.exclusive() as book:
        assert book.ledger == Ledger()
        assert book.refusals == ()
        assert book.find(ORIGIN, charge().version) is None


def test_one_thread_at_a_time(store):
    inside, most = [0], [0]

    def work(number):
        with store.exclusive() as book:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            before = len(book.ledger.charges)
            time.sleep(0.005)  # long enough for another to come in, if it could
            book.add(charge(number), b"x")
            assert len(book.ledger.charges) == before + 1
            inside[0] -= 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    with store.exclusive() as book:
        assert len(book.ledger.charges) == 12


def test_a_store_in_memory_stays_in_its_process(monkeypatch):
    store = MemoryStore()
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(FldpError, match="cannot be copied"):
            action(store)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(FldpError, match="cannot be shared with another process"), store.exclusive():
        pass


def test_a_file_is_of_its_owner_and_synchronous(tmp_path):
    path = tmp_path / "answers.db"
    old = os.umask(0)
    try:
        first = answered(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["answers.db"]  # no journal, nothing half made
    with FileStore(path).exclusive() as rows:
        assert rows._connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert rows._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert pickle.loads(pickle.dumps(FileStore(path))).path == path
    assert answered(path).report == first.report


def test_names_that_are_no_addresses(tmp_path):
    path = tmp_path / "a ?mode=ro&x#y%20é.db"
    assert answered(path).report == answered(str(path)).report
    assert path.exists()


def test_a_relative_name_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    participant = Participant("answers.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    participant.answer(specification(), "firefox", origin=ORIGIN)
    assert (tmp_path / "answers.db").exists()
    assert not (tmp_path / "elsewhere" / "answers.db").exists()


def damaged_files(path):
    """Write what is not a ledger, each with what the message must say."""
    answered(path)
    whole = path.read_bytes()
    for content, message in (
        (b"", "is not a ledger of fldp"),
        (b"Dear diary, today I used firefox.", "is damaged or of another kind"),
        (whole[: len(whole) // 2], "is damaged"),
        (whole[:4096] + bytes(len(whole) - 4096), "is damaged"),
        (bytes(len(whole)), "is damaged or of another kind"),
    ):
        path.write_bytes(content)
        yield content, message


def test_a_damaged_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "answers.db"
    for content, message in damaged_files(path):
        with pytest.raises(FldpError, match=rf"^{path}: {message}[^\n]*$"):
            answered(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("PRAGMA user_version = 1", "has schema 1, this version of fldp reads 2, 3 and 4$"),
        ("PRAGMA user_version = 2", "is damaged"),
        ("PRAGMA user_version = 3", "is damaged"),
        ("PRAGMA user_version = 5", "has schema 5, this version of fldp reads 2, 3 and 4$"),
        ("UPDATE beginning SET born = 'long ago'", "is damaged"),
        ("UPDATE beginning SET born = x'ff'", "is damaged"),
        ("DELETE FROM beginning", "is damaged"),
        ("UPDATE answers SET epoch = '2026-13'", "is damaged"),
        ("UPDATE answers SET epoch = x'ff'", "is damaged"),
        ("UPDATE answers SET renews = 1", "is damaged"),  # without an epoch
        ("UPDATE answers SET epoch = '2026-11', renews = 2", "is damaged"),
        ("INSERT INTO refusals (origin, count, day) VALUES ('o', 'often', 'd')", "is damaged"),
        ("INSERT INTO refusals (origin, count, day) VALUES (x'ff', 1, 'd')", "is damaged"),
        ("PRAGMA application_id = 7", "is not a ledger of fldp"),
        ("DROP TABLE answers", "is damaged"),
        ("UPDATE answers SET epsilon = 'much'", "is damaged"),
        ("UPDATE answers SET epsilon = '0'", "is damaged"),
        ("UPDATE answers SET epsilon = '-1'", "is damaged"),
        ("UPDATE answers SET eta = '3/2'", "is damaged"),
        ("UPDATE answers SET eta = '1/0'", "is damaged"),
        ("UPDATE answers SET eta = x'31'", "is damaged"),
        ("UPDATE answers SET size = 'five'", "is damaged"),
        ("UPDATE answers SET topic = 7.5", None),  # text by the column's affinity: another topic, no damage
        ("UPDATE answers SET topic = x'ff'", "is damaged"),
        ("UPDATE answers SET kept = 'text'", "is damaged"),
        ("UPDATE answers SET kept = x''", "the stored answer to survey browser is damaged"),
        (
            "UPDATE answers SET kept = substr(kept, 1, length(kept) - 1)",
            "the stored answer to survey browser is damaged",
        ),
        (
            "UPDATE answers SET kept = CAST(zeroblob(8) || substr(kept, 9) AS BLOB)",  # the key
            "the stored answer to survey browser is damaged",
        ),
        ("UPDATE answers SET kept = CAST(kept || x'00' AS BLOB)", "the stored answer to survey browser is damaged"),
    ],
)
def test_a_damaged_row_is_never_drawn_again(tmp_path, edit, message):
    path = tmp_path / "answers.db"
    first = answered(path)
    with edited(path) as connection:
        connection.execute(edit)
    content = path.read_bytes()
    if message is None:
        assert answered(path).report == first.report
        return
    with pytest.raises(FldpError, match=message) as error:
        answered(path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "edit",
    [
        "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
        "CREATE TRIGGER answers BEFORE UPDATE ON answers BEGIN SELECT 1; END",
        "CREATE TABLE other (number INTEGER)",
        "CREATE VIEW other AS SELECT * FROM answers",
        "CREATE INDEX other ON answers (topic)",
        "ALTER TABLE answers ADD COLUMN note TEXT",
        "ALTER TABLE answers RENAME TO old; CREATE VIEW answers AS SELECT * FROM old",
        "CREATE TABLE new AS SELECT * FROM answers; DROP TABLE answers; ALTER TABLE new RENAME TO answers",
    ],
)
def test_what_is_not_ours_in_the_file_is_damage(tmp_path, edit):
    """At opening, and at the next use of what was opened before."""
    path = tmp_path / "answers.db"
    participant = Participant(path)
    participant.answer(specification(), "firefox", origin=ORIGIN)
    with edited(path) as connection:
        connection.executescript(edit)
    content = path.read_bytes()
    for action in (participant.history, lambda: Participant(path)):
        with pytest.raises(FldpError, match=rf"^{path}: is damaged; restore it from a copy$"):
            action()
    assert path.read_bytes() == content


def test_a_file_that_was_made_compact_is_still_ours(tmp_path):
    path = tmp_path / "answers.db"
    first = answered(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("VACUUM")
    assert answered(path).report == first.report


def test_a_lost_entry_of_the_index_is_never_drawn_again(tmp_path):
    """The answer is in the table, and looking it up does not find it."""
    path = tmp_path / "answers.db"
    participant = Participant(path)
    participant.answer(specification(), "firefox", origin=ORIGIN)
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    empty = bytes([10, 0, 0, 0, 0, size >> 8, size & 255, 0])  # the header of an index page without cells
    content[(root - 1) * size : root * size] = empty.ljust(size, b"\0")
    path.write_bytes(content)
    with participant._store.exclusive() as rows:
        assert rows.find(ORIGIN, rows.ledger.charges[0].version) is None
    with pytest.raises(FldpError, match="the stored answer to survey browser is damaged"):
        participant.answer(specification(), "firefox", origin=ORIGIN)
    with pytest.raises(FldpError, match=rf"^{path}: is damaged; restore it from a copy$"):
        Participant(path)
    assert path.read_bytes() == content


def test_an_answer_to_something_else_is_never_given(tmp_path):
    """The batch of another version under this one's name is damage too."""
    path = tmp_path / "answers.db"
    participant = Participant(path, limits=WIDE)
    for number in (0, 1):
        participant.answer(specification(number), "firefox", origin=ORIGIN)
    with edited(path) as connection:
        connection.execute("UPDATE answers SET kept = (SELECT kept FROM answers WHERE number = 2)")
    with pytest.raises(FldpError, match="the stored answer to survey browser is damaged; restore it from a copy"):
        participant.answer(specification(0), "firefox", origin=ORIGIN)
    assert participant.answer(specification(1), "firefox", origin=ORIGIN).repeated


def test_places_where_no_file_can_be(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "answers.db")
    for name, message in (
        ("nowhere/answers.db", "cannot be created: No such file or directory"),
        ("folder", "cannot be opened: it, or the folder it is in, is missing or is not yours"),
        ("dangling", "cannot be opened"),
        ("x" * 300, "cannot be created: File name too long"),
    ):
        with pytest.raises(FldpError, match=rf"^{tmp_path / name}: {message}"):
            Participant(tmp_path / name)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800", "\0"])
def test_names_that_no_file_can_have(tmp_path, name):
    for path in (str(tmp_path / name), tmp_path / name):
        with pytest.raises(FldpError, match=r"^FileStore: path must be a name that a file can have, got '") as error:
            Participant(path)
        assert str(error.value).isprintable()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_vanishes_is_not_made_anew(tmp_path):
    path = tmp_path / "answers.db"
    participant = Participant(path)
    participant.answer(specification(), "firefox", origin=ORIGIN)
    path.unlink()
    with pytest.raises(FldpError, match="cannot be opened"):
        participant.answer(specification(), "firefox", origin=ORIGIN)
    assert not path.exists()


def test_a_file_in_use(tmp_path):
    path = tmp_path / "answers.db"
    first = answered(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            FldpError, match=rf"^{path}: is in use by another process, try again \(SQLite: 'database is locked'\)$"
        ):
            Participant(FileStore(path, patience=0.05))
        other.execute("ROLLBACK")
    assert answered(path).report == first.report


def test_a_reader_at_the_moment_of_commit(tmp_path):
    """The commit fails, so nothing is given out and nothing is spent."""
    path = tmp_path / "answers.db"
    participant = Participant(FileStore(path, patience=0.05))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM answers").fetchall()
        with pytest.raises(FldpError, match="is in use by another process, try again"):
            participant.answer(specification(), "firefox", origin=ORIGIN)
    assert participant.history() == ()
    assert not participant.answer(specification(), "firefox", origin=ORIGIN).repeated


def test_a_file_that_cannot_be_written():
    with tempfile.TemporaryDirectory() as folder, as_nobody(folder):
        path = Path(folder) / "answers.db"
        first = answered(path)
        os.chmod(path, 0o400)
        os.chmod(folder, 0o500)
        assert answered(path).report == first.report
        with pytest.raises(
            FldpError, match=rf"^{path}: cannot be written \(SQLite: 'attempt to write a readonly database'\)$"
        ):
            Participant(path).answer(specification(1), "firefox", origin=ORIGIN)
        with pytest.raises(FldpError, match=r"other.db: cannot be created: Permission denied$"):
            answered(Path(folder) / "other.db")
        os.chmod(path, 0)
        with pytest.raises(FldpError, match=r"answers.db: cannot be opened"):
            answered(path)
        os.chmod(folder, 0)
        with pytest.raises(FldpError, match=r"answers.db: cannot be created: Permission denied$"):
            answered(path)
        os.chmod(folder, 0o700)


@contextmanager
def as_nobody(folder):
    """Be somebody whom permissions apply to."""
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, -1)
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_full_disk(tmp_path):
    """What cannot be kept is not given out."""
    path = tmp_path / "answers.db"

    class Full(FileStore):
        def _connect(self):
            connection = super()._connect()
            connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the pages in use, and not one more
            return connection

    participant, answers = Participant(Full(path), limits=WIDE), []

    def fill():
        while True:
            answers.append(participant.answer(specification(len(answers)), "firefox", origin=ORIGIN))

    with pytest.raises(FldpError, match=rf"^{path}: cannot be written: the disk is full \(SQLite: "):
        fill()
    assert len(Participant(path).history()) == len(answers) > 1
    for number, answer in enumerate(answers):
        assert participant.answer(specification(number), "firefox", origin=ORIGIN).report == answer.report


# --- files of an earlier schema

SCHEMA_2 = """CREATE TABLE answers (
    number  INTEGER PRIMARY KEY,  -- the order of answering
    origin  TEXT NOT NULL,        -- whom it was given to
    topic   TEXT NOT NULL,
    version TEXT NOT NULL,        -- of the survey
    epsilon TEXT NOT NULL,        -- a fraction, as is eta
    eta     TEXT NOT NULL,
    labels  TEXT NOT NULL,        -- identifies the set of labels
    size    INTEGER NOT NULL,     -- the number of labels
    day     TEXT NOT NULL,        -- in UTC
    kept    BLOB NOT NULL,        -- what is repeated: the batch that was sent and its key, never the true value
    UNIQUE (origin, version)
)"""


def older(path):
    """Write the same answers as an earlier version of fldp did, and return the file."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT number, origin, topic, version, epsilon, eta, labels, size, day, kept FROM answers ORDER BY number"
        ).fetchall()
    old = path.with_name("older.db")
    with edited(old) as connection:
        connection.executescript(f"{SCHEMA_2}; PRAGMA application_id = {0x666C6470}; PRAGMA user_version = 2;")
        connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return old


def schema(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_an_older_file_keeps_its_answers_and_is_changed_by_the_first_write(tmp_path):
    first = answered(tmp_path / "answers.db")
    old = older(tmp_path / "answers.db")
    content, person = old.read_bytes(), Participant(old)
    assert person.refusals() == ()
    (entry,) = person.history()
    assert (entry.topic, entry.name) == ("browser", "browser")
    again = answered(old)
    assert (again.report, again.key, again.repeated) == (first.report, first.key, True)
    assert old.read_bytes() == content  # what is only read stays as it is
    person.answer(specification(1), "firefox", origin=ORIGIN)
    assert schema(old) == 4
    assert person.history()[0] == entry
    assert [charge.name for charge in person.history()] == ["browser", "browser"]
    assert answered(old).report == first.report
    with pytest.raises(FldpError, match="an epsilon of at most 2 together, got 3"):
        person.answer(specification(2), "firefox", origin=ORIGIN)
    assert [refused.count for refused in Participant(old).refusals()] == [1]


def test_an_older_file_is_changed_by_the_first_refusal(tmp_path):
    first = answered(tmp_path / "answers.db")
    old = older(tmp_path / "answers.db")
    changed = specification(labels=["firefox", "chrome", "lynx"], topic="another")
    with pytest.raises(FldpError, match="its labels have changed since"):  # known by its name, whatever the topic
        Participant(old).answer(changed, "firefox", origin=ORIGIN)
    assert schema(old) == 4
    assert [refused.count for refused in Participant(old).refusals()] == [1]
    assert answered(old).report == first.report


def test_an_older_file_that_cannot_be_changed_is_left_whole(tmp_path):
    """The step to the new schema is part of the transaction: an error undoes it."""
    answered(tmp_path / "answers.db")
    old = older(tmp_path / "answers.db")
    store = FileStore(old)

    def fail():
        with store.exclusive() as book:
            book.add(charge(), b"x")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert schema(old) == 2
    assert len(Participant(old).history()) == 1
    with edited(old) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END")
    with pytest.raises(FldpError, match="is damaged"):
        Participant(old)


STORED = Path(__file__).parents[1] / "support" / "stored"
HOMEPAGE = {
    "name": "homepage",
    "question": "Which page?",
    "domain": "strings",
    "oracle": {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0},
    "collect": {"repeat": "daily"},
}
SAID = {  # what the release that wrote the file returned: hashes of each report with its key
    2: ["36e43f0ec2f24cf9", "c4c2ab4e43a55c40", "76142d1029559abf"],
    3: ["70cc26ee0737a465", "65f0b5af2a2fe51c", "852cc27678606b56"],
}


@pytest.mark.parametrize("number", [2, 3])
def test_files_of_earlier_releases(tmp_path, monkeypatch, number):
    """Two files that earlier releases wrote on 2026-11-16: three answers, and in the later one a refusal."""
    path = tmp_path / "answers.db"
    path.write_bytes(content := gzip.decompress((STORED / f"ledger_{number}.db.gz").read_bytes()))
    monkeypatch.setattr("fldp.participant.participant._today", lambda: "2026-11-16")
    monkeypatch.setattr("fldp.participant.epochs.today", lambda: "2027-03-10")
    person = Participant(path, limits=Limits.renewing())

    def again():
        tabs = specification(1, topic="tabs")
        for fields, origin in ((specification(), ORIGIN), (HOMEPAGE, ORIGIN), (tabs, "https://other.example")):
            answer = person.answer(fields, "edge", origin=origin)
            assert answer.repeated
            yield hashlib.sha256(answer.report + answer.key.encode()).hexdigest()[:16]

    assert list(again()) == SAID[number]
    history = person.history()
    assert [(c.topic, c.cost.epsilon, c.epoch, c.renews) for c in history] == [
        ("browser", 1, "", False),
        ("homepage", 2, "", False),
        ("tabs", 1, "", False),
    ]
    assert path.read_bytes() == content
    monthly = specification(collect={"repeat": "monthly"})
    monkeypatch.setattr("fldp.participant.participant._today", lambda: "2027-03-10")
    with pytest.raises(FldpError, match="the ledger began on 2027-03-10"):  # when it was first written in this form
        person.answer(monthly, "edge", origin=ORIGIN)
    assert schema(path) == 4
    assert person.history() == history
    assert sum(refused.count for refused in person.refusals()) == number - 1
    monkeypatch.setattr("fldp.participant.participant._today", lambda: "2026-11-16")
    assert list(again()) == SAID[number]
    monkeypatch.setattr("fldp.participant.participant._today", lambda: "2027-04-01")
    assert not person.answer(monthly, "edge", origin=ORIGIN).repeated
    assert Participant(path).history() == (*history, person.history()[-1])
    with pytest.raises(FldpError, match=r"an epsilon of at most 4 together, got 4.5"):  # limits count as before
        person.answer(
            specification(7, oracle={"name": "olh", "epsilon": 1.5}, topic="t", name="t"), "edge", origin=ORIGIN
        )


def test_a_refusal_that_cannot_be_counted_is_still_said(tmp_path):
    with tempfile.TemporaryDirectory() as folder, as_nobody(folder):
        path = Path(folder) / "answers.db"
        answered(path)
        os.chmod(path, 0o400)
        os.chmod(folder, 0o500)
        with pytest.raises(FldpError, match="must have an epsilon of at most 2 together"):
            Participant(path).answer(specification(oracle={"name": "olh", "epsilon": 9}), "firefox", origin=ORIGIN)
        os.chmod(folder, 0o700)
        assert Participant(path).refusals() == ()


def test_when_an_answer_is_due_is_drawn_once(store, monkeypatch):
    """Also after the program was interrupted; a clock that was set back makes nobody wait for longer."""
    now = 1_000_000.0
    monkeypatch.setattr(notes.time, "time", lambda: now)
    moment = notes.due(store, (ORIGIN, "v"), "key", 60)
    assert now <= moment <= now + 60
    assert notes.due(store, (ORIGIN, "v"), "key", 60) == moment
    assert len({notes.due(store, (ORIGIN, "v"), f"key {k}", 60) for k in range(5)}) == 5
    now -= 500_000
    with store.exclusive() as book:
        book.keep_note(ORIGIN, "due v", f'["key", {moment}]')
    assert notes.due(store, (ORIGIN, "v"), "key", 60) == now + 60
    with store.exclusive() as book:
        book.keep_note(ORIGIN, "due v", "[1, 2, 3]")
    assert now <= notes.due(store, (ORIGIN, "v"), "key", 60) <= now + 60


def test_texts_that_cannot_be_read_or_written_are_named_with_the_reason(tmp_path):
    texts = ChanceFile(tmp_path / "missing" / "answers.db.chances")
    with pytest.raises(FldpError, match=r"answers\.db\.chances: cannot be written: No such file or directory"):
        texts.add("https://a.example", "00", 7)
    with pytest.raises(FldpError, match="cannot be read: Is a directory"):
        ChanceFile(tmp_path).find("https://a.example", "00")


def test_a_store_of_ones_own_need_not_keep_notes():
    """Then nothing says what went through a relay, and the moment of an answer is drawn anew."""

    class Plain:
        @contextmanager
        def exclusive(self):
            yield object()

    notes.keep_relayed(Plain(), ORIGIN, "00")
    assert not notes.is_relayed(Plain(), ORIGIN, "00")
    now = time.time()
    moments = {notes.due(Plain(), (ORIGIN, "00"), "key", 1e6) for _ in range(5)}
    assert len(moments) == 5
    assert all(now <= moment <= time.time() + 1e6 for moment in moments)


def test_a_file_that_is_no_database_is_closed(tmp_path, monkeypatch):
    """Python 3.13 and newer warn of what is not, whenever it is collected."""
    opened, closed, connect = [], [], sqlite3.connect

    class Watched(sqlite3.Connection):
        def close(self):
            closed.append(self)
            super().close()

    def watched(*arguments, **options):
        opened.append(connect(*arguments, **options, factory=Watched))
        return opened[-1]

    path = tmp_path / "answers.db"
    path.write_bytes(b"no database" * 1000)
    monkeypatch.setattr(sqlite3, "connect", watched)
    with pytest.raises(FldpError), FileStore(path).exclusive():
        pass
    assert opened
    assert closed == opened
