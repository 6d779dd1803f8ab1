"""Mutated batches: each gives the reports sent, or one WireError. ``python tests/soak/fuzz_wire.py 1000000``."""

import random
import sys
from time import perf_counter

import fldp
from fldp import WireError, wire
from fldp.conformance.vectors import CASES, craft, some_values
from fldp.data.packing import pack


def batches():
    """Some batches of every oracle, short and a little longer."""
    for oracles in CASES.values():
        for oracle in oracles:
            for count in (1, 2, 9, 40):
                reports = oracle.privatize(some_values(oracle, count), rng=count)
                yield reports, wire.encode(reports)


def damage(rng, data, others):
    """Cut, flip, repeat, insert, or splice bytes."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place, size = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 4, 8, 30))
        match rng.randrange(7):
            case 0:
                del data[place:]
            case 1 if place < len(data):
                data[place] ^= 1 << rng.randrange(8)
            case 2:
                data[place:place] = data[place : place + size]
            case 3:
                del data[place : place + size]
            case 4:
                data[place:place] = rng.randbytes(size)
            case 5:
                data[place : place + size] = rng.choice((b"\0", b"\xff", b"\x80")) * size
            case 6:
                other = rng.choice(others)[1]
                data[place:] = other[rng.randrange(len(other)) :]
    return bytes(data)


def forge(rng, reports):
    """A batch with the right checks and something wrong inside."""
    oracle, count = reports.oracle, len(reports)
    fields = {"oracle": wire.describe(oracle)}
    packed = bytearray(pack(oracle.report_format, reports.data).tobytes())
    total = count
    match rng.randrange(4):
        case 0:
            packed[rng.randrange(len(packed))] = rng.randrange(256)
        case 1:
            total = count = rng.choice((0, 1, count + 8, 2**31, 2**32 - 1))
        case 2:
            total = rng.choice((0, count - 1, count + 1, 2**63))
        case 3:
            value = rng.choice((0, -1, 1e-30, 1e30, 2**31, 2**40, "1", None, True, [], 1.5, 2, 1024))
            fields["oracle"][rng.choice((*fields["oracle"], "eta"))] = value
    return craft(fields, [(count, bytes(packed))], total)


def attempt(data):
    try:
        return wire.decode(data)
    except WireError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < 500
    return None


def fuzz(count, seed):
    """Try so many mutations; return how many were refused, and how many forged batches were good after all."""
    rng, sent = random.Random(seed), list(batches())
    refused = accepted = 0
    for _ in range(count):
        reports, data = rng.choice(sent)
        if rng.random() < 0.7:
            mutated = damage(rng, data, sent)
            outcome = attempt(mutated)
            good = outcome is None or any(outcome == other for other, whole in sent if whole == mutated)
            assert good, f"a wrong batch was accepted: {mutated.hex()}"
        else:
            outcome = attempt(forge(rng, reports))
            if outcome is not None:
                assert isinstance(outcome.oracle.tally(outcome), fldp.Tally)
                assert wire.decode(wire.encode(outcome)) == outcome
        refused += outcome is None
        accepted += outcome is not None
    return refused, accepted


def fuzz_tallies(count, seed):
    rng = random.Random(seed)
    sent = []
    for oracles in CASES.values():
        for oracle in oracles:
            tally = oracle.tally(oracle.privatize(some_values(oracle, 20), rng=1))
            sent.append((tally, wire.encode_tally(tally)))
    for _ in range(count):
        tally, data = rng.choice(sent)
        mutated = damage(rng, data, sent)
        try:
            decoded = wire.decode_tally(mutated)
        except WireError:
            continue
        assert any(decoded == other for other, whole in sent if whole == mutated), mutated.hex()


def main(count):
    start = perf_counter()
    refused, accepted = fuzz(count, 1)
    fuzz_tallies(count // 10, 2)
    seconds = perf_counter() - start
    print(f"{count:,} mutated batches: {refused:,} refused, {accepted:,} were good")
    print(f"{count // 10:,} mutated tallies; {seconds:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]))
