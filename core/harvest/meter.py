"""Counts what the model calls of a run cost and stops before the cap that the user set, or when the model cannot
answer anybody: a wrong key is not sent once for every conversation.

An estimate counts tokens as bytes // 4 of the prompts. Providers count their own tokens, of some languages twice as
many; and models write summaries and answers of lengths of their own. What they reported of earlier runs is kept in the
cache folder, a row a model, and prices the next estimate; without the file an estimate is made as for a model that
nobody has asked yet.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.base import files
from core.base.answer import Answer, Generate
from core.base.figures import count
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.knowledge.spending import Purse, Spent, account_trouble

NOT_TRIED = "not-tried"
"""The code of the error that says: this conversation was not asked about. Not a failure of the conversation."""
NO_ANSWER = "no-answer"
"""The code of the error that says: it was sent, at least in part, and the run gave the model up before an answer."""

HOPELESS = frozenset({
    "rejected-key", "not-found", "no-credit", "unreachable", "bad-certificate", "bad-address", "redirected",
    "no-credentials", "no-model", "no-command", "command-missing", "no-account", "not-installed", "no-download",
    "bad-model", "too-old", "not-logged-in", "folder-failed", "unknown-provider", "bad-settings", "bad-credentials",
    "credentials-exposed", "credentials-malformed", "credentials-unreadable",
})  # fmt: skip
"""Failures that no other conversation would escape: of the settings, the key, or a server that is not there."""

DOUBTFUL = frozenset({"forbidden", "connection-failed", "command-failed"})
"""Failures that may lie in one conversation (some servers refuse a text with 403, some fall over). Two in a row, with
no answer between them, do not."""
IN_A_ROW = 2


class Breaker:
    """Watches the calls of a run, from all threads. `reason` is the failure that ended the asking, None until then.

    The first call of a run goes alone (`first_call` is set when it has ended): a wrong key is sent once, not by every
    worker at the same time.
    """

    def __init__(self) -> None:
        self.first_call = threading.Event()
        self._lock = threading.Lock()
        self._doubts = 0
        self.reason: ErrorInfo | None = None

    def answered(self) -> None:
        """Note that a call ended with an answer."""
        with self._lock:
            self._doubts = 0
        self.first_call.set()

    def failed(self, failure: KnowledgeError) -> KnowledgeError:
        """Note that a call failed. What its conversation gets: a call that was under way when the asking ended, and
        failed too, was not tried."""
        code = failure.error.code
        with self._lock:
            self._doubts += code in DOUBTFUL
            ends, ended = code in HOPELESS or self._doubts >= IN_A_ROW, self.reason is not None
            if ends and not ended:
                self.reason = failure.error
        self.first_call.set()
        return self.refusal() if ends and ended and code in HOPELESS | DOUBTFUL else failure

    def refusal(self) -> KnowledgeError:
        """What a conversation gets instead of an answer once the asking has ended."""
        return KnowledgeError(NOT_TRIED, "not tried, for the model could not be asked before")


def stopped_note(not_tried: int, reason: ErrorInfo) -> str:
    """The sentence about conversations that were not tried; `reason` itself stands among the errors of the run."""
    who = count(not_tried, "conversation was", "conversations were")
    return f"{who} not tried, for each would fail in the same way ({reason.message.rstrip('.')}); they stay as they are"


BYTES_A_TOKEN = 4
TOKEN_CAP = "token-cap"
"""The code of the error that says: no more in this run. Not a failure of the conversation."""
NO_ACCOUNT = "no-account"
BILLED = frozenset({"timed-out", "cancelled", "bad-answer", "answer-too-large", "empty-answer", "connection-failed"})
"""Failures of a call that the model may have answered."""


class Budget:
    """The tokens of one run, input and output together, shared by all threads. A cap of 0 means none."""

    def __init__(self, cap: int = 0) -> None:
        self._cap = cap
        self._lock = threading.Lock()
        self.spent = 0

    def reserve(self, tokens: int) -> bool:
        """Book an estimate before a call; False when it would go over the cap."""
        with self._lock:
            if self._cap and self.spent + tokens > self._cap:
                return False
            self.spent += tokens
            return True

    def settle(self, reserved: int, real: int) -> None:
        """Replace the estimate by what the call really cost."""
        with self._lock:
            self.spent += real - reserved


class Meter:
    """Asks the model on behalf of one conversation and adds up what that cost. A `Generate` itself.

    Token counts are the provider's own, None while it has reported none; `requests` is how often something was sent,
    tries of one call included. `on_answer(calls, answer)` hears of each answer, the `calls`-th call, on the thread that
    asked.
    """

    def __init__(
        self,
        generate: Generate,
        budget: Budget | None = None,
        breaker: Breaker | None = None,
        purse: Purse | None = None,
        on_answer: Callable[[int, Answer], object] = lambda _calls, _answer: None,
    ) -> None:
        self._generate, self._purse, self._on_answer = generate, purse, on_answer
        self._budget = budget or Budget()
        self._breaker = breaker or Breaker()
        self.calls = self.requests = 0
        self.model = ""
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        if self._breaker.reason is not None:
            raise self._breaker.refusal()
        estimate = len(prompt.encode("utf-8", "replace")) // BYTES_A_TOKEN
        if not self._budget.reserve(estimate):
            raise KnowledgeError(
                TOKEN_CAP,
                "the run has reached its cap of tokens; what is left waits for the next one",
                hint="the cap is max_run_tokens in config.toml",
            )
        reserved = Spent()
        if self._purse is not None:
            try:
                fits = self._purse.reserve(len(prompt.encode("utf-8", "replace")))
            except OSError as error:
                self._budget.settle(estimate, 0)
                trouble = KnowledgeError(NO_ACCOUNT, account_trouble(error), error.filename or "")
                raise self._breaker.failed(trouble) from error
            if fits is None:
                self._budget.settle(estimate, 0)
                raise KnowledgeError(TOKEN_CAP, self._purse.reason, hint="the caps stand in config.toml")
            reserved = fits
        result = attempt(self._generate, prompt, schema)
        self.calls += 1
        if isinstance(result, KnowledgeError):
            self.requests += result.requests
            failure = self._breaker.failed(result)
            self._budget.settle(estimate, 0)
            # Whoever gave up may be billed all the same: for the question at least.
            self._settle(reserved, estimate if failure.error.code in BILLED else 0, 0)
            raise failure
        answer = result.value
        self.requests += answer.requests
        self._breaker.answered()
        self.model = answer.model or self.model
        self.input_tokens = _add(self.input_tokens, answer.input_tokens)
        self.output_tokens = _add(self.output_tokens, answer.output_tokens)
        real_in = estimate if answer.input_tokens is None else answer.input_tokens
        real_out = len(answer.text) // BYTES_A_TOKEN if answer.output_tokens is None else answer.output_tokens
        self._budget.settle(estimate, real_in + real_out)
        self._settle(reserved, real_in, real_out)
        self._on_answer(self.calls, answer)
        return answer

    def _settle(self, reserved: Spent, real_in: int, real_out: int) -> None:
        """What was booked stays booked where the account cannot be written any more; the next call is told."""
        if self._purse is not None:
            with suppress(OSError):
                self._purse.settle(reserved, real_in, real_out)


def _add(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


ANSWER_TOKENS = 700
"""What the answer about one part usually takes, all its categories together."""
SUMMARY_SHARE = 1 / 6
"""How long a summary is, as a part of what it shortens: `summarize.md` asks for at most a fifth; most models write
less."""
MIN_CALLS = 3
"""The calls from which a report is believed."""
LEAST_FACTOR, MAX_FACTOR = 0.25, 8.0
"""Providers that report less or more tokens than this for one of ours report something else."""


@dataclass(frozen=True)
class Usage:
    """Sums over the calls of one model. `estimated` are the tokens of prompts as bytes // 4, `reported` those that the
    provider counted for the same prompts in `calls` calls; `answers` are whole answers (one category is a seventh of
    one) and `answer_tokens` what was reported of them; `timed` calls took `seconds`."""

    calls: int = 0
    estimated: int = 0
    reported: int = 0
    answers: float = 0.0
    answer_tokens: int = 0
    timed: int = 0
    seconds: float = 0.0

    @property
    def seconds_a_call(self) -> float:
        """How long a call takes; 0.0 while nobody knows."""
        return self.seconds / self.timed if self.timed >= MIN_CALLS else 0.0

    @property
    def factor(self) -> float:
        """How many tokens the provider counts for one of an estimate; 1.0 while nobody knows."""
        if self.calls < MIN_CALLS or not self.estimated:
            return 1.0
        found = self.reported / self.estimated
        return round(found, 3) if LEAST_FACTOR <= found <= MAX_FACTOR else 1.0

    @property
    def tokens_an_answer(self) -> int:
        known = self.answers >= MIN_CALLS and self.answer_tokens
        return round(self.answer_tokens / self.answers) if known else ANSWER_TOKENS

    def plus(self, other: Usage) -> Usage:
        more = asdict(other)
        return Usage(**{key: value + more[key] for key, value in asdict(self).items()})


UNKNOWN = Usage()
RETRY_SUFFIX = "\nYour previous reply was not valid JSON. Return only the JSON object.\n"
"""What ends a question that is put again."""


class Counted:
    """A model whose calls are counted. A `Generate` itself, for all threads of a run. `sent` are the tokens (bytes //
    4) of what was asked for the first time: that is what an estimate tells."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self._lock = threading.Lock()
        self.usage = UNKNOWN
        self.sent = 0

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        estimated = len(prompt.encode("utf-8", "replace")) // BYTES_A_TOKEN
        asked = 0 if prompt.endswith(RETRY_SUFFIX) else estimated
        begun = time.monotonic()
        try:
            answer = self._generate(prompt, schema)
        finally:
            with self._lock:
                self.sent += asked
        with self._lock:
            self.usage = self.usage.plus(Usage(timed=1, seconds=time.monotonic() - begun))
            if not answer.truncated:
                self.usage = self.usage.plus(_of_call(schema, answer, estimated))
        return answer


