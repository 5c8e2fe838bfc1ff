"""Counts what the model calls of a run cost and stops before the cap that the person set, or when the model cannot
answer anybody: a wrong key is not sent once for every conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from core.base.answer import Answer, Generate
from core.base.result import Err, ErrorInfo, Ok, Result, fail

NOT_TRIED = "not-tried"
"""The code of the error that says: this conversation was not asked about. Not a failure of the conversation."""

HOPELESS = frozenset(
    {
        "rejected-key",
        "not-found",
        "no-credit",
        "unreachable",
        "bad-certificate",
        "bad-address",
        "redirected",
        "no-credentials",
        "no-model",
        "no-command",
        "command-missing",
        "unknown-provider",
        "bad-settings",
        "bad-credentials",
        "credentials-exposed",
        "credentials-malformed",
        "credentials-unreadable",
    }
)
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

    def see(self, result: Result[Answer]) -> Result[Answer]:
        """Note how a call ended. A call that was under way when the asking ended, and failed too, was not tried."""
        try:
            return self._seen(result)
        finally:
            self.first_call.set()

    def _seen(self, result: Result[Answer]) -> Result[Answer]:
        with self._lock:
            if isinstance(result, Ok):
                self._doubts = 0
                return result
            code = result.error.code
            self._doubts += code in DOUBTFUL
            if code not in HOPELESS and self._doubts < IN_A_ROW:
                return result
            if self.reason is None:
                self.reason = result.error
                return result
            return self.refusal() if code in HOPELESS | DOUBTFUL else result

    def refusal(self) -> Err:
        """What a conversation gets instead of an answer once the asking has ended."""
        return fail(NOT_TRIED, "not tried, for the model could not be asked before")


def stopped_note(not_tried: int, reason: ErrorInfo) -> str:
    """The sentence about conversations that were not tried; `reason` itself stands among the errors of the run."""
    who = "1 conversation was" if not_tried == 1 else f"{not_tried} conversations were"
    return f"{who} not tried, for no other would fare better ({reason.message.rstrip('.')}); they stay as they are"


BYTES_A_TOKEN = 4
TOKEN_CAP = "token-cap"
"""The code of the error that says: no more in this run. Not a failure of the conversation."""


class Budget:
    """The tokens of one run, input and output together, shared by all threads. A cap of 0 means none."""

    def __init__(self, cap: int = 0) -> None:
        self._cap = cap
        self._lock = threading.Lock()
        self._spent = 0

    @property
    def spent(self) -> int:
        return self._spent

    def reserve(self, tokens: int) -> bool:
        """Book an estimate before a call; False when it would go over the cap."""
        with self._lock:
            if self._cap and self._spent + tokens > self._cap:
                return False
            self._spent += tokens
            return True

    def settle(self, reserved: int, real: int) -> None:
        """Replace the estimate by what the call really cost."""
        with self._lock:
            self._spent += real - reserved


class Meter:
    """Asks the model on behalf of one conversation and adds up what that cost. A `Generate` itself.

    Token counts are the provider's own, None while it has reported none.
    """

    def __init__(self, generate: Generate, budget: Budget | None = None, breaker: Breaker | None = None) -> None:
        self._generate = generate
        self._budget = budget or Budget()
        self._breaker = breaker or Breaker()
        self.calls = 0
        self.model = ""
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        if self._breaker.reason is not None:
            return self._breaker.refusal()
        estimate = len(prompt.encode("utf-8", "replace")) // BYTES_A_TOKEN
        if not self._budget.reserve(estimate):
            return fail(
                TOKEN_CAP,
                "the run has reached its cap of tokens; what is left waits for the next one",
                hint="the cap is max_run_tokens in config.toml",
            )
        answer = self._breaker.see(self._generate(prompt, schema))
        self.calls += 1
        if not isinstance(answer, Ok):
            self._budget.settle(estimate, 0)
            return answer
        value = answer.value
        self.model = value.model or self.model
        self.input_tokens = _add(self.input_tokens, value.input_tokens)
        self.output_tokens = _add(self.output_tokens, value.output_tokens)
        real_in = estimate if value.input_tokens is None else value.input_tokens
        real_out = len(value.text) // BYTES_A_TOKEN if value.output_tokens is None else value.output_tokens
        self._budget.settle(estimate, real_in + real_out)
        return answer


def _add(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other
