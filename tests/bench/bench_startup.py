"""What a person waits for before anything happens: `--help` and an empty dry run beside Python itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROUNDS = 15


def figures() -> Iterator[tuple[str, float, float]]:
    """The best of several starts each, taken in turns, with compiled modules as an installed program has them."""
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        start = "from core.cli.main import run; run()"
        lines = {
            "python -c pass": ["-c", "pass"],
            "knowledge --help": ["-c", start, "--help"],
            "empty dry run": ["-c", start, "harvest", "--home", str(Path(folder) / "home")],
        }
        best = dict.fromkeys(lines, float("inf"))
        for _ in range(ROUNDS):
            for name, words in lines.items():
                began = time.perf_counter()
                subprocess.run([sys.executable, *words], env=environment, cwd=folder, capture_output=True, check=True)
                best[name] = min(best[name], time.perf_counter() - began)
    floor = best["python -c pass"]
    yield "start of knowledge --help / python -c pass", best["knowledge --help"] / floor, 5
    yield "start of an empty dry run / python -c pass", best["empty dry run"] / floor, 8
