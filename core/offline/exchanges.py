"""What the user said at one place of a session, with what stood before it and what followed.

A sentence of a user rarely says what it is about: the message it answers, the file that was just written, the command
they stopped and the title of the session do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.conversations.conversation import Turn
from core.conversations.events import Command, Edit, Event, Question
from core.offline import cues
from core.offline.prose import begun, by_person, clean, looks_like_code
from core.offline.sessions import Closing, Session, bare, is_change
from core.offline.statements import Found

LONGEST_MESSAGE, MAX_MESSAGE_LINES = 1000, 15
"""A longer message was mostly pasted: somebody else's words, or a page's."""


@dataclass(frozen=True)
class Exchange:
    """What the user said at one place, what stood before it, and what followed until they spoke again.

    `before` is the assistant's closing message that they answer, `touched` the file that was written last before they
    spoke, `stopped` what they interrupted ("" where they let it end); `replies` are the assistant's texts behind with
    their numbers, `events` what happened meanwhile, `refused` the calls before it that they refused; `doubted` says
    that their next words contradict the reply.
    """

    number: int
    text: str
    before: Closing | None
    touched: str
    stopped: str
    refused: tuple[Event, ...]
    replies: tuple[tuple[int, Turn], ...]
    events: tuple[Event, ...]
    doubted: bool

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the files that were written before the user spoke again."""
        edits = [row for row in self.events if isinstance(row, Edit) and is_change(row)]
        return tuple(dict.fromkeys(name for row in edits for name in row.names))


def _stopped(session: Session, first: int, number: int) -> str:
    """The command or file at which the user interrupted the assistant, right before they spoke."""
    before = session.conversation.turns[number - 1] if number else None
    if before is None or before.role != "system" or not before.text.startswith("[Request interrupted"):
        return ""
    calls = [row for place, row in session.events if first < place < number and isinstance(row, Command | Edit)]
    last = calls[-1] if calls else None
    line = (
        bare(last.words).split("\n")[0] if isinstance(last, Command) else last.names[-1] if last and last.names else ""
    )
    return line if 0 < len(line) <= 120 else "its work"


def read_exchanges(session: Session) -> list[Exchange]:
    """The user's own words in their order, without pasted text and what a template says in their role."""
    turns = session.conversation.turns
    spoken = [number for number, turn in enumerate(turns) if by_person(turn)]
    answers = {
        answer[:40] for _, row in session.events if isinstance(row, Question) for *_, answer in row.asked if answer
    }
    found = []
    for at, number in enumerate(spoken):
        first, last = spoken[at - 1] if at else -1, spoken[at + 1] if at + 1 < len(spoken) else len(turns)
        text = typed(_WITH_COMMAND.sub("", turns[number].text.strip()))
        if not text or any(answer in text for answer in answers):
            continue  # an answer stands with its question
        written = [row for place, row in session.events if first < place < number and isinstance(row, Edit)]
        said = [(place, turn) for place, turn in enumerate(turns[number + 1 : last], number + 1)]
        found.append(
            Exchange(
                number=number,
                text=text,
                before=next((row for row in session.closings if first < row.number < number), None),
                touched=next((row.names[-1] for row in reversed(written) if row.names), ""),
                stopped=_stopped(session, first, number),
                refused=tuple(
                    row for place, row in session.events if first < place <= number and getattr(row, "refused", False)
                ),
                replies=tuple(
                    row for row in said if row[1].role == "assistant" and not row[1].agent and row[1].text.strip()
                ),
                events=tuple(row for place, row in session.events if number < place < last),
                doubted=last < len(turns) and cues.CORRECTION.match(turns[last].text.strip()) is not None,
            )
        )
    return found


_WITH_COMMAND = re.compile(r"^/(?:ask|code|architect)[ \t]+")
"""The commands that hand a sentence to the model; whatever else begins so is said to the tool alone."""


def own_words(text: str) -> bool:
    """Whether a message reads as typed by a user: short, no page, no template, no order of a program."""
    if (
        not text
        or len(text) > LONGEST_MESSAGE
        or text.count("\n") > MAX_MESSAGE_LINES
        or text.startswith(("/", "<", "!", "{"))
    ):
        return False
    return not _foreign(text)


