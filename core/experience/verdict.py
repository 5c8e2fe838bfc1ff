"""What came of a thing after a conversation had used it: what the user said, an error that they pasted, what the
assistant took back, and checks that turned.

Each belongs to the thing: it follows the use before another matter begins, and what may be of something else (an error,
a correction, an apology) has to name what the thing names. On the 69 lines in 63 real sessions that this was made on,
26 of 27 verdicts are found and none is wrong: 17 by what the user said, 4 by an error, 1 by what was taken back, and 4
by checks; without what is taken back one of these would be a win.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from core.base import spoken
from core.base.checks import kinds_run, passed
from core.base.command_line import command_key, error_key, error_line, is_invocation
from core.conversations.conversation import Turn
from core.conversations.events import INTERRUPTED, Command, Edit
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, words_of

OPENING = 3
"""The first sentences of the user's reply in which a verdict stands."""
GO_ON = 6
"""The words of a reply up to which the next one is read too."""
FREE = 2
"""The words of a reply up to which it counts as no reply of its own ("go on")."""
REPLIES = 2
"""The replies that tell how it went."""
TAKEN_BACK = 3
"""The replies before which the assistant may take its own verdict back."""
ERRORS = 20
"""The turns before in which a pasted error must stand to be the same one."""
TESTS = ("test", "integration")
COMMAND = 3
"""The first words of a command by which a thing names it."""
ASKS = 120
"""The last characters of an answer that asks something: a question mark is among them."""
SAID, ADMITS = 300, 700
"""Characters of a reply, and of an answer to it, in which such a thing is said."""

_SENTENCE_ENDS = re.compile(r"(?<=[.!?;…])\s+|(?<=[。！？；])|\n+|,?\s+(?=(?:but|ma|aber|mais|pero|mas|но)\b)|(?=但)")
_NOW_WORKS = re.compile(r"\b(?:now|all)\b.{0,20}\b(?:works?|fixed|solved)\b", re.IGNORECASE)
_ASKED = re.compile(r"[?？]\s*\Z|[吗嗎呢][。]?\s*\Z")
_RAISED = re.compile(
    r"(?:^|[:-] )\W*[\w.]*[a-z](?:Error|Exception)(?:\b(?!\()|\Z)|\berror(?:\[\w+\]|:| TS\d)|"
    r"^\W*(?i:error|fatal|panic|npm ERR!?|npm error)\b(?!\()"
)
"""A line that a program printed, and no code that tells of errors."""
_NAME = re.compile(r"[\w.-]+\(\)|\b\w+(?:[._/-]\w+)+|\b\w*[a-z][A-Z]\w*|--\w[\w-]+|\b[A-Z][A-Z_]+\b")
"""A name of code: nobody says it by chance."""
_OF_ANY_ERROR = frozenset((
    "error", "failed", "file", "line", "command", "found", "not", "module", "name", "cannot", "does", "exist", "https",
    "com", "git",
))  # fmt: skip


class Verdict(NamedTuple):
    """What came of a thing, and the words that show it."""

    outcome: str
    why: str


def verdict(text: str, turns: Sequence[Turn], used: int = 0, before: Sequence[Turn] = ()) -> Verdict | None:
    """What came of the thing that says `text`, which was handed out after the turns `before` and used in
    `turns[used]`; None where nothing tells."""
    replies = [at for at in range(used + 1, len(turns)) if by_user(turns[at])]
    asked = [at for at in range(used) if by_user(turns[at])]
    start = asked[-1] if asked else 0
    work = turns[start : _matter_ends(turns, replies[0] if replies else len(turns))]
    earlier = (*before, *turns[:start])
    return (
        _said(text, turns, replies, used, before)
        or _taken_back(text, turns, replies, used)
        or _ran(text, work, earlier)
        or _checked(text, work, earlier)
    )


def by_user(turn: Turn) -> bool:
    """Whether the user says something in a turn, and not a sub-agent's orders or a note of the tool."""
    said = turn.text.strip()
    return turn.role == "user" and bool(said) and not turn.agent and not said.startswith(INTERRUPTED)