def _of_call(schema: Mapping[str, Any] | None, answer: Answer, estimated: int) -> Usage:
    seen = Usage()
    if answer.input_tokens:
        seen = seen.plus(Usage(calls=1, estimated=estimated, reported=answer.input_tokens))
    if schema is not None and answer.output_tokens:
        from core.harvest.answer import SCHEMA

        share = len(schema.get("required", ())) / len(SCHEMA["required"])
        seen = seen.plus(Usage(answers=share, answer_tokens=answer.output_tokens))
    return seen


def read_usage(file: Path, asked: str) -> Usage:
    """What is known of the model `asked`; `UNKNOWN` where the file is missing or damaged."""
    row = (files.read_object(file) or {}).get(asked)
    known = row if isinstance(row, dict) else {}
    fine: dict[str, Any] = {}
    for key, value in asdict(UNKNOWN).items():
        figure = known.get(key)
        if isinstance(figure, (int, float)) and not isinstance(figure, bool) and 0 <= figure < 1e15:
            fine[key] = type(value)(figure)
    return Usage(**fine)


def note_usage(file: Path, asked: str, more: Usage) -> None:
    """Add what a run was told. Raises nothing: it is a cache."""
    if more != UNKNOWN:
        rows = (files.read_object(file) or {}) | {asked: asdict(read_usage(file, asked).plus(more))}
        files.write_cache(file, json.dumps(rows, sort_keys=True).encode())
