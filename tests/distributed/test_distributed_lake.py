"""Finding the files of a lake, and telling what is wrong with them."""

import io
import os
import pickle
import random
import zipfile
from functools import reduce
from operator import add

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp import FldpError, ParameterError, WireError
from fldp.distributed import Bad, PartialTally, tally
from fldp.distributed.lake.layout import Piece, Window, day_file, find
from fldp.distributed.lake.partial_tally import MAX_LISTED
from fldp.distributed.lake.scan import Job, job_for, scan
from fldp.wire import parquet
from support.lake_files import FAMILIES, ONE, ORACLE, OTHER, flipped, reports, save


def put(path, columns, **options):
    """Write columns as another program would: without metadata of ours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)


def columns(data):
    return {name: data[name] for name in data.dtype.names}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    root = tmp_path_factory.mktemp("lake")
    for seed, survey, day in ((1, ONE, 1), (2, ONE, 2), (3, ONE, 3), (4, OTHER, 2)):
        save(day_file(root, survey, f"2026-11-0{day}"), seed=seed, survey=survey)
    (root / "_SUCCESS").touch()
    save(root / "_temporary" / "0.parquet", survey=ONE)
    save(root / f"survey={ONE}" / "day=2026-11-01" / ".hidden.parquet", survey=ONE)
    return root


def names(pieces, root):
    return [piece.path.removeprefix(f"{root}/").replace(ONE, "1").replace(OTHER, "2") for piece in pieces]


def test_a_folder_is_searched_but_for_what_engines_pass_over(lake):
    listed = names(find(lake), lake)
    assert listed == [
        "survey=1/day=2026-11-01/reports.parquet",
        "survey=1/day=2026-11-02/reports.parquet",
        "survey=1/day=2026-11-03/reports.parquet",
        "survey=2/day=2026-11-02/reports.parquet",
    ]


def test_a_file_is_found_once_however_often_it_is_named(lake, tmp_path):
    os.symlink(lake / f"survey={ONE}", tmp_path / "link")
    os.symlink(tmp_path, tmp_path / "circle")
    day = f"{lake}/survey={ONE}/day=2026-11-02"
    sources = [lake, f"{lake}/*", f"{day}/reports.parquet", f"{day}/../day=2026-11-02", f"file://{day}", tmp_path]
    assert len(find([*sources, f"{lake}/**/*.parquet"])) == 4
    assert names(find(f"{lake}/survey=*/day=2026-11-02/*.parquet"), lake) == [
        "survey=1/day=2026-11-02/reports.parquet",
        "survey=2/day=2026-11-02/reports.parquet",
    ]


def test_a_file_may_be_named_by_what_looks_like_a_pattern(tmp_path):
    save(tmp_path / "a[1]" / "x.parquet")
    save(tmp_path / "a1" / "y.parquet")
    assert names(find(tmp_path / "a[1]"), tmp_path) == ["a[1]/x.parquet"]


def test_folders_choose_the_survey_and_the_days(lake):
    assert len(find(lake, Window.of(ONE, None, None))) == 3
    assert names(find(lake, Window.of(None, "2026-11-02", "2026-11-02")), lake) == [
        "survey=1/day=2026-11-02/reports.parquet",
        "survey=2/day=2026-11-02/reports.parquet",
    ]
    with pytest.raises(ParameterError, match=r"^lake: since must be a day such as 2026-11-01, got 'yesterday'$"):
        find(lake, Window.of(None, "yesterday", None))


def test_what_folders_do_not_tell_is_not_guessed(tmp_path):
    save(tmp_path / "x.parquet")
    with pytest.raises(FldpError, match=r"x.parquet: lies in no folder day=YYYY-MM-DD"):
        find(tmp_path, Window.of(None, "2026-11-02", None))
    save(tmp_path / "day=today" / "x.parquet")
    with pytest.raises(FldpError, match=r"the folder must be day=YYYY-MM-DD, got day=today$"):
        find(tmp_path / "day=today", Window.of(None, "2026-11-02", None))


def test_nothing_to_read_is_an_error(tmp_path):
    for source in (tmp_path, f"{tmp_path}/*.parquet"):
        with pytest.raises(FldpError, match=r"^lake: there is no file of reports in "):
            find(source)
    with pytest.raises(FldpError, match=r"no: cannot be read: No such file or directory$"):
        find(tmp_path / "no")


def test_several_surveys_are_named_and_one_is_chosen(lake):
    with pytest.raises(ParameterError, match=f"^lake: holds 2 survey versions, choose one of {ONE}, {OTHER}$"):
        tally(lake)
    assert tally(lake, survey=OTHER).tally == ORACLE.tally(reports(100, 4))
    result = tally(lake, survey=ONE, since="2026-11-02")
    assert (result.survey, result.tally) == (ONE, ORACLE.tally(reports(100, 2)) + ORACLE.tally(reports(100, 3)))


def test_a_folder_that_says_otherwise_than_the_file_is_an_error(tmp_path):
    save(day_file(tmp_path, ONE, "2026-11-01"), survey=OTHER)
    with pytest.raises(
        WireError, match=f"reports.parquet: parquet: for survey version {OTHER}, where {ONE} is expected$"
    ):
        tally(tmp_path, ORACLE)
    with pytest.raises(ParameterError, match=r"the metadata name no oracle"):  # none of that survey
        tally(tmp_path)


def test_a_large_file_is_pieces_that_are_the_same_whole(tmp_path):
    saved = save(tmp_path / "x.parquet", 1000, group=64)
    whole = ORACLE.tally(saved)
    for size in (1 << 23, 1500, 300):  # one piece, a few, more than there are row groups
        pieces = find(tmp_path, size=size)
        job = job_for(pieces, None, None, skip_bad=False)
        parts = [scan([piece], job) for piece in pickle.loads(pickle.dumps(pieces))]
        random.Random(size).shuffle(parts)
        assert reduce(add, pickle.loads(pickle.dumps(parts))).tally() == whole == scan(pieces, job).tally()
        assert sum(part.n for part in parts) == 1000


def test_parts_merge_in_any_order_to_the_same():
    def part(seed):
        draw = random.Random(seed)
        bad = tuple(sorted(Bad(f"{draw.random()}", k, 1, "is bad") for k in range(60)))
        state = np.random.default_rng(seed).integers(-9, 9, ORACLE.tally_format.shape) if seed else None
        return PartialTally(ORACLE, ONE, state, seed, bad, 60, seed)

    parts = [part(seed) for seed in range(4)]
    left = reduce(add, parts)
    right = parts[3] + ((parts[2] + parts[0]) + parts[1])
    assert np.array_equal(left.state, right.state)
    assert (left.n, left.bad, left.bad_rows, left.bad_files) == (right.n, right.bad, right.bad_rows, right.bad_files)
    assert (len(left.bad), left.bad_rows) == (MAX_LISTED, 240)
    with pytest.raises(fldp.MergeError):
        _ = parts[0] + PartialTally(ORACLE, OTHER)


def test_a_file_that_was_replaced_is_noticed(tmp_path):
    save(tmp_path / "x.parquet", 100)
    pieces = find(tmp_path)
    save(tmp_path / "x.parquet", 101)
    with pytest.raises(FldpError, match=r"x.parquet: has changed since it was listed$"):
        scan(pieces, Job(ORACLE))


# -- what is wrong with files and rows ------------------------------------------------------------------------


def changed(name, rows, kind):
    """Return columns of reports in which some numbers are others."""
    data = columns(reports(100).data)
    numbers = data[name].astype(object)
    for row, value in rows.items():
        numbers[row] = value
    return {**data, name: pa.array(numbers.tolist(), kind)}


def missing_and_impossible():
    kind = pa.uint16()
    return {**changed("plus", {7: None}, kind), "minus": changed("minus", {7: 600}, kind)["minus"]}


BAD_ROWS = {
    "both": (missing_and_impossible, {7: "has a missing number"}),
    "range": (lambda: changed("minus", {4: 512}, pa.uint16()), {4: "can produce"}),
    "null": (lambda: changed("plus", {7: None}, pa.uint16()), {7: "has a missing number"}),
    "wide": (lambda: changed("minus", {3: 70000, 99: -1}, pa.int64()), {3: "does not fit", 99: "does not fit"}),
    "decimal": (lambda: changed("plus", {5: 1 << 66}, pa.decimal128(38, 0)), {5: "does not fit"}),
    "impossible": (lambda: changed("plus", {0: 512, 8: None}, pa.int32()), {0: "can produce", 8: "missing"}),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_is_named(tmp_path, case):
    make, rows = BAD_ROWS[case]
    put(tmp_path / "a.parquet", columns(reports(50).data))
    put(tmp_path / "b.parquet", make(), row_group_size=30)
    first = min(rows)
    with pytest.raises(WireError, match=rf"b.parquet: row {first} .*{rows[first]}"):
        tally(tmp_path, ORACLE)
    result = tally(tmp_path, ORACLE, skip_bad=True)
    assert [(bad.row, bad.rows) for bad in result.bad] == [(row, 1) for row in rows]
    assert all(reason in bad.reason for bad, reason in zip(result.bad, rows.values(), strict=True))
    assert (result.bad_rows, result.bad_files) == (len(rows), 0)
    rest = np.delete(reports(100).data, list(rows))
    assert result.tally == ORACLE.tally(reports(50)) + ORACLE.tally(rest)


def spoil(path, case):
    if case == "not parquet":
        path.write_text("plus,minus\n1,2\n")
    elif case == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif case == "empty":
        path.write_bytes(b"")
    elif case == "another oracle":
        save(path, oracle=fldp.FHR(epsilon=2.0, domain_size=300))
    elif case == "another survey":
        save(path, survey=OTHER)
    elif case == "another format":
        table = pq.read_table(path)
        pq.write_table(table.replace_schema_metadata({"fldp": '{"oracle": {"name": "no such"}}'}), path)
    else:
        data = columns(reports(100).data)
        plus, minus = data.values()
        wrong = {
            "fewer": ([plus], ["plus"]),
            "text": ([plus, ["1"] * 100], ["plus", "minus"]),
            "floats": ([plus, minus.astype(float)], ["plus", "minus"]),
            "twice": ([plus, minus, plus], ["plus", "minus", "plus"]),
        }
        pq.write_table(pa.table(*wrong[case]), path)


FILES = [
    "not parquet",
    "cut",
    "empty",
    "another oracle",
    "another survey",
    "another format",
    "fewer",
    "text",
    "floats",
    "twice",
]


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("size", [1 << 23, 100])
def test_a_bad_file_is_named_once(tmp_path, case, size):
    """However many pieces it is."""
    saved = [save(tmp_path / f"{name}.parquet", seed=seed) for seed, name in enumerate("abc")]
    spoil(tmp_path / "b.parquet", case)
    pieces = find(tmp_path, size=size)
    with pytest.raises(WireError, match=r"^/.*b.parquet: parquet: [^\n]*$"):
        scan(pieces, Job(ORACLE, foreign=True)).result(skip_bad=False)
    result = scan(pieces, Job(ORACLE, skip_bad=True, foreign=True)).result(skip_bad=True)
    assert result.tally == ORACLE.tally(saved[0]) + ORACLE.tally(saved[2])
    assert [(bad.row, bad.rows) for bad in result.bad] == [(-1, 0)]
    assert (result.bad_rows, result.bad_files) == (0, 1)


@pytest.mark.parametrize("size", [1 << 23, 200])
def test_a_flipped_bit_costs_its_row_group_and_no_more(tmp_path, size):
    """However the file was split: the checksum of the page tells."""
    saved = save(tmp_path / "x.parquet", 400, group=100)
    page = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(2).column(1)
    flipped(tmp_path / "x.parquet", page.dictionary_page_offset + page.total_compressed_size * 2 // 3)
    pieces = find(tmp_path, size=size)
    with pytest.raises(WireError, match=r"x.parquet: rows 200 to 299 parquet: cannot be read: .*CRC"):
        scan(pieces, Job(ORACLE)).result(skip_bad=False)
    partial = reduce(add, (scan([piece], Job(ORACLE, skip_bad=True)) for piece in pieces))
    assert partial.tally() == ORACLE.tally(saved[:200]) + ORACLE.tally(saved[300:])
    assert (len(partial.bad), partial.bad_rows, partial.bad_files) == (1, 100, 0)


def test_rows_before_the_damage_do_not_count_either(tmp_path, monkeypatch):
    """How many can still be read of a row group would depend on the batches."""
    monkeypatch.setattr("fldp.wire.parquet._MAX_ROWS", 50)
    data = columns(reports(2000).data)
    layout = {"row_group_size": 1000, "data_page_size": 100, "write_batch_size": 50, "use_dictionary": False}
    put(tmp_path / "x.parquet", data, write_page_checksum=True, **layout)
    page = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(1)
    flipped(tmp_path / "x.parquet", page.data_page_offset + page.total_compressed_size - 9)
    first = next(pq.ParquetFile(tmp_path / "x.parquet", page_checksum_verification=True).iter_batches(50))
    assert len(first) == 50  # the beginning can be read
    result = tally(tmp_path, ORACLE, skip_bad=True)
    assert (result.tally, result.bad_rows) == (ORACLE.tally(reports(2000).data[1000:]), 1000)
    with pytest.raises(WireError, match=r"x.parquet: rows 0 to 999 parquet: cannot be read: .*CRC"):
        tally(tmp_path, ORACLE)


def test_the_list_of_bad_rows_is_short_and_their_number_is_not(tmp_path):
    put(tmp_path / "x.parquet", {"plus": [9] * 1000, "minus": [9] * 999 + [8]})
    result = tally(tmp_path, ORACLE, skip_bad=True)
    assert (result.tally.n, len(result.bad), result.bad_rows) == (1, MAX_LISTED, 999)


def test_bad_ones_are_skipped_only_where_good_ones_are_known(tmp_path):
    save(tmp_path / "x.parquet")
    with pytest.raises(ParameterError, match=r"^lake: skip_bad needs to know which reports are valid"):
        tally(tmp_path, skip_bad=True)
    path = day_file(tmp_path / "lake", ONE, "2026-11-02")
    saved = save(path, survey=ONE)
    (path.parent / "a.parquet").write_text("damaged")  # the first file that can be read names the oracle
    result = tally(tmp_path / "lake", skip_bad=True)
    assert (result.tally, result.bad_files) == (ORACLE.tally(saved), 1)


# -- files of other programs -----------------------------------------------------------------------------------


def as_spark(table):
    """Return a table in the types that Spark reads ours as, and writes."""
    kinds = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.decimal128(20, 0)}
    fields = [(field.name, kinds.get(str(field.type), pa.binary())) for field in table.schema]
    return pa.table([table[name].cast(kind) for name, kind in fields], pa.schema(fields))


@pytest.mark.parametrize("oracle", FAMILIES, ids=lambda oracle: oracle.name)
def test_types_of_other_programs_are_read(tmp_path, oracle):
    saved = save(tmp_path / "x.parquet", oracle=oracle)
    own = pq.read_table(tmp_path / "x.parquet")
    foreign = as_spark(own).append_column("country", pa.array(["at"] * 100))
    pq.write_table(foreign.select(foreign.column_names[::-1]), tmp_path / "y.parquet")
    wanted = oracle.tally(saved)
    assert tally(tmp_path / "x.parquet").tally == tally(tmp_path / "y.parquet", oracle).tally == wanted
    assert tally(tmp_path, oracle).tally == wanted + wanted
    with pytest.raises(
        WireError, match=r"y.parquet: parquet: the metadata name no oracle, so the oracle must be given$"
    ):
        tally(tmp_path)
    with pytest.raises(ParameterError, match=r"y.parquet: the metadata name no oracle, so the oracle must be given$"):
        tally(tmp_path / "y.parquet")


def test_bytes_of_a_wrong_length_are_a_bad_row(tmp_path):
    oracle = fldp.OUE(epsilon=1.0, domain_size=20)
    reports_made = reports(10, oracle=oracle).data
    values = [row.tobytes() for row in reports_made]
    values[2], values[5], values[7] = b"", None, values[7] + b"\0"
    put(tmp_path / "x.parquet", {"bits": pa.array(values, pa.large_binary())})
    result = tally(tmp_path, oracle, skip_bad=True)
    assert [(bad.row, bad.reason) for bad in result.bad] == [
        (2, "has a number that does not fit"),
        (5, "has a missing number"),
        (7, "has a number that does not fit"),
    ]
    assert result.tally == oracle.tally(np.delete(reports_made, [2, 5, 7], axis=0))


# -- other places ----------------------------------------------------------------------------------------------


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def upload(files, path, **options):
    batch, buffer = reports(100, options.pop("seed", 0)), io.BytesIO()
    parquet.write(buffer, ORACLE, [batch], **options)
    files.pipe(path, buffer.getvalue())
    return batch


def test_a_lake_anywhere(memory):
    batches = [
        upload(memory, f"/lake/survey={ONE}/day=2026-11-0{day}/x.parquet", seed=day, survey=ONE) for day in (1, 2)
    ]
    memory.pipe("/lake/_SUCCESS", b"")
    assert [piece.path for piece in find("memory://lake")] == [
        f"memory:///lake/survey={ONE}/day=2026-11-01/x.parquet",
        f"memory:///lake/survey={ONE}/day=2026-11-02/x.parquet",
    ]
    sources = ["memory://lake", "memory://lake/*/*/*.parquet", f"memory://lake/survey={ONE}/day=2026-11-01/x.parquet"]
    assert tally(sources).tally == ORACLE.tally(batches[0]) + ORACLE.tally(batches[1])
    assert tally("memory://lake", until="2026-11-01").tally == ORACLE.tally(batches[0])
    assert tally("simplecache::memory://lake/").tally.n == 200


def test_a_lake_in_an_archive(tmp_path):
    """An address inside another is kept whole, so that another process can open it."""
    batches = [save(tmp_path / f"{seed}.parquet", seed=seed) for seed in (1, 2)]
    with zipfile.ZipFile(tmp_path / "lake.zip", "w") as archive:
        for seed in (1, 2):
            archive.write(tmp_path / f"{seed}.parquet", f"day=2026-11-0{seed}/x.parquet")
    assert tally(f"zip://::file://{tmp_path}/lake.zip").tally == sum(map(ORACLE.tally, batches))
    assert tally(f"zip://*/x.parquet::file://{tmp_path}/lake.zip", since="2026-11-02").tally == ORACLE.tally(batches[1])


def test_storage_that_fails_is_not_a_bad_file(memory, monkeypatch):
    """To leave out what cannot be fetched just now would make the tally a matter of the weather."""
    upload(memory, "/lake/x.parquet")
    with pytest.raises(FldpError, match=r"^memory://no: cannot be read: No such file or directory$"):
        tally("memory://no")
    with pytest.raises(FldpError, match=r"^no-such://x: cannot be read: "):
        tally("no-such://x")
    pieces, reads = find("memory://lake"), []
    original = type(memory)._open

    def breaking(files, path, **options):
        file = original(files, path, **options)
        read = file.read

        def once(size=-1):
            reads.append(size)
            if len(reads) > 1:
                raise ConnectionResetError("the network is gone")
            return read(size)

        file.read = once
        return file

    monkeypatch.setattr(type(memory), "_open", breaking)
    with pytest.raises(
        FldpError, match=r"x.parquet: cannot be read: ConnectionResetError: the network is gone$"
    ) as told:
        scan(pieces, Job(ORACLE, skip_bad=True))
    assert not isinstance(told.value, WireError)


def test_a_piece_knows_its_share():
    assert [Piece("x", 10, part, 3).groups(7) for part in range(3)] == [range(2), range(2, 4), range(4, 7)]
    assert [len(Piece("x", 10, part, 3).groups(2)) for part in range(3)] == [0, 1, 1]
