"""Asks a provider as often as it takes, within one deadline, and tells failures in one sentence.

Asked again: 429 and 5xx (RFC 9110, section 15; 529 is Anthropic's "overloaded") and connections that break, after a
pause that doubles each time, or after what `Retry-After` (RFC 9110, section 10.2.3: seconds or a date) or Google's
`RetryInfo` says.
Never asked again: other 4xx, redirects, answers that are too large, certificates that do not match.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from core.base.exchange import SLICE_SECONDS, Call, Reply, TransportError, exchange
from core.base.result import KnowledgeError
from core.llm.wire import child, decode_object, excerpt, host_of, rows, text_of

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0


def never() -> bool:
    """The answer to "has the user cancelled?" where nobody can."""
    return False


@dataclass
class RetryPolicy:
    """How long and how often to try.

    `deadline` is a time of `time.monotonic` (seconds); `sleep` takes seconds and is replaced in tests only. `requests`
    counts what was sent so far.
    """

    deadline: float
    max_retries: int
    max_answer_bytes: int
    cancelled: Callable[[], bool] = never
    sleep: Callable[[float], None] = time.sleep
    requests: int = 0

    def remaining(self) -> float:
        """Seconds left."""
        return self.deadline - time.monotonic()


def post(call: Call, retry_policy: RetryPolicy) -> Reply:
    """POST `call`, repeating what may pass. Returns the first reply whose status is not worth another try.

    Raises KnowledgeError: `timed-out`, `cancelled`, `unreachable` (nobody took the call), `connection-failed` (it broke
    off), `answer-too-large`, `rate-limited`, `server-error` and others that name what happened, with the host and what
    to do.
    """
    attempt = 0
    while True:
        if retry_policy.cancelled():
            raise _broken(call, TransportError("cancelled"), retry_policy)
        if retry_policy.remaining() <= 0:
            raise _broken(call, TransportError("timeout"), retry_policy)
        result = exchange(
            call,
            seconds=retry_policy.remaining(),
            max_bytes=retry_policy.max_answer_bytes,
            cancelled=retry_policy.cancelled,
        )
        retry_policy.requests += not (isinstance(result, TransportError) and result.kind in _UNSENT)
        if not _may_pass(result):
            if isinstance(result, TransportError):
                raise _broken(call, result, retry_policy)
            return result
        gave_up = _broken(call, result, retry_policy) if isinstance(result, TransportError) else refusal(call, result)
        if attempt >= retry_policy.max_retries:
            raise gave_up
        pause = _pause_before(attempt, result)
        if pause >= retry_policy.remaining():
            raise gave_up  # the next try would begin after the deadline: say now what is wrong
        while pause > 0 and not retry_policy.cancelled():  # in short steps, so that a cancellation is noticed
            step = min(SLICE_SECONDS, pause)
            retry_policy.sleep(step)
            pause -= step
        attempt += 1


_UNSENT = ("absent", "address", "certificate")
"""Kinds of failures before anything was sent."""


def _may_pass(result: Reply | TransportError) -> bool:
    """Whether the same request may succeed a little later."""
    if isinstance(result, TransportError):
        return result.kind in ("connection", "absent")
    if result.status == 429:
        # OpenAI also says 429 when the account has no money left; waiting does not help there.
        return b"insufficient_quota" not in result.body
    return 500 <= result.status <= 599


def _pause_before(attempt: int, result: Reply | TransportError) -> float:
    """Seconds until the next try; `attempt` counts the failures before this one."""
    asked = None
    if isinstance(result, Reply):
        asked = retry_after(result.headers.get("retry-after", ""))
        asked = retry_info(result.body) if asked is None else asked
    if asked is not None:
        return asked
    longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(attempt, 10))
    return longest * random.uniform(0.5, 1.0)  # spread, so that parallel calls do not come back as one


def retry_after(value: str) -> float | None:
    """The seconds that a `Retry-After` header asks for (a number or an HTTP date), or None if it says neither."""
    value = value.strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def retry_info(body: bytes) -> float | None:
    """The seconds that Google asks for in the body of a refusal (google.rpc.RetryInfo: `"retryDelay": "34.5s"`), or
    None."""
    for row in rows(child(decode_object(body), "error"), "details"):
        delay = text_of(row, "retryDelay").removesuffix("s")
        if text_of(row, "@type").endswith("/google.rpc.RetryInfo") and delay:
            return retry_after(delay) if delay.replace(".", "", 1).isdigit() else None
    return None


# What kept an exchange from an answer -> code, what happened, what to do.
_BROKEN = {
    "timeout": ("timed-out", "{who} did not answer completely in the time allowed",
                "raise request_timeout_seconds, or choose a faster model"),
    "cancelled": ("cancelled", "the call to {who} was cancelled", "run again to go on"),
    "too-large": ("answer-too-large", "the answer of {who} is larger than {size} bytes", "choose another model"),
    "certificate": ("bad-certificate", "the certificate of {who} cannot be trusted{bracketed}",
                    "check base_url and, behind a company proxy, REQUESTS_CA_BUNDLE"),
    "address": ("bad-address", "{who} cannot be addressed", "check base_url"),
    "encoding": ("bad-answer", "{who} answers in a compression that was not asked for",
                 "check what stands between you and the server"),
    "absent": ("unreachable", "{who} cannot be reached{because}",
               "check that the server runs, that base_url is right and that this computer is online"),
    "connection": ("connection-failed", "the connection to {who} failed or broke off{because}",
                   "check that the server runs, that base_url is right and that this computer is online"),
}  # fmt: skip


def _broken(call: Call, broken: TransportError, retry_policy: RetryPolicy) -> KnowledgeError:
    """The sentence for an exchange that brought no answer."""
    code, what, hint = _BROKEN[broken.kind]
    detail = excerpt(broken.detail, call.key)
    message = what.format(
        who=f"{call.label} at {host_of(call.url)}",
        size=retry_policy.max_answer_bytes,
        because=f": {detail}" if detail else "",
        bracketed=f" ({detail})" if detail else "",
    )
    return KnowledgeError(code, message, hint=(broken.kind == "address" and detail) or hint)


# status -> code, what happened, what to do; a status that is not listed reads "refused the request".
_STATUS = {
    401: ("rejected-key", "does not accept the key", "check the key, in the environment or in credentials.toml"),
    402: ("no-credit", "asks for payment", "check the balance of the account"),
    403: ("forbidden", "does not allow this", "check that the key may use this model"),
    404: ("not-found", "does not know this model or address", "check model and base_url"),
    408: ("server-error", "waited too long for the request", "try again"),
    413: ("too-long", "finds the request too large", "lower summarize_threshold_bytes, or choose another model"),
    429: ("rate-limited", "accepts no more requests for now", "wait, lower jobs, or check the quota of the account"),
}


def refusal(call: Call, reply: Reply) -> KnowledgeError:
    """The error for a reply whose status is not 2xx; what the server says about it is quoted, cut and cleaned."""
    who = f"{call.label} at {host_of(call.url)}"
    if 300 <= reply.status <= 399:
        elsewhere = host_of(reply.headers.get("location", ""))
        message = f"{who} redirects" + (f" to {elsewhere}" if elsewhere else "")
        hint = "redirects are not followed, so that the key stays here; put the final address into base_url"
        return KnowledgeError("redirected", f"{message} (HTTP {reply.status})", hint=hint)
    if 500 <= reply.status <= 599:
        code, what, hint = "server-error", "has a problem of its own", "try again later"
    else:
        code, what, hint = _STATUS.get(reply.status, ("refused", "refused the request", "check model and base_url"))
    said = complaint(reply, call.key)
    if reply.status == 400 and "api key not valid" in said.lower():  # how Gemini says 401
        code, what, hint = _STATUS[401]
    return KnowledgeError(code, f"{who} {what} (HTTP {reply.status})" + (f": {said}" if said else ""), hint=hint)


def complaint(reply: Reply, key: str, limit: int = 200) -> str:
    """What a refusing server says, on one line: the `message` of its JSON error, or the beginning of its text.

    At most `limit` printable characters, without the key.
    OpenAI, Anthropic and Gemini put `{"error": {"message"}}`, Ollama `{"error": "…"}`; a web page is not quoted.
    """
    decoded = decode_object(reply.body)
    if decoded is not None:
        error = decoded.get("error")
        said = text_of(error, "message") or text_of(decoded, "error") or text_of(decoded, "message")
        if said:
            return excerpt(said, key, limit)
    text = reply.body[:4096].decode("utf-8", "replace")
    return "" if text.lstrip().startswith("<") else excerpt(text, key, limit)