def _said(
    text: str, turns: Sequence[Turn], replies: Sequence[int], used: int, before: Sequence[Turn]
) -> Verdict | None:
    """What the user said or pasted. What fails after it is said that this works is something else; a question tells at
    most that something fails."""
    counted = 0
    for at in replies:
        words = turns[at].text.strip()
        length = len(words.split())
        counted += length > FREE
        outcome = _outcome(words[:SAID], text, asked=_asks(turns, used, at)) or _denied(words[:SAID], text)
        if not outcome and _pasted_error(words, text, (*before[-ERRORS:], *turns[:used])):
            return Verdict("misleading", error_line(words)[:SAID])
        if outcome:
            return Verdict(outcome, " ".join(words[:SAID].split()))
        if length > GO_ON or counted == REPLIES:
            return None
    return None


def _asks(turns: Sequence[Turn], used: int, at: int) -> bool:
    """Whether the assistant asked something before this reply."""
    said = (turn.text.strip() for turn in reversed(turns[used:at]) if turn.role == "assistant" and turn.text.strip())
    return "?" in next(said, "")[-ASKS:]


def _outcome(words: str, text: str, *, asked: bool) -> str:
    """What a reply says of the answer before it, which drew on `text` and `asked` something or not; "" for nothing."""
    works = elsewhere = False
    for one in [part for part in _SENTENCE_ENDS.split(words) if part.strip()][:OPENING]:
        asks = _ASKED.search(one.rstrip())
        failing = _happened(spoken.FAILS.search(one))
        elsewhere = elsewhere or bool(spoken.ASKS_FOR.match(spoken.FILLER.sub("", one)) and not names_it(text, one))
        past = failing and _NOW_WORKS.search(one, failing.end())
        fails = failing and not (past or works or elsewhere or spoken.ELSEWHERE.search(one))
        no = None if asked else spoken.NO.search(one)
        denies = not asks and (
            _happened(spoken.WRONG.search(one)) or (no and not spoken.CONTENT.match(words.partition(no[0])[2]))
        )
        if fails or (denies and not works):
            return "misleading"
        working = spoken.WORKS.search(one)
        wished = working and (spoken.WISHED.search(one[: working.start()]) or spoken.ONCE.match(one, working.end()))
        works = works or bool(working and not failing and not asks and not wished)
    if works:
        return "win"
    said = spoken.FILLER.sub("", words)
    praise = None if asked and spoken.YES.match(words) else spoken.PRAISE.match(said)
    if praise is None or spoken.SPOILS.search(said) or spoken.BUT.match(said[praise.end() :].lstrip(" ,.!")):
        return ""
    return "win"


def _happened(found: re.Match[str] | None) -> re.Match[str] | None:
    return None if found is None or spoken.SUPPOSED.search(found.string[: found.start()]) else found


def _denied(words: str, text: str) -> str:
    """Whether a reply objects to what the thing names, or says that it is not so."""
    first = words[:160]
    said = re.split(r"(?<=[.!?。！？])", first)[0]
    if spoken.OBJECTS.match(said) and not _ASKED.search(said) and names_it(text, first):
        return "misleading"
    told = _telling(text)
    for found in spoken.IS_NOT.finditer(first):
        if set(words_of(first[found.end() :])[:3]) & told:
            return "misleading"
    return ""


def _pasted_error(words: str, text: str, before: Sequence[Turn]) -> bool:
    """Whether a reply shows an error that names what the thing names, or the one that had been there before."""
    line = error_line(words)
    if not (_RAISED.search(line) or is_invocation(line)):
        return False
    if (set(words_of(line)) - _OF_ANY_ERROR) & _telling(text):
        return True
    key = error_key(words)
    return any(key == error_key(turn.text) for turn in before if by_user(turn))


def _taken_back(text: str, turns: Sequence[Turn], replies: Sequence[int], used: int) -> Verdict | None:
    """What the assistant gave up, where that names what the thing names; an apology tells it in the answer to the
    first reply alone."""
    last = replies[TAKEN_BACK] if len(replies) > TAKEN_BACK else len(turns)
    answered = False
    for at in range(used + 1, last):
        turn = turns[at]
        said = turn.text.strip()[:ADMITS]
        if turn.role != "assistant" or not said:
            continue
        first = bool(replies) and at > replies[0] and not answered
        answered = answered or first
        sorry = (
            first and spoken.APOLOGY.search(said[:SAID]) and names_it(text, f"{turns[replies[0]].text[:SAID]}\n{said}")
        )
        if sorry or any(spoken.TAKES_BACK.search(line) and names_it(text, line) for line in said.split("\n")):
            return Verdict("misleading", " ".join(said[:SAID].split()))
    return None


