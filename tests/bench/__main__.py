"""Runs every `bench_*.py` beside this file that has a `figures()`: rows of (what, ratio, at most)."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(wanted: list[str]) -> int:
    """Print the rows; 1 when a ratio is above what it may be. `wanted` are parts of names, none for all."""
    missed = 0
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        if wanted and not any(word in path.stem for word in wanted):
            continue
        module = importlib.import_module(f"tests.bench.{path.stem}")
        if not hasattr(module, "figures"):
            continue
        for what, ratio, most in module.figures():
            missed += ratio > most
            print(f"{'ok  ' if ratio <= most else 'MISS'} {ratio:7.2f}  (at most {most:g})  {what}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
