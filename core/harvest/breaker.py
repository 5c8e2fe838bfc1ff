"""Stops asking a model that cannot answer anybody: a wrong key is not sent once for every conversation."""

from __future__ import annotations

import threading

from core.base.answer import Answer
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
