"""All targets, two at a time, each for some seconds; prints a table and ends with 1 when anything was found."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
GRACE_SECONDS = 120


class Outcome(NamedTuple):
    """What one target did: inputs run, inputs kept for a branch that was new, peak memory; `found` names a file."""

    name: str
    runs: int
    kept: int
    seconds: float
    peak_mb: int
    found: str


def run_target(name: str, folder: Path, seconds: int) -> Outcome:
    """One target in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    before = {item.name for item in folder.iterdir()}
    command = [sys.executable, "-m", "tests.fuzz.drive", name, str(folder), str(seconds)]
    started = time.monotonic()
    with (folder / "log").open("wb") as log:
        try:
            code = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, timeout=seconds + GRACE_SECONDS).returncode
        except subprocess.TimeoutExpired:
            code = -1
    took = time.monotonic() - started
    said = (folder / "log").read_text("utf-8", "replace")
    new = sorted({item.name for item in folder.iterdir()} - before - {"corpus", "log"})
    found = str(folder / new[0]) if new else f"{folder / 'log'} (status {code})" if code else ""
    kept = sum(1 for item in (folder / "corpus").iterdir()) if (folder / "corpus").is_dir() else 0
    return Outcome(name, _stat(said, "number_of_executed_units"), kept, took, _stat(said, "peak_rss_mb"), found)


def _stat(said: str, name: str) -> int:
    found = re.search(rf"stat::{name}:\s+(\d+)", said)
    return int(found[1]) if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="names of targets; none: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--jobs", type=int, default=2, help="targets at the same time (2)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz", help="where findings are kept")
    parser.add_argument("--list", action="store_true", help="print the targets and end")
    options = parser.parse_args()
    from tests.fuzz.targets import TARGETS

    if options.list:
        print("\n".join(TARGETS))
        return 0
    unknown = sorted(set(options.targets) - TARGETS.keys())
    if unknown:
        print(f"there is no target {', '.join(unknown)}; --list names them", file=sys.stderr)
        return 2
    if find_spec("atheris") is None:
        print("atheris is not installed here (pip install '.[fuzz]'); nothing was fuzzed", file=sys.stderr)
        return 1
    names = options.targets or list(TARGETS)
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda name: run_target(name, options.folder / name, options.seconds), names)
        rows = []
        print(f"{'target':<18} {'inputs':>9} {'a second':>9} {'kept':>6} {'peak MB':>8}")
        for row in outcomes:
            rate = row.runs / max(row.seconds, 1)
            print(f"{row.name:<18} {row.runs:>9} {rate:>9.0f} {row.kept:>6} {row.peak_mb:>8}  {row.found}", flush=True)
            rows.append(row)
    found = [row for row in rows if row.found]
    total = sum(row.runs for row in rows)
    work = sum(row.seconds for row in rows)
    print(f"{len(rows)} targets, {total} inputs in {work:.0f} s of work: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