def _telling(text: str) -> set[str]:
    return {word for word in words_of(text) if len(word) > 2} - STOP_WORDS - FOREIGN_STOP_WORDS


def name_words(text: str) -> set[str]:
    """The words of the names of code in a text."""
    return {word for name in _NAME.findall(text) for word in words_of(name)}


def names_it(text: str, said: str) -> bool:
    """Whether what is said has a name of code that a thing has, or several of its words."""
    names = {name.strip("()-.").casefold() for name in _NAME.findall(text)}
    low = said.casefold()
    return any(len(name) > 2 and name in low for name in names) or len(_telling(text) & set(words_of(said))) > 2


def _ran(text: str, work: Sequence[Turn], earlier: Sequence[Turn]) -> Verdict | None:
    """What came of the command that the thing names, where it had not run before: a check that passed, or any that was
    called wrongly. That another one ran says little."""
    followed = [event for event in _commands(work) if _names_command(text, event)]
    if not followed or any(_names_command(text, event) and not event.failed for event in _commands(earlier)):
        return None
    last, line = followed[-1], error_line(followed[-1].output)
    if is_invocation(line) and last.failed is not False:
        return Verdict("misleading", line[:SAID])
    is_green = kinds_run(last.words) and passed(last.words, last.output, last.failed)
    return Verdict("win", f"passed: {' '.join(last.words.split())[:SAID]}") if is_green else None


def _names_command(text: str, event: Command) -> bool:
    """Whether the words with which a command begins stand in a thing."""
    line = f" {' '.join(text.replace('`', ' ').split())} "
    parts = (part.split()[:COMMAND] for part in command_key(event.words).split(" && "))
    return any(len(part) == COMMAND and f" {' '.join(part)}" in line for part in parts)


def _commands(turns: Sequence[Turn]) -> Iterator[Command]:
    for turn in turns:
        for event in turn.events:
            if isinstance(event, Command) and event.answered and not event.refused:
                yield event


def _checked(text: str, work: Sequence[Turn], earlier: Sequence[Turn]) -> Verdict | None:
    """What checks say that ran behind the use, up to the end of the user's matter: a test passed that had not before,
    or another check that had failed, all others passed too, and what was written has what the thing says."""
    rows = list(_checks(work))
    after = dict(rows)
    if not after or not all(check.is_green for check in after.values()):
        return None
    written = "\n".join(turn.text for turn in work if has_written(turn))
    last = next((turn.text for turn in reversed(work) if turn.role == "assistant" and turn.text.strip()), "")
    if not written or not names_it(text, f"{written}\n{last}"):
        return None
    known = _last_checks(earlier, after.keys())
    red = {kind for kind, check in (*known.items(), *rows) if check.is_green is False}
    turned = [check for kind, check in after.items() if kind in red or (kind in TESTS and kind not in known)]
    return Verdict("win", f"passed afterwards: {turned[-1].words}") if turned else None


def _last_checks(turns: Sequence[Turn], kinds: Iterable[str]) -> dict[str, _Check]:
    """How the last check of each of these kinds went, of those that ran."""
    wanted = set(kinds)
    found: dict[str, _Check] = {}
    for turn in reversed(turns):
        if not wanted:
            break
        for kind, check in reversed(list(_checks([turn]))):
            if kind in wanted:
                wanted.discard(kind)
                found[kind] = check
    return found


def has_written(turn: Turn) -> bool:
    """Whether a turn is a call that writes into files."""
    return turn.is_call and any(isinstance(event, Edit) for event in turn.events)


def _matter_ends(turns: Sequence[Turn], reply: int) -> int:
    """Where the matter of the first reply ends: at that reply, or at the next where it only says to go on."""
    if reply >= len(turns) or len(turns[reply].text.split()) > FREE:
        return reply
    return next((at for at in range(reply + 1, len(turns)) if by_user(turns[at])), len(turns))


class _Check(NamedTuple):
    is_green: bool | None
    words: str


def _checks(turns: Sequence[Turn]) -> Iterator[tuple[str, _Check]]:
    """The kinds of checks that ran, in their order, and how the last of each went."""
    for event in _commands(turns):
        check = _Check(passed(event.words, event.output, event.failed), " ".join(event.words.split())[:SAID])
        yield from ((kind, check) for kind in kinds_run(event.words) - {"format"})
