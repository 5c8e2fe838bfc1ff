"""What a model has answered about a conversation, until its harvest is proven: nobody pays for it twice.

A conversation is harvested whole or not at all, so one question without an answer fails it (`asking.py`), a long one
needs many calls before the first question (`parts.py`), and a run can be ended at any moment. Each answer lies in the
cache folder from the moment it came, one small file a conversation. Deleting it costs money only.
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
from core.base.result import Ok, Result
from core.harvest.answer import parse_answer

KEPT_DAYS = 30
MAX_BYTES = 4 << 20


class KeptAnswers:
    """Asks the model about one conversation, except what it has answered already. A `Generate` itself.

    `folder` is that of the kept answers, `sha256` that of the conversation; `asked` names provider and model, for the
    words of another one are not wanted. An answer that cannot be read, that was cut off, or that has a secret in it, is
    asked for again. With `keep` False what is known is used, and nothing is written.
    """

    def __init__(self, generate: Generate, folder: Path, sha256: str, asked: str, *, keep: bool = True) -> None:
        self._generate = generate
        self._keep = keep
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
            self._write()
        return answer

    def drop(self) -> None:
        """The harvest is proven: nothing of the answers is needed any more."""
        if self._known or self._used:
            with contextlib.suppress(OSError):
                files.discard(self._file)

    def _write(self) -> None:
        """At once, for a second Ctrl-C or a power cut leaves no time later."""
        rows = {key: text for key, text in (self._known | self._used).items() if not redact(text).counts}
        data = json.dumps(rows).encode()
        if self._keep and rows and len(data) <= MAX_BYTES:
            files.write_cache(self._file, data)
            if len(self._used) == 1:
                _drop_old(self._file.parent)


def _is_good(text: str, schema: Mapping[str, Any] | None) -> bool:
    return bool(text.strip()) if schema is None else isinstance(parse_answer(text, schema["required"]), Ok)


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
