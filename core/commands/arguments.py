"""What several rows of the table of commands share: arguments, and how their choices are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.base.choices import ANY_CATEGORY, BULLET_CATEGORIES
from core.commands.row import Argument, flag


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def option(name: str, words: str, metavar: str, **options: Any) -> Argument:
    """An option with a value, "" when it is not given (unless `options` say otherwise)."""
    return Argument((name,), words, {"default": "", "metavar": metavar, **options})


REPEATED: Mapping[str, Any] = {"action": "append", "metavar": "T"}
CATEGORY = Argument(("category",), listed(BULLET_CATEGORIES), {"choices": BULLET_CATEGORIES, "metavar": "CATEGORY"})
OF_BULLET = Argument(
    CATEGORY.names,
    f"{CATEGORY.help}; omit it when you give FILE:LINE, or words that only one bullet has",
    {**CATEGORY.options, "choices": (*BULLET_CATEGORIES, ANY_CATEGORY)},
)
MATCH = Argument(
    ("match",),
    "the bullet's text or a unique part of it (changes every line that says it), or FILE:LINE (that line only)",
)
SECRETS = flag("--keep-secrets", "write passwords and keys in the text as they are, instead of placeholders")
PROJECT = option("--project", "a project's folder (default: the one around this folder)", "DIR")
