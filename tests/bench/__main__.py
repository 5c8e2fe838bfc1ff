"""Runs every `bench_*.py` beside this file: its `figures()` are rows of (what, figure, at most)."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from tests.bench import printed


def main(wanted: list[str]) -> int:
    """Print the rows; 1 when a figure is above what it may be. `wanted` are parts of names, none for all."""
    names = [path.stem for path in sorted(Path(__file__).parent.glob("bench_*.py"))]
    chosen = [name for name in names if not wanted or any(word in name for word in wanted)]
    return int(sum(printed(importlib.import_module(f"tests.bench.{name}").figures()) for name in chosen) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
