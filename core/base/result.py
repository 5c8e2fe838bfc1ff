"""The one exception for what a user can cause, and what stands for it where a failure is a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, NoReturn, ParamSpec, TypeAlias, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class ErrorInfo:
    """One failure, told to the user.

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


class KnowledgeError(Exception):
    """An operation failed for a reason that a user can act on; nothing was lost by it.

    It is raised where the reason is found and caught at the three faces (command line, MCP server, panel), or where
    one failure must not stop the rest of a batch. `requests`: of a question to a model, how often it was sent.
    """

    __match_args__ = ("error",)

    def __init__(self, code: str, message: str, path: object = "", hint: str = "", requests: int = 0) -> None:
        super().__init__(code, message, str(path), hint, requests)
        self.error = ErrorInfo(code, message, str(path), hint)
        self.requests = requests

    @classmethod
    def of(cls, error: ErrorInfo, requests: int = 0) -> KnowledgeError:
        """The exception of a failure that is told already."""
        return cls(error.code, error.message, error.path, error.hint, requests)

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True)
class Ok(Generic[T]):
    """The operation succeeded with `value`."""

    value: T


Result: TypeAlias = Ok[T] | KnowledgeError
"""What became of an operation whose failure is a value: one of a batch, a job of the panel, an answer to a host."""


def attempt(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Result[T]:
    """What `call` gives, in `Ok`, or the KnowledgeError that it raises."""
    try:
        return Ok(call(*arguments, **named))
    except KnowledgeError as error:
        return error


def refuse(error: KnowledgeError) -> NoReturn:
    """Raise it, where only an expression can stand."""
    raise error


@contextmanager
def disk_errors(code: str, message: str, path: object = "", hint: str = "") -> Iterator[None]:
    """Within it, what the system refuses is a KnowledgeError: the message, the system's reason, the `path` ("" for the
    one that it refused)."""
    try:
        yield
    except OSError as error:
        raise KnowledgeError(
            code, f"{message}: {error.strerror or error}", path or error.filename or "", hint
        ) from error
