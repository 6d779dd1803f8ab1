"""Every oracle: what it costs the client and the server and how far off it is, beside the peers that have it.

    python bench/oracles.py [--json FILE] [--document]

All run on the same users in one run, by turns, on one core, ours with secure randomness. It exits with 1 if an error of
ours is more than five standard errors from what its variance says (by chance in one run of 100,000), and with 2 if the
peers cannot be installed or run.
"""

import sys
from functools import partial

from command import Result, run, say
from comparison import Setting, all_rows
from oracle_tables import cost_table, documented, error_table, notes, record
from peers.environment import MULTI_FREQ_LDPY, PURE_LDP


def measure(setting: Setting) -> Result:
    """Let everybody take turns."""
    rows, left_out = all_rows(setting)
    for turn in range(1, setting.turns + 1):
        for row in rows:
            say(f"turn {turn} of {setting.turns}: {row.label}")
            row.take_turn()
    shown = (cost_table(setting, rows), error_table(setting, rows), *notes(setting, rows, left_out))
    parts = [("benchmarks.md", f"oracles, {name}", [table]) for name, table in documented(rows).items()]
    return Result(shown, record(setting, rows, left_out), any(row.missed for row in rows), parts)


if __name__ == "__main__":
    sys.exit(run("Compare every oracle with its peers.", (PURE_LDP, MULTI_FREQ_LDPY), partial(measure, Setting())))
