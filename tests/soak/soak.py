"""Long runs: ``make soak``, or one of them: ``make soak PART=faults``.

``rows``: ten million rows through the shell in bounded memory. ``bytes``: a million mutated batches.
``faults``: a collector that is killed, stopped and starved again and again loses nothing and counts nothing twice.
``hostile``: a hundred thousand hostile requests and a siege change no count and do not make it grow.
``oblivious``: 20,000 damaged requests to a gateway, none of which it fails on.
``engines``: twenty million reports on Dask and on Spark, with workers killed, in bounded memory.
``timing``: how long it takes to privatize does not depend on the value, for any oracle.
``signing``: how long a blind signature takes does not depend on the number that is signed.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from soak import engines_soak, fuzz_wire, hostile_soak, oblivious_soak, signing_soak, timing_soak
from soak.faults import soak as faults
from support import store_model

ROWS = 10_000_000
MAX_MEGABYTES = 400


def shell(*arguments, cwd):
    command = [str(Path(sys.executable).parent / "fldp"), *map(str, arguments)]
    return subprocess.run(command, check=True, cwd=cwd, capture_output=True, text=True).stdout


def ten_million_rows():
    """Privatize, tally and estimate a CSV file of ten million rows; the peak of all processes is bounded."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(1)
        with (Path(folder) / "values.csv").open("w") as file:
            file.write("value\n")
            for _ in range(10):
                file.write("\n".join(map(str, rng.zipf(1.5, ROWS // 10) % 1000)) + "\n")
        for oracle, ending in (("fhr", "fldp"), ("oue", "fldp"), ("fhr", "parquet")):
            options = ("--oracle", oracle, "--epsilon", "1", "--domain", "1000")
            shell("privatize", "values.csv", *options, "-o", f"r.{ending}", cwd=folder)
            shell("tally", f"r.{ending}", "-o", "t", cwd=folder)
            assert json.loads(shell("estimate", "t", "--json", cwd=folder))["n"] == ROWS
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"{oracle} as {ending}: {ROWS:,} rows, peak of a process {peak:.0f} MB", flush=True)
            assert peak < MAX_MEGABYTES


PARTS = {
    "rows": ten_million_rows,
    "bytes": lambda: fuzz_wire.main(1_000_000),
    "faults": faults.main,
    "hostile": hostile_soak.main,
    "oblivious": oblivious_soak.main,
    "engines": engines_soak.main,
    "model": store_model.soak,
    "timing": timing_soak.main,
    "signing": signing_soak.main,
}


def main(names):
    """Run the parts that are named, or all of them; one that returns False has failed."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"soak: a part must be one of {', '.join(PARTS)}, got {unknown[0]!r}")
    failed = [name for name in names or PARTS if PARTS[name]() is False]
    sys.exit(f"soak: {', '.join(failed)} failed" if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
