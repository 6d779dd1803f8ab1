"""Words for single reports: each is handed out once, by one thread, in one process, and leaves nothing behind."""

import os
import sys
import threading
from collections import Counter

from fldp.randomness import word_pool


def test_words_are_different_and_use_all_bits():
    """Among 5,000 words two are alike once in 10^12; a bit is 1 as often as 0 within 7 standard errors."""
    words = [word_pool.word() for _ in range(5_000)]
    assert len(set(words)) == len(words)
    ones = Counter(bit for word in words for bit in range(64) if word >> bit & 1)
    assert max(ones) == 63
    assert all(abs(ones[bit] - 2_500) < 7 * 36 for bit in range(64))


def test_a_used_word_is_overwritten():
    word_pool._renew()
    _, words = word_pool._pools.current
    assert 0 not in words.tolist()  # by chance once in 10^17
    drawn = [word_pool.word() for _ in range(10)]
    assert words.tolist()[:10] == [0] * 10
    assert not set(drawn) & set(words.tolist())


def test_threads_have_pools_of_their_own():
    def work():
        mine.append([word_pool.word() for _ in range(2_000)])

    mine = []
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = [word for each in mine for word in each]
    assert len(set(words)) == len(words) == 16_000


def test_a_forked_process_takes_other_words():
    word_pool._renew()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"".join(word_pool.word().to_bytes(8, "little") for _ in range(40)))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 320)
    os.close(reading)
    os.close(writing)
    words = {int.from_bytes(theirs[k : k + 8], "little") for k in range(0, 320, 8)}
    assert len(words) == 40
    assert not words & {word_pool.word() for _ in range(40)}


def test_a_handler_that_draws_between_two_steps_gets_other_words():
    """A signal handler, or a finalizer, may draw at any line of ours: no word comes twice, and none is an erased 0."""
    drawn, busy = [], []

    def trace(frame, event, _argument):
        if frame.f_code.co_filename != word_pool.__file__:
            return None
        if event == "line" and not busy:
            busy.append(True)
            drawn.append(word_pool.word())
            busy.clear()
        return trace

    before = sys.gettrace()
    for _ in range(300):
        sys.settrace(trace)
        word = word_pool.word()
        sys.settrace(before)
        drawn.append(word)
    assert len(drawn) > 1_000
    assert len(set(drawn)) == len(drawn)
    assert 0 not in drawn