def typed(text: str) -> str:
    """What a user typed of a message: all of a short one; of a longer one, which was mostly pasted, the first and the
    last paragraph where these are short sentences; "" for what a program or a template says."""
    if len(_OUTPUT.findall(text)) >= LEAST_OUTPUT:  # what somebody wrote stands before or behind it
        text = "\n\n".join(part.strip() for part in _PASTED.split(text, maxsplit=1) if part.strip())
    if own_words(text):
        return text
    if len(text) > LONGEST_PASTED or text.startswith(("/", "<", "!", "{")) or cues.BOILERPLATE.search(text):
        return ""
    parts = [
        part.strip() for part in re.split(r"\n\s*\n|^```.*?^```\s*$", text, flags=re.DOTALL | re.MULTILINE) if part
    ]
    ends = [part for part in dict.fromkeys((*parts[:1], *parts[-1:])) if _is_sentence(part)]
    return "\n\n".join(ends) if len(parts) > 1 else ""


_LINE_OF_OUTPUT = (
    r"^[ \t]*(?:[$%*|+✓✗×❯]\s|at \S+[ (]|File \"|Traceback|\[[\w: .-]+\]|\d{2,4}[-:/]\d\d|"
    r"(?:WARN(?:ING)?|ERR(?:OR)?|INFO|DEBUG|FATAL|npm|npx|pip|git|fatal|error|warning|note)\b[:! ]|"
    r"(?:added|found|up to date|press|running|compiled|audited)\b.*\d|"
    r"\d+ \w+ (?:are|were|found|audited|failed|passed)\b|"
    r"[\w./\\-]+:\d+|\w+(?:Error|Exception|Warning)\b|PS [A-Z]:|[\w.-]+@[\w.-]+:\S*[$#]).*$"
)
_OUTPUT = re.compile(_LINE_OF_OUTPUT, re.MULTILINE)
_PASTED = re.compile(rf"{_LINE_OF_OUTPUT}(?s:.*){_LINE_OF_OUTPUT}", re.MULTILINE)
"""What stands between the first and the last line that a terminal printed."""
LEAST_OUTPUT = 2
LONGEST_PASTED = 20_000
LONGEST_PART = 300


def _is_sentence(part: str) -> bool:
    return len(part) <= LONGEST_PART and "\n" not in part and own_words(part) and not looks_like_code(part)


def is_long(text: str) -> bool:
    """Whether a message is longer than what people mostly type and yet reads as their own: sentences, and no program,
    page, log or template."""
    if not LONGEST_MESSAGE < len(text) <= LONGEST_TYPED or text.startswith(("/", "<", "!", "{")):
        return False
    return not _foreign(text)


_NO_PLACEHOLDER = re.compile(r"`[^`\n]*`|\[(?:(?:Image|Pasted text) #\d+|redacted: )[^\]\n]*\]")
"""A command's usage (`resume <agent>`), and what stands where a picture or a secret was."""


def has_placeholder(text: str) -> bool:
    """Whether a place of a text waits for words."""
    return cues.TEMPLATE.search(_NO_PLACEHOLDER.sub("", text)) is not None


def _foreign(text: str) -> bool:
    """Whether a template, a program or a page speaks."""
    return bool(has_placeholder(text) or cues.BOILERPLATE.search(text) or _DOCUMENT.search(text))


LONGEST_TYPED = 3000

_DOCUMENT = re.compile(r"^\s{0,3}(?:#{1,4}\s|\||\d+\.\s+\*\*)", re.MULTILINE)


_STAMP = re.compile(r"\s*\(\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}[^)]*\)\s*$")


def subject_of(session: Session) -> str:
    """What the session was about, in few words: its title or what the user asked for first, and where these are vague
    ("do both please") its branch."""
    turns = session.conversation.turns
    first = next((turn.text for turn in turns if by_person(turn) and own_words(turn.text)), "")
    title = session.conversation.title or cues.first_sentence(first, 120) or " ".join(first.split())[:100]
    cut = title.endswith(("…", "..."))
    title = clean(_STAMP.sub("", re.sub(r"https?://\S+", "", title))).strip(" -–—:(…")
    title = title.rsplit(" ", 1)[0] if len(title) in (79, 80) or cut else title  # cut in a word
    vague = title.isascii() and len(title.split()) < 5 and not cues.ANCHOR.search(title)
    branch = session.conversation.branch
    return f"branch {branch}" if vague and branch not in ("", "main", "master", "HEAD") else title


def found(category: str, statement: str, detail: str, quote: str, score: int, turn: int) -> Found:
    """An item whose statement begins with a capital."""
    statement = statement.replace("`", "") if statement.count("`") % 2 else statement
    fields = {"statement": begun(statement), "detail": detail.strip(), "quote": quote.strip()}
    return Found(category, fields, score, turn)
