"""The steps of a playbook: a list that keeps its order, and one line of it that can be taken apart again.

The line joins them by ` -> `. What cannot be written so that the steps come back as they were (a
here-document, indentation that matters, text over several lines) stays out of the files, whole: a command that lost its
line breaks is dangerous to whoever pastes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from core.base.markdown import ARROW, sanitise_line

BREAK, BLANK, TAB = "⏎", "␣", "⇥"
"""How line breaks and indentation are shown where a playbook waits that fits no line."""
INNER = " → "
"""How an arrow within a step (`Settings -> Pages`) stands in the line; the list keeps it as it was."""
_CONTINUED = re.compile(r"[ \t]*(?<!\\)\\\r?\n[ \t]*")
_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]*\s*\Z")
_MARKER = re.compile(r"\s*(?:[-*•]|\(?\d{1,2}[.)])\s+(?=\S)")
_HERE = re.compile(r"(?<![<\w])<<(?!<)[-~]?\s*\\?['\"]?[A-Za-z_]\w*")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|(?<![\w\"])'[^']*'|`[^`]*`|\$\([^()]*\)")
_OPEN_QUOTE = re.compile(r"(?<!\\)\"|(?<![\w\\])'")
_RUN = re.compile(r"[ \t]{2,}|\t")
_REPOSITORY = re.compile(
    r"(?:(?:^|\s+)(?:of|in|for|on|at|to|from))?(?:^|\s+)`?"
    r"(?P<name>[A-Za-z0-9][\w-]{0,38}/[\w-]+(?:\.[\w-]+)*)`?(?![\w/@-])"
)


class Steps(NamedTuple):
    """The steps in their order. `fits`: the line made of them can be taken apart again. `shown` is that line, or, where
    they fit none, their text with its line breaks and indentation made visible."""

    steps: tuple[str, ...]
    fits: bool
    shown: str


def read_steps(said: Any) -> Steps | None:
    """The steps as a model wrote them: a list, lines of a text, or one line with arrows. None for another shape."""
    if isinstance(said, str):
        text, pieces = said, None
    elif isinstance(said, (list, tuple)) and all(isinstance(one, str) for one in said):
        pieces = [one for one in said if one.strip()]
        text = "\n".join(pieces)
    else:
        return None
    folded = _CONTINUED.sub(" ", text.replace("\r\n", "\n").strip("\n"))
    lines = [line for line in folded.split("\n") if line.strip() and not _FENCE.match(line)]
    if pieces is None and len(lines) == 1:
        whole = lines[0].strip()
        steps = [step.strip() for step in whole.split(ARROW)] if ARROW in whole else [whole]
        fits = _survives(steps)
        return Steps(tuple(steps), fits, ARROW.join(steps) if fits else _visible(text))
    marked = len(lines) > 1 and all(map(_MARKER.match, lines))
    steps = [_MARKER.sub("", line, count=1).strip() if marked else line.strip() for line in lines]
    indented = not marked and any(line[:1] in (" ", "\t") for line in lines[1:] or lines)
    arrows = len(steps) > 1 and any(f" {step} ".startswith(ARROW) or f" {step} ".endswith(ARROW) for step in steps)
    fits = not (indented or arrows or (len(lines) > 1 and _HERE.search(folded))) and _survives(steps)
    shown = [step.replace(ARROW, INNER) for step in steps] if len(steps) > 1 else steps
    return Steps(tuple(steps), bool(fits), ARROW.join(shown) if fits else _visible(text))


def steps_in(line: str) -> tuple[str, ...]:
    """The steps of a bullet's text, `**name**: a -> b`; none for a text that is no list of steps."""
    text = line.partition("**: ")[2] if line.startswith("**") else line
    return tuple(text.split(ARROW)) if ARROW in text else ()


def without_repository(line: str, own: str) -> str:
    """A bullet's text, `**name**: a -> b`, whose name no longer says `own`, the `owner/repository` (in lower case) of
    the project in which the bullet stands anyway."""
    name, end, steps = line.removeprefix("**").partition("**: ")
    if not end or not line.startswith("**"):
        return line
    short = _REPOSITORY.sub(lambda found: "" if found["name"].casefold() == own else found[0], name).strip(" ,:-")
    return f"**{short}**: {steps}" if short else line


def _survives(steps: Iterable[str]) -> bool:
    """Whether each step stands in the line as it was: no text over several lines, no mark that would be defused, no
    blanks that matter."""
    for step in steps:
        if _OPEN_QUOTE.search(_QUOTED.sub("", step)):
            return False
        if any(_RUN.search(found[0]) for found in _QUOTED.finditer(step)):
            return False
        plain = " ".join(step.split())
        if sanitise_line(f"x {plain}", None) != f"x {plain}":
            return False
    return True


def _visible(text: str) -> str:
    rows = []
    for line in text.replace("\r\n", "\n").strip("\n").split("\n"):
        bare = line.lstrip(" \t")
        lead = line[: len(line) - len(bare)].replace("\t", TAB).replace(" ", BLANK)
        rows.append(lead + bare.rstrip())
    return f" {BREAK} ".join(rows)
