"""The distiller that needs no model: rules that find what a conversation says outright, and nothing else.

The answer has the same seven arrays as a model's, so the rest of the harvest does not know the difference. Rules miss
much; what they do find should be worth keeping. An empty answer is a good answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from core.base.markdown import ITEM_CHARACTERS
from core.conversations.conversation import Conversation
from core.conversations.read import READERS
from core.offline import cues
from core.offline.closing import find_done, read_session
from core.offline.exchanges import subject_of
from core.offline.file_notes import absolute_path, find_file_notes
from core.offline.findings import find_findings
from core.offline.models import Models, shipped_models
from core.offline.people import find_in_talk, find_requests, find_resolutions
from core.offline.person import find_in_chat, find_said
from core.offline.procedures import find_playbooks, find_procedures
from core.offline.prose import read_prose
from core.offline.recurring import find_quirks
from core.offline.sessions import Session, find_in_session
from core.offline.statements import Found, find_questions, find_statements, find_tasks
from core.offline.substance import lost, shortened, without_labels
from core.offline.talk import read_talk
from core.offline.unfinished import find_unfinished

CATEGORIES = ("facts", "decisions", "tasks_done", "tasks_open", "questions", "playbooks", "files")
MAX_ITEMS = 12
LINES_AN_ITEM = 16
CHATS = frozenset({"plain", "home", "chatgpt", "claude_ai", "export_file"})
TOOLS = frozenset(row.name for row in READERS) - {"plain", "home"}
CODING_TOOLS = TOOLS - CHATS


def distil_offline(conversation: Conversation, models: Models | None = None) -> dict[str, list[dict[str, str]]]:
    """The seven arrays of a harvest, without a model of language: deterministic, no network, linear in the text.

    A session with a coding assistant is read by its structure (`sessions.py`, `closing.py`, `findings.py`,
    `person.py`), a chat by its sentences. In a text without an assistant, small linear models (`models`, by default
    those that are shipped) say what was agreed, taken on, asked for and left unanswered.

    Rows have `statement`, `detail` and `quote` (playbooks: `name`, `steps`, `quote`; files: `path`, `note`, `quote`).
    `quote` is one line of the conversation, word for word: of a user or an assistant, and of a tool where it tells of
    a commit or an error; "" where an event has no line that says it. At most `MAX_ITEMS` a category: the best ones, in
    spoken order; of a talk of several people one for each `LINES_AN_ITEM` lines, if that is more.
    """
    most = MAX_ITEMS
    found: Iterable[Found]
    if _with_coding_assistant(conversation):
        kept = _unique(_in_session(conversation))
        return {name: _best([item for item in kept if item.category == name], most) for name in CATEGORIES}
    rows, codes = read_prose(conversation)
    found = chain(
        find_file_notes(rows) if _with_answers(conversation) else (),
        find_in_chat(read_session(conversation)) if _with_answers(conversation) else (),
        find_statements(rows),
        find_tasks(rows, conversation),
        find_questions(rows, conversation),
        find_playbooks(codes, conversation),
    )
    if _without_assistant(conversation):
        models = shipped_models() if models is None else models
        talk = read_talk(conversation)
        if talk:
            most = max(MAX_ITEMS, len(talk.lines) // LINES_AN_ITEM)
            found = find_in_talk(talk, models)
        else:
            procedures = list(find_procedures(rows, codes, conversation))
            requests = () if procedures else find_requests(rows, conversation, models)
            found = chain(procedures, found, find_resolutions(rows, conversation), requests)
    kept = _unique(found)
    answer = {name: _best([item for item in kept if item.category == name], most) for name in CATEGORIES}
    answer["files"] = [row | {"path": absolute_path(row["path"], conversation)} for row in answer["files"]]
    return answer


def _in_session(conversation: Conversation) -> Iterator[Found]:
    """What a session with a coding assistant gives, as far as it says by itself what it is about."""
    session = read_session(conversation)
    yield from _whole(session, _in_order(session))


def _in_order(session: Session) -> Iterator[Found]:
    """The structure first, so that prose never says it again."""
    done = list(find_done(session))
    yield from find_unfinished(session)
    yield from find_in_session(session)
    yield from find_said(session)
    yield from done
    work = [_text(item) for item in done if item.category == "tasks_done"]
    for item in find_findings(session):
        if item.category != "facts" or not any(_said_in(item.fields["statement"], text) for text in work):
            yield item
    yield from find_quirks(session)


def _whole(session: Session, found: Iterable[Found]) -> Iterator[Found]:
    """The lines that say by themselves what they are about; a decision that leans on the talk stands with its subject,
    where that names a thing."""
    for item in found:
        fields = dict(item.fields)
        if lost(fields.get("statement", "")):
            about = subject_of(session) if item.category == "decisions" else ""
            if not cues.ANCHOR.search(about):
                continue
            fields["detail"] = f"about “{about}”; {fields['detail']}".rstrip("; ")
        elif item.category in ("tasks_done", "facts"):
            fields["detail"] = without_labels(fields["detail"])
        yield replace(item, fields=fields)


SAID_AGAIN = 0.75
_NAMES = re.compile(r"[\w./-]{4,}")


def _text(item: Found) -> str:
    return f"{item.fields['statement']} {item.fields['detail']}"


def _said_in(statement: str, text: str) -> bool:
    """Whether work that is told anyway, with the body of its commit, already says what a fact says."""
    fact, work = ({word.strip("./-").casefold() for word in _NAMES.findall(part)} for part in (statement, text))
    return len(fact) >= LEAST_NAMES and len(fact & work) >= SAID_AGAIN * len(fact)


LEAST_NAMES = 5


def _with_coding_assistant(conversation: Conversation) -> bool:
    """Whether a tool for coding wrote this and its assistant answered: then structure says more than sentences."""
    if any(turn.events for turn in conversation.turns):
        return True
    return conversation.format in CODING_TOOLS and any(turn.role == "assistant" for turn in conversation.turns)


def _with_answers(conversation: Conversation) -> bool:
    """Whether somebody or something answered the user: not so in a list of prompts."""
    roles = {turn.role for turn in conversation.turns}
    return "assistant" in roles or (conversation.format in CODING_TOOLS and "tool" in roles)


def _without_assistant(conversation: Conversation) -> bool:
    """Whether people wrote this for each other or for themselves. What a tool for coding wrote is meant for an
    assistant even when none answered: a list of prompts is no talk, and the rules in a prompt are no runbook."""
    if conversation.format in TOOLS or any(turn.role == "assistant" for turn in conversation.turns):
        return False
    return not any(turn.text.startswith(('{"', "[{")) for turn in conversation.turns)


def _unique(found: Iterable[Found]) -> list[Found]:
    """Each statement once; of two with the same words, and of two from the same quote, the first stands."""
    seen: set[str] = set()
    kept: list[Found] = []
    for item in found:
        words = "".join(char for char in _words(item).casefold() if char.isalnum())
        quote = "" if item.category == "playbooks" else item.fields["quote"]
        if not words or words in seen or (quote and f"quote:{quote}" in seen):
            continue
        seen.update((words, f"quote:{quote}"))
        kept.append(item)
    return kept


def _words(item: Found) -> str:
    fields = item.fields
    return fields.get("statement") or fields.get("steps") or f"{fields.get('path', '')} {fields.get('note', '')}"


def _best(items: list[Found], most: int) -> list[dict[str, str]]:
    # The later of two equals wins: what was said last about a thing is more likely still true.
    ranked = sorted(range(len(items)), key=lambda at: (items[at].score, items[at].turn, at), reverse=True)
    chosen = sorted(ranked[:most], key=lambda at: (items[at].turn, at))
    return [_of_one_line(items[at].fields) for at in chosen]


def _of_one_line(fields: dict[str, str]) -> dict[str, str]:
    """The fields with a detail of whole sentences that a line has room for: a longer line would have to wait."""
    room = ITEM_CHARACTERS - len(fields.get("statement", "")) - len(" — ")
    detail = fields.get("detail", "")
    return fields if len(detail) <= max(0, room) else {**fields, "detail": shortened(detail, max(0, room))}
