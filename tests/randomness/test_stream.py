import copy
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import fldp
from fldp import FldpError, ParameterError, Stream


def test_words_are_the_little_endian_keystream_of_aes_256_ctr():
    stream = Stream(7)
    import hmac

    key = hmac.digest(stream._key, b"fldp words\0", "sha256")
    expected = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(80))
    assert stream.words(10).astype("<u8").tobytes() == expected


@pytest.mark.parametrize("sizes", [(80,), (8, 72), (3, 0, 70, 7), (1,) * 80])
def test_bytes_are_those_of_the_words_however_they_are_cut(sizes):
    stream, drawn = Stream(7), b""
    for size in sizes:
        part = bytearray(size)
        stream.fill_bytes(memoryview(part))
        drawn += part
    assert drawn == Stream(7).words(10).astype("<u8").tobytes()


def test_a_seed_is_frozen():
    """Seeds are part of published experiments: these words must never change."""
    assert [hex(word) for word in Stream(7).words(2)] == FROZEN
    assert [hex(word) for word in Stream(7).child("run", 1).words(1)] == FROZEN_CHILD


FROZEN = ["0x487a66fac88795d3", "0x1c11922e1c1cf4b4"]
FROZEN_CHILD = ["0x13c7eeee94677a3c"]


@pytest.mark.parametrize("sizes", [[1] * 10, [3, 7], [10]])
def test_chunks_continue(sizes):
    stream = Stream(1)
    assert np.concatenate([stream.words(size) for size in sizes]).tolist() == Stream(1).words(10).tolist()


def test_long_draws_equal_short_ones():
    stream = Stream(3)
    parts = [stream.words(100_000) for _ in range(4)]
    assert np.array_equal(np.concatenate(parts), Stream(3).words(400_000))


@pytest.mark.parametrize("out", [np.zeros((4, 4), np.uint64)[:, :2], np.zeros(4, np.int64)], ids=str)
def test_only_whole_arrays_of_words_are_filled(out):
    with pytest.raises(ParameterError, match="out must be a contiguous, writeable array of uint64"):
        Stream(1).fill(out)


def test_secure_keys_take_32_bytes_from_the_operating_system(monkeypatch):
    asked = []
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or bytes(range(size)))
    stream = Stream()
    stream._born = None  # as if found in a forked process
    stream.words(1)
    assert asked == [32, 32]
    assert (repr(Stream(1).child(1)), repr(Stream().child(1))) == ("Stream(seeded: not private)", "Stream(secure)")


def test_secure_streams_differ():
    assert not set(Stream().words(100).tolist()) & set(Stream().words(100).tolist())


def test_seeds_and_labels_give_different_streams():
    streams = [Stream(0), Stream(1), Stream(2**200), Stream(0).child(), Stream(0).child(0), Stream(0).child("0")]
    streams += [Stream(0).child(b"0"), Stream(0).child("a", "bc"), Stream(0).child("ab", "c"), Stream(1).child(0)]
    streams += [Stream(0).child(0).child(0), Stream(0).child(0, 0)]
    assert len({int(stream.words(1)[0]) for stream in streams}) == len(streams)


def test_a_child_does_not_depend_on_where_its_parent_stands():
    stream = Stream(5)
    before = stream.child("x").words(3).tolist()
    stream.words(1000)
    assert stream.child("x").words(3).tolist() == before


def test_numpy_integers_are_seeds():
    assert Stream(np.int32(7)).words(1) == Stream(7).words(1)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "7", [7]])
def test_bad_seeds(seed):
    with pytest.raises(ParameterError, match="Stream: seed must be None or an integer of at least 0"):
        Stream(seed)


@pytest.mark.parametrize("rng", [1.0, True, "7", np.random.default_rng(7)])
def test_bad_rng(rng):
    with pytest.raises(ParameterError, match="Stream: rng must be None"):
        fldp.RR(1.0).privatize(0, rng=rng)


@pytest.mark.parametrize("label", [1.0, None, True])
def test_bad_labels(label):
    with pytest.raises(ParameterError, match="a label must be an int, a str or bytes"):
        Stream(1).child(label)


@pytest.mark.parametrize("action", [pickle.dumps, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("seed", [None, 7])
def test_a_stream_is_not_copied(action, seed):
    with pytest.raises(FldpError, match="cannot be pickled"):
        action(Stream(seed))


def test_the_key_is_not_shown():
    stream = Stream(7)
    assert stream._key.hex() not in repr(stream)
    assert repr(stream) == "Stream(seeded: not private)"


def in_child(action):
    """Run an action in a forked process and return what it returned."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = repr(action())
        except BaseException as error:
            answer = repr(str(error))
        os.write(write, answer.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return eval(answer)


def test_a_fork_reseeds_a_secure_stream():
    stream = Stream()
    stream.words(1)
    first = in_child(lambda: stream.words(4).tolist())
    second = in_child(lambda: stream.words(4).tolist())
    here = stream.words(4).tolist()
    assert len({*first, *second, *here}) == 12


def test_a_fork_reseeds_the_children_of_a_secure_stream():
    stream = Stream()
    assert in_child(lambda: stream.child("a").words(2).tolist()) != stream.child("a").words(2).tolist()


def test_a_seeded_stream_refuses_to_repeat_itself_across_a_fork():
    stream = Stream(7)
    assert "carried across a fork" in in_child(lambda: stream.words(4).tolist())
    assert in_child(lambda: stream.child(1).words(2).tolist()) == stream.child(1).words(2).tolist()


def test_a_fork_while_another_thread_draws_does_not_hang():
    stream = Stream()
    with stream._lock:
        assert len(in_child(lambda: stream.words(4).tolist())) == 4


def draw_reports(_):
    return fldp.GRR(1.0, 1000).privatize(np.zeros(50, np.int64)).data.tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_processes_never_repeat_reports(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        batches = pool.map(draw_reports, range(4), chunksize=1)
    assert len({tuple(batch) for batch in [*batches, draw_reports(0)]}) == 5


def test_threads_that_share_a_stream_get_different_words():
    stream, drawn, lock = Stream(9), [], threading.Lock()

    def draw():
        mine = [int(word) for _ in range(200) for word in stream.words(5)]
        with lock:
            drawn.extend(mine)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(drawn) == sorted(Stream(9).words(4000).tolist())
