"""Answers that came before another question about the same conversation failed: nobody pays for them twice.

A conversation is harvested whole or not at all, so one question without an answer fails it (`asking.py`), and a long
one needs many calls before the first question (`parts.py`). What was answered until then lies in the cache folder, one
small file a conversation, until the next run has used it. Deleting it costs money only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.base import files
from core.base.answer import Answer, Generate
from core.base.redact import redact
from core.base.result import Err, Ok, Result
from core.harvest.answer import parse_answer

KEPT_DAYS = 30
MAX_BYTES = 4 << 20


class KeptAnswers:
    """Asks the model about one conversation, except what it has answered already. A `Generate` itself.

    `folder` is that of the kept answers, `sha256` that of the conversation; `asked` names provider and model, for the
    words of another one are not wanted. An answer that cannot be read, that was cut off, or that has a secret in it, is
    asked for again.
    """

    def __init__(self, generate: Generate, folder: Path, sha256: str, asked: str) -> None:
        self._generate = generate
        self._file = folder / f"{sha256}.json"
        self._asked = asked
        self._known = _read(self._file)
        self._used: dict[str, str] = {}

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        words = json.dumps([self._asked, prompt, schema], sort_keys=True)
        key = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()
        known = self._known.get(key)
        if known is not None and _is_good(known, schema):
            self._used[key] = known
            return Ok(Answer(known))
        answer = self._generate(prompt, schema)
        if isinstance(answer, Ok) and not answer.value.truncated and _is_good(answer.value.text, schema):
            self._used[key] = answer.value.text
        return answer

    def settle(self, result: Result[Any]) -> None:
        """Keep what was answered, if the conversation failed after all; else nothing of it is needed any more."""
        rows = {key: text for key, text in self._used.items() if not redact(text).counts}
        data = json.dumps(rows).encode()
        if isinstance(result, Err) and rows and len(data) <= MAX_BYTES:
            if rows != self._known:
                files.write_cache(self._file, data)
                _drop_old(self._file.parent)
        elif isinstance(result, Ok) and self._known:
            with contextlib.suppress(OSError):
                files.discard(self._file)


def _is_good(text: str, schema: Mapping[str, Any] | None) -> bool:
    return bool(text.strip()) if schema is None else isinstance(parse_answer(text), Ok)


def _read(file: Path) -> dict[str, str]:
    """What is no file of ours, or was damaged, holds nothing."""
    try:
        found = json.loads(files.read_or_empty(file) or b"{}")
    except (OSError, ValueError, RecursionError):
        return {}
    rows = found.items() if isinstance(found, dict) else ()
    return {key: text for key, text in rows if isinstance(text, str)}


def _drop_old(folder: Path) -> None:
    """Conversations that were never asked about again leave nothing behind for ever."""
    until = time.time() - KEPT_DAYS * 86_400
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            if file.suffix == ".json" and file.stat().st_mtime < until:
                files.discard(file)
