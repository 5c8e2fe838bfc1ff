"""Finds the real conversations that lie beside the project, for tests that read them there. Nothing of it is copied
into the repository; where it is absent, those tests skip and say so."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
TEXT_FORMATS = ("aider", "specstory", "cline")


def need_corpus() -> Path:
    """The folder of conversations; skips the test where there is none."""
    folder = CORPUS / "conversations"
    if not folder.is_dir():
        pytest.skip(f"the corpus of real conversations is not at {Path('..') / 'shared' / 'corpus'}")
    return folder


def text_conversations(every: int = 4) -> list[Path]:
    """Some of the corpus's conversations that are plain text or markdown; WHOLE_CORPUS=1 takes all of them."""
    folder = need_corpus()
    found = [path for name in TEXT_FORMATS for path in sorted((folder / name).rglob("*")) if path.is_file()]
    found += [path for path in sorted(folder.rglob("*")) if path.suffix in (".md", ".txt") and path.is_file()]
    return sample([path for path in dict.fromkeys(found) if path.name != "SOURCES.md"], every)


def sample(paths: list[Path], every: int = 4) -> list[Path]:
    """A part of many files, always the same one; all of them with WHOLE_CORPUS=1."""
    return paths if os.environ.get("WHOLE_CORPUS") else paths[::every]


def archive_into(home: Path, sources: list[Path], copies: int = 1) -> list[Path]:
    """Copy conversations into a home under archived names, `copies` times, each copy with a content of its own."""
    folder = home / "conversations"
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for copy in range(copies):
        for source in sources:
            name = source.stem.lstrip(".").replace(" ", "-")[:80]
            target = folder / f"{name}-{uuid.uuid4()}"
            shutil.copyfile(source, target)
            if copy:
                with target.open("ab") as stream:
                    stream.write(f"\ncopy {copy}\n".encode())
            made.append(target)
    return made


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes, to compare before and after."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
