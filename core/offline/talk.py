"""Talk of several people in one text: chat logs, minutes of meetings, telecon notes.

Such a text is one turn for the rest of the program, because nobody in it is an assistant. Here it becomes lines with
speakers, so that "somebody answered", "three people voted for it" and "she will do it" can be seen.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from core.conversations.conversation import Conversation

LEAST_LINES = 6
MAX_LINES = 50_000
MAX_LINE = 2000

_STAMP = (
    r"(?:\[[^\]\n<>]{1,30}\]|\(?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?(?: -)?)"
)
_NAME = r"[^\W\d_][\w.'’&-]{0,24}(?: [\w.'’&(-][\w.'’&()-]{0,24}){0,3}"
_NICK = re.compile(rf"(?:{_STAMP}\s*)?<[ @+%&~]?([^<>\s]{{1,40}})>\s+(\S.*)")
_STRONG = re.compile(rf"(?:{_STAMP}\s*)?(?:> ?)?(\*{{1,2}}|_{{1,2}})({_NAME})(?::\1|\1:)\s*(\S.*)")
_STAMPED = re.compile(rf"{_STAMP}\s*({_NAME}):\s+(\S.*)")
_PLAIN = re.compile(rf"(?:[*-] )?({_NAME}):\s+(\S.*)")
_NOT_NAMES = frozenset({
    "url", "note", "notes", "todo", "fixme", "date", "time", "chat", "call", "repository", "topic", "agenda", "scribe",
    "scribes", "present", "regrets", "chair", "action", "actions", "action item", "resolution", "resolved", "decision",
    "decisions", "proposal", "proposed", "proposed resolution", "agreed", "question", "questions", "http", "https",
    "see", "example", "warning", "error", "info", "link", "links", "status", "title", "summary", "step", "attendees",
    "location", "name", "version", "license", "author", "authors", "source", "input", "output", "default", "usage",
    "subject", "from", "to", "cc", "re", "fwd", "important", "tip", "caution", "background", "context", "option",
})  # fmt: skip
_MORE = re.compile(r"(?:…|\.{3})\s*(\S.*)")
_DRESS = re.compile(r"^(?:>\s?|[*+-] +)+|(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)")
_NO_WORDS = re.compile(r"^(?:=== |\{:|-{3,}$|\*{3,}$|\* [\w`|^\[\]{}\\-]{1,30} (?:has |is now )|URL: |```)")


@dataclass(frozen=True, slots=True)
class Said:
    """One line of a talk. `speaker` is "" for a line that stands between what people said (what the scribe put down).

    `text` is without marks of who spoke, `quote` the line as it stands; `opens` says that the speaker begins here.
    """

    speaker: str
    text: str
    quote: str
    turn: int
    opens: bool = True


@dataclass(frozen=True)
class Talk:
    """The lines of a talk and the names of who spoke in it, in lower case."""

    lines: tuple[Said, ...]
    speakers: frozenset[str]


def read_talk(conversation: Conversation) -> Talk | None:
    """The lines of a talk; None for a conversation with an assistant, and for a text that is no talk.

    A text is a talk when at least two people speak more than once, and at least a third of its lines begin or continue
    what somebody said. One form of marking is taken for the whole text: the one that marks most lines.
    """
    if any(turn.role == "assistant" for turn in conversation.turns):
        return None
    raw: list[tuple[int, str]] = []
    for number, turn in enumerate(conversation.turns):
        if turn.role == "user" and len(raw) < MAX_LINES:
            raw += [(number, line) for line in turn.text.split("\n") if line.strip()]
    form = _form(raw[:2000])
    if form is None:
        return None
    lines: list[Said] = []
    speaker = ""
    names: Counter[str] = Counter()
    for number, line in raw[:MAX_LINES]:
        bare = line.strip()
        if len(line) > MAX_LINE or _NO_WORDS.match(bare):
            continue
        if bare.startswith("#"):
            speaker = ""
            continue
        found = _spoken(form, bare)
        if found:
            speaker = found[0]
            names[speaker.lower()] += 1
            lines.append(Said(speaker, undress(found[1]), bare, number))
            continue
        more = _MORE.match(bare)
        if speaker and (more or line.startswith(("  ", "\t"))):
            lines.append(Said(speaker, undress(more[1] if more else bare), bare, number, opens=False))
            continue
        lines.append(Said("", undress(bare), bare, number))
    return Talk(tuple(line for line in lines if line.text), frozenset(names))


def undress(text: str) -> str:
    """Without the marks of quotes, lists and emphasis."""
    return " ".join(_DRESS.sub("", text).split())


def _form(raw: list[tuple[int, str]]) -> tuple[re.Pattern[str], ...] | None:
    """How this text marks who speaks, or None when it does not."""
    if len(raw) < LEAST_LINES:
        return None
    for forms in ((_NICK,), (_STRONG,), (_STAMPED,), (_PLAIN,)):
        names: Counter[str] = Counter()
        more = 0
        for _, line in raw:
            found = _spoken(forms, line.strip())
            if found:
                names[found[0].lower()] += 1
            elif names and (line.startswith(("  ", "\t")) or _MORE.match(line.strip())):
                more += 1
        spoken = sum(names.values())
        often = sum(count > 1 for count in names.values())
        share = (spoken + more) / len(raw)
        if spoken >= LEAST_LINES and often >= 2 and share >= (0.5 if forms[0] is _PLAIN and len(raw) < 20 else 0.33):
            if forms[0] is _PLAIN and spoken < 2.5 * len(names):
                continue  # a list of terms with a colon: every "name" speaks once or twice
            return forms
    return None


def _spoken(forms: tuple[re.Pattern[str], ...], line: str) -> tuple[str, str] | None:
    for form in forms:
        found = form.match(line) if len(line) <= MAX_LINE else None
        if found:
            name = found[found.lastindex - 1] if found.lastindex else ""
            if name.lower() not in _NOT_NAMES and not found[found.lastindex or 0].startswith("//"):
                return name, found[found.lastindex or 0]
    return None
