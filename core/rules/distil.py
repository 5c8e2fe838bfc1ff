"""The harvest that needs no model: rules that find what events and explicit words tell, and nothing else.

The answer has the same seven arrays as a model's, so the rest of the harvest does not know the difference. A line stays
because it cures an error, constrains, explains why, says how, or is still open; rules miss much, and an empty answer is
a good one. `python -m tests.quality.rules` prints what each rule gives on real sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from core.base.markdown import ITEM_CHARACTERS
from core.conversations.conversation import Conversation
from core.conversations.read import READERS
from core.rules.answers import find_answers
from core.rules.checks import find_checks
from core.rules.end import find_plan_left, find_steps_left, find_unfinished
from core.rules.failures import find_failures
from core.rules.left import find_left
from core.rules.prose import read_prose
from core.rules.sentence import Found, alike, lost, shortened
from core.rules.session import Session, read_session
from core.rules.stated import find_stated
from core.rules.statements import find_questions, find_statements, find_tasks
from core.rules.worth import find_worth

CATEGORIES = ("facts", "decisions", "tasks_done", "tasks_open", "questions", "playbooks", "files")
MAX_ITEMS = 12
APPS = frozenset({"chatgpt", "claude_ai", "export_file"})
CHATS = APPS | {"plain", "home"}
TOOLS = frozenset(row.name for row in READERS) - {"plain", "home"}
CODING_TOOLS = TOOLS - CHATS

Rule = Callable[[Session], Iterator[Found]]
RULES: tuple[Rule, ...] = (
    find_unfinished,
    find_failures,
    find_checks,
    find_answers,
    find_stated,
    find_left,
    find_worth,
    find_plan_left,
    find_steps_left,
)
"""What is looked for in a session with a coding assistant: what stands first, so that nothing says it again."""
OF_CHATS: tuple[Rule, ...] = (find_unfinished, find_stated, find_worth)
"""What is looked for in a talk with an assistant that has no tools, beside what its sentences mark themselves."""
OF_APPS: tuple[Rule, ...] = (find_unfinished, find_stated)
"""The same for talks of the apps, about anything in the world: what the assistant explains there any model knows. Of 34
such lines of 37 chats about 6 were worth one."""


def distil_offline(conversation: Conversation) -> dict[str, list[dict[str, str]]]:
    """The seven arrays of a harvest, without a model of language: deterministic, no network, linear in the text.

    Rows have `statement`, `detail` and `quote` (playbooks: `name`, `steps`, `quote`; files: `path`, `note`, `quote`).
    `quote` is one line of the conversation, word for word: of a user or an assistant; "" where an event has no line
    that says it. At most `MAX_ITEMS` a category: the best ones, in spoken order.
    """
    kept = list(find_all(conversation))
    return {name: _best([item for item in kept if item.category == name]) for name in CATEGORIES}


def find_all(conversation: Conversation) -> Iterator[Found]:
    """Every item with the rule that gave it, each statement once."""
    coding = _with_coding_assistant(conversation)
    return _unique(_by_rules(RULES, read_session(conversation)) if coding else _in_texts(conversation))


def _by_rules(rules: Iterable[Rule], session: Session) -> Iterator[Found]:
    """What rules give, as far as it says by itself what it is about."""
    for rule in rules:
        for item in rule(session):
            if not lost(item.fields.get("statement", "")):
                yield replace(item, rule=rule.__name__)


def _in_texts(conversation: Conversation) -> Iterator[Found]:
    """What a chat, or a text that people wrote for themselves, marks itself."""
    rows = read_prose(conversation)
    for rule in (find_statements, find_tasks):
        yield from (replace(item, rule=rule.__name__) for item in rule(rows))
    if _with_answers(conversation):
        yield from _by_rules(OF_APPS if conversation.format in APPS else OF_CHATS, read_session(conversation))
    yield from (replace(item, rule="find_questions") for item in find_questions(rows))


def _with_coding_assistant(conversation: Conversation) -> bool:
    """Whether a tool for coding wrote this and its assistant answered: then structure says more than sentences."""
    if conversation.format in APPS:
        return False
    if any(turn.events for turn in conversation.turns):
        return True
    return conversation.format in CODING_TOOLS and any(turn.role == "assistant" for turn in conversation.turns)


def _with_answers(conversation: Conversation) -> bool:
    """Whether somebody or something answered the user: not so in a list of prompts."""
    roles = {turn.role for turn in conversation.turns}
    return "assistant" in roles or (conversation.format in CODING_TOOLS and "tool" in roles)


def _unique(items: Iterable[Found]) -> Iterator[Found]:
    """Each statement once; of two with the same words or the same quote, and of two facts that say mostly the same, the
    first stands; so does a line that holds another whole, as a cause with its cure."""
    seen: set[str] = set()
    facts: list[str] = []
    for item in items:
        said = "".join(char for char in _words(item).casefold() if char.isalnum())
        quote = "" if item.category == "playbooks" else item.fields["quote"]
        if (
            not said
            or any(said in other for other in seen if not other.startswith("quote:"))
            or (quote and f"quote:{quote}" in seen)
        ):
            continue
        seen.update((said, f"quote:{quote}"))
        if item.category == "facts":
            if any(alike(item.fields["statement"], other) for other in facts):
                continue
            facts.append(item.fields["statement"])
        yield item


def _words(item: Found) -> str:
    fields = item.fields
    return fields.get("statement") or fields["steps"]


def _best(items: list[Found]) -> list[dict[str, str]]:
    # The later of two equals wins: what was said last about a thing is more likely still true.
    ranked = sorted(range(len(items)), key=lambda at: (items[at].score, items[at].turn, at), reverse=True)
    chosen = sorted(ranked[:MAX_ITEMS], key=lambda at: (items[at].turn, at))
    return [_of_one_line(items[at].fields) for at in chosen]


def _of_one_line(fields: dict[str, str]) -> dict[str, str]:
    """The fields with a detail of whole sentences that a line has room for: a longer line would have to wait."""
    room = ITEM_CHARACTERS - len(fields.get("statement", "")) - len(" — ")
    detail = fields.get("detail", "")
    return fields if len(detail) <= max(0, room) else {**fields, "detail": shortened(detail, max(0, room))}
