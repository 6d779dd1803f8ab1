"""wordy counts words: a small command line tool with private telemetry.

    python wordy.py [-r] [--format text|json|csv] FILE...
    python -m fldp.telemetry on --app wordy      # nothing is sent before somebody says so

Six lines are about telemetry; ``metrics.toml`` beside this file says what they mean.
"""

import argparse
import json
import sys
from pathlib import Path

from fldp import telemetry


def words(path: Path) -> int:
    """Count the words of a file."""
    return len(path.read_text(encoding="utf-8", errors="replace").split())


def files_to_count(names: list[str], recursive: bool) -> list[Path]:
    """Return the files to count, those in folders only where that was asked for."""
    inside = [path for name in names if recursive for path in sorted(Path(name).rglob("*")) if path.is_file()]
    return [Path(name) for name in names if Path(name).is_file()] + inside


def written(counts: dict[str, int], form: str) -> str:
    """Return counts in a format."""
    if form == "json":
        return json.dumps(counts, indent=1)
    if form == "csv":
        return "\n".join(["file,words", *(f"{name},{count}" for name, count in counts.items())])
    return "\n".join(f"{count:8,}  {name}" for name, count in counts.items())


def main() -> None:
    """Count, print, and record what the metrics ask for."""
    parser = argparse.ArgumentParser(prog="wordy", description="Count words.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-r", "--recursive", action="store_true", help="the files inside folders, too")
    parser.add_argument("--format", choices=("text", "json", "csv"), default="text")
    options = parser.parse_args()
    telemetry.setup("metrics.toml")
    with telemetry.timed("run"):
        counts = {str(path): words(path) for path in files_to_count(options.files, options.recursive)}
    telemetry.record("files", len(counts))
    telemetry.record("format", options.format)
    telemetry.record("recursive", options.recursive)
    sys.stdout.write(f"{written(counts, options.format)}\n")


if __name__ == "__main__":
    main()
