"""What a model's provider reported of earlier runs: by it the next estimate is priced.

An estimate counts tokens as bytes // 4 of the prompts. Providers count their own tokens, of some languages twice as
many; and models write summaries and answers of lengths of their own. What they reported is kept in the cache folder,
a row a model; without the file an estimate is made as for a model that nobody has asked yet.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.base import files
from core.base.answer import Answer, Generate
from core.base.result import Ok, Result
from core.harvest.answer import SCHEMA
from core.harvest.asking import RETRY_SUFFIX
from core.harvest.meter import BYTES_A_TOKEN

ANSWER_TOKENS = 700
"""What the answer about one part usually takes, all its categories together."""
SUMMARY_SHARE = 1 / 6
"""`summarize.md` asks for at most a fifth of a part; most models write less."""
ENOUGH_CALLS, MOST_CALLS = 3, 2000
"""From so many calls on a report is believed; beyond the most, older ones count half, for a model changes its ways."""
LEAST_FACTOR, MOST_FACTOR = 0.25, 8.0
"""Providers that report less or more tokens than this for one of ours report something else."""


@dataclass(frozen=True)
class Usage:
    """Sums over the calls of one model. `estimated` are the tokens of prompts as bytes // 4, `reported` those that the
    provider counted for the same prompts in `calls` calls; `answers` are whole answers (one category is a seventh of
    one) and `answer_tokens` what was reported of them; `part_bytes` were shortened to `summary_bytes`."""

    calls: int = 0
    estimated: int = 0
    reported: int = 0
    answers: float = 0.0
    answer_tokens: int = 0
    summaries: int = 0
    part_bytes: int = 0
    summary_bytes: int = 0

    @property
    def factor(self) -> float:
        """How many tokens the provider counts for one of an estimate; 1.0 while nobody knows."""
        if self.calls < ENOUGH_CALLS or not self.estimated:
            return 1.0
        found = self.reported / self.estimated
        return round(found, 3) if LEAST_FACTOR <= found <= MOST_FACTOR else 1.0

    @property
    def tokens_an_answer(self) -> int:
        known = self.answers >= ENOUGH_CALLS and self.answer_tokens
        return round(self.answer_tokens / self.answers) if known else ANSWER_TOKENS

    @property
    def summary_share(self) -> float:
        """How long a summary is, as a part of what it shortens."""
        known = self.summaries >= ENOUGH_CALLS and self.part_bytes
        return min(1.0, self.summary_bytes / self.part_bytes) if known else SUMMARY_SHARE

    def plus(self, other: Usage) -> Usage:
        old = 0.5 if self.calls + self.summaries > MOST_CALLS else 1
        mine, more = asdict(self), asdict(other)
        return Usage(**{key: type(value)(value * old) + more[key] for key, value in mine.items()})


UNKNOWN = Usage()


class Counted:
    """A model whose calls are counted. A `Generate` itself, for all threads of a run. `sent` are the tokens (bytes //
    4) of what was asked for the first time: that is what an estimate tells."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self._lock = threading.Lock()
        self.usage = UNKNOWN
        self.sent = 0

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        answer = self._generate(prompt, schema)
        with self._lock:
            estimated = len(prompt.encode("utf-8", "replace")) // BYTES_A_TOKEN
            self.sent += 0 if prompt.endswith(RETRY_SUFFIX) else estimated
            if isinstance(answer, Ok) and not answer.value.truncated:
                self.usage = self.usage.plus(_of_call(prompt, schema, answer.value, estimated))
        return answer


def _of_call(prompt: str, schema: Mapping[str, Any] | None, answer: Answer, estimated: int) -> Usage:
    seen = Usage()
    if answer.input_tokens:
        seen = seen.plus(Usage(calls=1, estimated=estimated, reported=answer.input_tokens))
    if schema is None:
        part = len(prompt.partition("<conversation>")[2].encode("utf-8", "replace"))
        return seen.plus(Usage(summaries=1, part_bytes=part, summary_bytes=len(answer.text.encode("utf-8", "replace"))))
    if answer.output_tokens:
        share = len(schema.get("required", ())) / len(SCHEMA["required"])
        seen = seen.plus(Usage(answers=share, answer_tokens=answer.output_tokens))
    return seen


def read_usage(file: Path, asked: str) -> Usage:
    """What is known of the model `asked`; `UNKNOWN` where the file is missing or damaged."""
    row = _rows(file).get(asked)
    known = row if isinstance(row, dict) else {}
    fine: dict[str, Any] = {}
    for key, value in asdict(UNKNOWN).items():
        told = known.get(key)
        if isinstance(told, (int, float)) and not isinstance(told, bool) and 0 <= told < 1e15:
            fine[key] = type(value)(told)
    return Usage(**fine)


def note_usage(file: Path, asked: str, more: Usage) -> None:
    """Add what a run was told. Raises nothing: it is a cache."""
    if more != UNKNOWN:
        rows = _rows(file) | {asked: asdict(read_usage(file, asked).plus(more))}
        files.write_cache(file, json.dumps(rows, sort_keys=True).encode())


def _rows(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(files.read_or_empty(file) or b"{}")
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
