"""What an operation returns: a value, or one error that a person can act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class ErrorInfo:
    """One failure, told to a person.

    `code` is stable and machine-readable (`no-credentials`, `lock-held`); `message` is one sentence that says what
    went wrong; `path` names the file it is about ("" for none); `hint` says what to do next ("" for none).
    """

    code: str
    message: str
    path: str = ""
    hint: str = ""

    def __str__(self) -> str:
        parts = [self.message.rstrip(".")]
        if self.path and self.path not in self.message:
            parts[0] += f" ({self.path})"
        if self.hint:
            name = "_" in self.hint.partition(" ")[0]  # a setting keeps the letters by which it is found
            parts.append((self.hint[:1] if name else self.hint[:1].upper()) + self.hint[1:].rstrip("."))
        return ". ".join(parts) + "."


@dataclass(frozen=True)
class Ok(Generic[T]):
    """The operation succeeded with `value`."""

    value: T


@dataclass(frozen=True)
class Err:
    """The operation failed; nothing was lost by it. `requests`: of a question to a model, how often it was sent."""

    error: ErrorInfo
    requests: int = 0


Result: TypeAlias = Ok[T] | Err


def fail(code: str, message: str, path: object = "", hint: str = "") -> Err:
    """Build an `Err` in one line; `path` may be a Path."""
    return Err(ErrorInfo(code, message, str(path), hint))
