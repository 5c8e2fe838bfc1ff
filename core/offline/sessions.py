"""What the structure of a coding session says: its commits, failing commands, checks, plans, answers and last words.

Most of what an attentive reader keeps of a session stands in a few places that its events tell (see
`tests/quality/README.md` for the shares). Each finder here looks at one of them. Structure works in any language; the
few words that matter are in `words.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import (
    Call,
    Command,
    Commit,
    Compaction,
    Edit,
    Event,
    Plan,
    PullRequest,
    Push,
    Question,
)
from core.offline import words
from core.offline.prose import clean
from core.offline.statements import Found

MOST_COMMITS = 6
LOOK_AHEAD = 8
"""A variant that passes is looked for among so many commands behind the one that failed."""


def find_in_session(conversation: Conversation) -> Iterator[Found]:
    """Everything that the events of a session tell; nothing for a conversation without events."""
    events = [
        (number, event) for number, turn in enumerate(conversation.turns) for event in turn.events if not turn.agent
    ]
    if not events:
        return
    yield from _work(conversation, events)
    yield from _repairs(conversation, events)
    yield from _checks(conversation, events)
    yield from _answers(events)
    yield from _plans(conversation, events)


# --- commits, pushes, pull requests  ---

_MERGE = re.compile(
    r"^(?:Merge (?:branch|remote|pull request|commit|tag)|Revert \"|wip\b|fixup!|squash!|checkpoint)", re.I
)


def _work(conversation: Conversation, events: Sequence[tuple[int, Event]]) -> Iterator[Found]:
    """What was committed, with what became of it: one item a commit, the last `MOST_COMMITS` of them."""
    made = [(turn, row) for turn, row in events if isinstance(row, Commit) and row.succeeded and row.subject]
    undone = {row.subject for _, row in events if isinstance(row, Commit) and row.subject.startswith('Revert "')}
    made = [
        (turn, row) for turn, row in made if not _MERGE.match(row.subject) and f'Revert "{row.subject}"' not in undone
    ]
    # An amended commit is one commit: the last one of a subject stands.
    last = {row.subject: (turn, row) for turn, row in made}
    kept = list(last.values())[-MOST_COMMITS:]
    for turn, commit in kept:
        where = _sent(turn, events)
        statement = f"{commit.subject} (commit {commit.hash[:8]}{where})"
        yield Found(
            "tasks_done", {"statement": statement, "detail": "", "quote": _line(conversation, commit)}, 70, turn
        )
    yield from _begun(conversation, events)


def _sent(at: int, events: Sequence[tuple[int, Event]]) -> str:
    later = [row for turn, row in events if turn >= at]
    link = next((row.url for row in later if isinstance(row, PullRequest) and row.url), "")
    if link:
        return f", {link}"
    return ", pushed" if any(isinstance(row, Push) and row.succeeded for row in later) else ""


def _line(conversation: Conversation, commit: Commit) -> str:
    """The line that tells of a commit as it stands in a turn of the tool, or "" where none does."""
    for turn in conversation.turns:
        if turn.role == "tool" and commit.hash and commit.hash in turn.text:
            return next((row.strip() for row in turn.text.split("\n") if commit.hash in row), "")
    return ""


def _begun(conversation: Conversation, events: Sequence[tuple[int, Event]]) -> Iterator[Found]:
    """A session that ends in the middle of a commit or push leaves it open."""
    paired = any(isinstance(row, Call) and row.answered for _, row in events)
    calls = [(turn, row) for turn, row in events if isinstance(row, Call)]
    if not paired or not calls:
        return
    turn, last = calls[-1]
    if not isinstance(last, Command) or last.answered or turn < len(conversation.turns) - 2:
        return
    where = f" on branch {conversation.branch}" if conversation.branch else ""
    begun = [row for at, row in events if at == turn and isinstance(row, Commit | Push)]
    for row in begun:
        what = f"the commit “{row.subject}”" if isinstance(row, Commit) else f"`{row.words}`"
        text = f"Check whether {what} went through{where}: the session ends before its result"
        yield Found("tasks_open", {"statement": text, "detail": "", "quote": ""}, 60, turn)


# --- a command that fails, and the variant that passes  ---

_ASIDE = re.compile(r"\s*(?:2>&1|2>\s*/dev/null|\|\s*(?:tail|head|cat|less)\b[^|;&]*|>\s*/dev/null)\s*")
_CD = re.compile(r"^\s*cd\s+\S+\s*(?:&&|;)\s*")


def bare(command: str) -> str:
    """A command line without what only cuts its output, and without the change of folder in front."""
    line = command.strip()
    while _CD.match(line):
        line = _CD.sub("", line, count=1)
    while _ASIDE.search(line):
        line = _ASIDE.sub(" ", line).strip()
    return " ".join(line.split()) if "\n" not in line else line


def failure(event: Command) -> str:
    """The line of a command's output that says why it failed, or "". Output is looked at as well as the status: behind
    a pipe every command succeeds."""
    rows = [row.strip() for row in event.output.split("\n") if row.strip()]
    if event.refused or not event.answered:
        return ""
    found = [row for row in rows if words.ERROR.search(row) and not words.NO_ERROR.search(row)]
    if not found:
        return ""
    if not event.failed and not words.HARD_ERROR.search(found[0]):
        return ""
    return found[0]


def _repairs(conversation: Conversation, events: Sequence[tuple[int, Event]]) -> Iterator[Found]:
    commands = [(at, turn, row) for at, (turn, row) in enumerate(events) if isinstance(row, Command)]
    for number, (at, _, row) in enumerate(commands):
        why = failure(row)
        wrong = bare(row.words)
        if not why or not words.OF_USAGE.search(why) or len(wrong) > 200 or "\n" in wrong:
            continue
        for later, at_turn, other in commands[number + 1 : number + 1 + LOOK_AHEAD]:
            right = bare(other.words)
            if not _variant(wrong, right) or failure(other) or other.failed or not other.answered or other.refused:
                continue
            if any(isinstance(event, Edit) for _, event in events[at:later]):
                break  # the code was changed: that is work, not another way to say the same
            if any(name in why for name in words.PLACEHOLDERS) or words.ONE_OFF.search(wrong + " " + right):
                break
            told = why if len(why) <= 160 else why[:160].rsplit(" ", 1)[0] + " …"
            fields = {
                "statement": f"`{wrong}` fails (“{told}”); `{right}` works",
                "detail": "", "quote": why if len(why) < 400 else "", "kind": "tool-quirk",
            }  # fmt: skip
            yield Found("facts", fields, 65, at_turn)
            break


def _variant(wrong: str, right: str) -> bool:
    """Whether two command lines want the same in two ways: one program, most of the words."""
    if wrong == right or len(right) > 200 or "\n" in right:
        return False
    first, second = wrong.split(), right.split()
    if not first or not second:
        return False
    program = next((word for word in first if "=" not in word), "")
    if program not in second[:4] and not set(first[:2]) & set(second[:4]):
        return False
    return SequenceMatcher(None, first, second).ratio() >= 0.6


# --- checks that the repository has  ---


def _checks(conversation: Conversation, events: Sequence[tuple[int, Event]]) -> Iterator[Found]:
    """The commands with which a change is checked here: those that ran and passed after an edit."""
    first_edit = next((at for at, (_, row) in enumerate(events) if isinstance(row, Edit)), len(events))
    ran: dict[str, tuple[str, int]] = {}
    for turn, row in events[first_edit:]:
        if not isinstance(row, Command) or not row.answered or row.failed or failure(row):
            continue
        for part in re.split(r"\s*(?:&&|;)\s*", bare(row.words)):
            kind = words.check_kind(part)
            if kind and not words.ONE_OFF.search(part):
                ran[kind] = (part, turn)
    steps = [ran[kind][0] for kind in words.CHECKS if kind in ran]
    if len(steps) < 2:
        return
    name = _repository(conversation)
    fields = {
        "name": f"Checks of {name}" if name else "Checks",
        "steps": " -> ".join(dict.fromkeys(steps)),
        "quote": "",
    }
    yield Found("playbooks", fields, 60, max(turn for _, turn in ran.values()))


def _repository(conversation: Conversation) -> str:
    name = conversation.repository.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1]
    folder = re.split(r"[\\/]\.?worktrees?[\\/]", conversation.folder.rstrip("/\\"))[0]
    return name or re.split(r"[\\/]", folder)[-1]


# --- questions that were answered, plans that were approved  ---


def _answers(events: Sequence[tuple[int, Event]]) -> Iterator[Found]:
    """A question that was put to the person is a decision with its answer, and open without one at the very end."""
    for turn, row in events:
        if not isinstance(row, Question):
            continue
        for asked, options, answer in row.asked:
            question, given = clean(asked), clean(answer)
            if given and len(given) <= 300 and not words.NO_ANSWER.match(given):
                text = f"{question} → {given}"
                yield Found("decisions", {"statement": text, "detail": "", "quote": answer.strip()}, 75, turn)
            elif not answer and not row.answered and (turn, row) == events[-1]:
                detail = f"options: {options}" if options else ""
                yield Found("questions", {"statement": question, "detail": detail, "quote": ""}, 70, turn)


_HEADING = re.compile(r"^#{1,3}\s+(?:Plan:?\s+|Implementation Plan:?\s+)?(.+?)\s*#*$", re.MULTILINE | re.IGNORECASE)


def _plans(conversation: Conversation, events: Sequence[tuple[int, Event]]) -> Iterator[Found]:
    """The last plan: approved and carried out it is a decision with its reason, else an open task."""
    plans = [(turn, row) for turn, row in events if isinstance(row, Plan) and row.text.strip()]
    if not plans:
        return
    turn, plan = plans[-1]
    heading = _HEADING.search(plan.text)
    title = clean(heading[1]) if heading else ""
    if not title or words.GENERIC_TITLE.fullmatch(title):
        return
    worked = any(isinstance(row, Edit) and not row.refused for at, row in events if at > turn or (at == turn))
    if plan.approved and worked:
        how = words.first_sentence(_section(plan.text, words.APPROACH))
        why = words.first_sentence(_section(plan.text, words.CONTEXT))
        if how:
            detail = f"{title}. {why}" if why else title
            yield Found("decisions", {"statement": how, "detail": detail, "quote": ""}, 70, turn)
    elif plan.approved is not True and not any(isinstance(row, Edit) for at, row in events if at > turn):
        why = words.first_sentence(_section(plan.text, words.CONTEXT))
        text = f"Planned and not carried out: {title}"
        yield Found("tasks_open", {"statement": text, "detail": why, "quote": ""}, 65, turn)


def _section(text: str, names: re.Pattern[str]) -> str:
    """What stands below the first heading of these names, up to the next heading."""
    parts = re.split(r"^#{1,4}\s+(.+?)\s*$", text, flags=re.MULTILINE)
    for name, body in zip(parts[1::2], parts[2::2], strict=False):
        if names.search(name):
            return body.strip()
    return ""


# --- what a closing message leaves  ---


def closing_turns(conversation: Conversation) -> Iterator[tuple[int, Turn, bool]]:
    """The assistant's last words before each word of the person, and at the end: (number, turn, whether the end)."""
    last = -1
    for number, turn in enumerate(conversation.turns):
        if turn.agent:
            continue
        if turn.role == "user" and last >= 0:
            yield last, conversation.turns[last], False
            last = -1
        elif turn.role == "assistant":
            last = number
    if last >= 0:
        yield last, conversation.turns[last], True


def compactions(conversation: Conversation) -> Iterator[tuple[int, str]]:
    """Summaries that the tool put in the place of what went before."""
    for number, turn in enumerate(conversation.turns):
        for event in turn.events:
            if isinstance(event, Compaction):
                yield number, event.text
