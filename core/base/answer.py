"""The one callable through which every room asks a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from core.base.result import Result


@dataclass(frozen=True)
class Answer:
    """What a model answered, and what it cost.

    Token counts are the provider's own, or None where it does not report them. `truncated` is true when the
    provider says that it stopped at its output limit: such a text must not be trusted to be whole.
    """

    text: str
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    truncated: bool = False


class Generate(Protocol):
    """Asks the configured model once. `schema` is a JSON schema for the answer, or None for free text.

    Never raises for anything the network or the provider can do: such failures come back as `Err`.
    Safe to call from several threads.
    """

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]: ...
