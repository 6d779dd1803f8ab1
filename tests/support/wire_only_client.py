"""A client in plain Python that knows nothing but docs/wire.md: randomized response at epsilon 1, as a command.

``python stranger.py MODE LABEL COUNT``. The mode ``honest`` is; the others are what an audit has to catch or refuse.
"""

import hashlib
import json
import secrets
import sys
import time

LABELS = {"0": 0, "1": 1, "no": 0, "yes": 1}


def batch(bits, oracle, survey):
    """One batch in chunks, as the specification has it."""
    header = {"oracle": oracle} | ({"survey": survey} if survey else {})
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    out = b"FLDP\x01\x01" + len(text).to_bytes(2, "little") + text
    for start in range(0, len(bits), 800):
        part = bits[start : start + 800]
        packed = sum(bit << k for k, bit in enumerate(part)).to_bytes(-(-len(part) // 8), "little")
        out += len(part).to_bytes(4, "little") + packed
        out += hashlib.sha256(out).digest()[:8]
    out += bytes(4) + len(bits).to_bytes(8, "little")
    return out + hashlib.sha256(out).digest()[:8]


def main(mode, label, count):
    value, count, survey = LABELS[label], int(count), None
    if ":" in mode:
        mode, survey = mode.split(":")
    lie = {"careless": 0.15, "open": 0.0}.get(mode, 0.2689414213699951)
    bits = [value ^ (secrets.randbits(53) < lie * 2**53) for _ in range(count + (mode == "many") - (mode == "few"))]
    if mode == "repeats":
        bits = [bits[k // 2] for k in range(count)]
    answer = batch(bits, {"epsilon": 2 if mode == "another" else 1, "name": "rr"}, survey)
    if mode == "fails":
        print("first line\nthe dog ate it\x1b[31m", file=sys.stderr)
        sys.exit(3)
    if mode == "slow":
        time.sleep(600)
    if mode == "endless":
        while True:
            sys.stdout.buffer.write(bytes(1 << 16))
    if mode == "loud":
        sys.stderr.write("x" * 1_000_000)
    sys.stdout.buffer.write(
        {"cut": answer[:-1], "more": answer + b"x", "nothing": b"", "text": b"hello"}.get(mode, answer)
    )
    sys.stdout.flush()
    if mode == "lingers":
        sys.stdout.close()
        time.sleep(600)
    if mode == "fails later":
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
