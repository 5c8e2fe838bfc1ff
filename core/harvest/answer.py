"""From a model's answer to items that may stand in a knowledge file. Nothing in the answer is trusted.

Seven arrays, one a category, stand in the one JSON object of an answer (harvest/answer_object.py finds it).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.base.entry import statement_key
from core.base.figures import count
from core.base.markdown import ITEM_CHARACTERS, sanitise_line, without_box
from core.base.project import normal_remote, project_root, remote_of, slug
from core.base.secrets.redact import redact
from core.harvest.answer_object import find_object, refused
from core.harvest.known import NOTHING, Known, Shown
from core.harvest.named_paths import whole_path
from core.harvest.orders import guides
from core.harvest.playbook import read_steps, without_repository
from core.harvest.quotes import OTHERS_WORK, Source, find_quote, is_copied, is_elsewhere, place_of, review_of, turns_of
from core.harvest.support import GOVERNED, Voices
from core.knowledge.alike import flat, says_the_contrary
from core.knowledge.categories import CATEGORIES
from core.knowledge.projects import prefers

MAX_ITEMS = 200
"""What a conversation teaches beyond these waits in the quarantine."""
FLOOD_ROWS = 1000
"""An answer with more different rows is that of a model which does not find its end: it is no answer."""
PLAYBOOK_CHARACTERS = 4000
"""A playbook may be this long, any other item `ITEM_CHARACTERS`. What is longer is never cut: it is held back whole."""
FIELD_CHARACTERS, STEPS_CHARACTERS = 600, 2000
"""The longest field, and the longest `steps`, that the schema of one category lets a server write (llama.cpp compiles
no longer repetition). A field of exactly this length was ended by the server, not by the model."""
MAX_STEPS = 40
"""At most this many steps may a server write by the schema of one category: a list of exactly that many may have been
ended by it, and so may a text of `STEPS_CHARACTERS`."""
FACTUAL = ("facts", "playbooks", "questions")
"""The categories whose rows become facts of the fact index."""
KINDS = ("fact", "pitfall", "pattern", "tool-quirk", "question")
BY_TOOL = 0.6
"""What only a tool told is at most so certain."""
BY_MODEL = 0.95
"""What a model says is never quite certain: that is kept for what the user writes into a file."""
CLAIMS = frozenset({"user-stated", "user-told", "user-confirmed", "user-approved", "user-verified", "verified",
                    "confirmed", "approved"})  # fmt: skip
"""Tags that claim the user's word. Who said a thing is told by the turn it stands in, never by a tag."""
MAX_TAGS = 8
DOMAIN_CHARACTERS = 40
"""A model's word for a project is a name; what is longer is a sentence."""
_FIGURE = re.compile(r"\w*\d[\w.]*\w|\d")
_REDIRECTION = re.compile(r"\d?>{1,2}\s?(?:&\d|/dev/null)")
_TAG = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True)
class Item:
    """One piece of knowledge. `text` is one sanitised line; `path` is the file a note is about, as the model wrote it.

    `held` says why the item must wait in the quarantine ("" for one that may go in): `secret`, `quote-not-found`,
    `no-quote`, `from-tool-output`, `others-work` (`quotes.py`), `not-one-line`,
    `too-long` or `too-many`. `by_tool` says that only a tool's output, or a page, told
    what may go in all the same. `kind` to `domain` are for the fact index: what the model said about a row, if it did.
    `confirms`: the text is that of a line which the store has already, said once more. `steps` are those of a playbook,
    where there are several. `turn`, `start` and `end` tell where the quote stands: the number of its turn and the bytes
    of that turn in the file; -1 for nowhere; `said` is the mark of what was said in it. `scope` is `person`, `project`
    or "" for not said.
    """

    category: str
    text: str
    path: str = ""
    quote: str = ""
    held: str = ""
    by_tool: bool = False
    kind: str = ""
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    domain: str = ""
    confirms: bool = False
    steps: tuple[str, ...] = ()
    turn: int = -1
    start: int = 0
    end: int = 0
    scope: str = ""
    said: str = ""


class Offer(NamedTuple):
    """What a model says of a line of the store (`old`), of a kind of OFFERED; `new` is what is said instead, or ""."""

    kind: str
    category: str
    old: str
    new: str = ""


@dataclass(frozen=True)
class Items:
    """The valid items of an answer and how many rows were skipped, by reason; under `category full` how many arrays may
    have been ended by their schema."""

    items: tuple[Item, ...]
    skipped: dict[str, int]
    offers: tuple[Offer, ...] = ()


_ABOUT: dict[str, Any] = {
    "kind": {"type": "string", "enum": list(KINDS)},
    "confidence": {"type": "number"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "domain": {"type": "string"},
}
"""What a row may say for the fact index; none of it is required."""
_ID = {"type": "string"}
SCOPES = ("person", "project")
_SCOPE: dict[str, Any] = {"scope": {"type": "string", "enum": list(SCOPES)}}
_LINKS: dict[str, dict[str, Any]] = {
    "facts": {"confirms": _ID, "supersedes": _ID, "answers": _ID, "retracts": _ID, **_SCOPE},
    "decisions": {"confirms": _ID, "supersedes": _ID, "answers": _ID, "retracts": _ID, **_SCOPE},
    "tasks_done": {"finishes": _ID},
    "tasks_open": {"confirms": _ID, "supersedes": _ID, "retracts": _ID},
    "questions": {"confirms": _ID, "retracts": _ID},
    "playbooks": {"confirms": _ID, "supersedes": _ID, "retracts": _ID, **_SCOPE},
    "files": {"confirms": _ID},
}
"""What a row may say of a line that is known, by its id, and whose it is; none of it is required."""
OFFERED = {
    "supersedes": ("facts", "decisions", "playbooks", "tasks_open"),
    "finishes": ("tasks_open",),
    "answers": ("questions",),
    "retracts": ("facts", "decisions", "playbooks", "tasks_open", "questions"),
}
"""What may be said of which lines; the user decides."""
WORDLESS = ("retracts", "finishes", "answers")
"""What a row may say of a line without a statement of its own."""
_BESIDE = frozenset((*_ABOUT, "confirms", *OFFERED, "scope"))
"""The keys of a row that are no part of what it says."""


def _array(name: str, *keys: str) -> dict[str, Any]:
    text = {"type": "string"}
    properties: dict[str, Any] = dict.fromkeys((*keys, "quote"), text)
    required = list(properties)
    properties |= _ABOUT if name in FACTUAL else {}
    properties |= _LINKS.get(name, {})
    if name == "playbooks":
        properties["steps"] = {"type": "array", "items": text}
    row = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "array", "items": row}


_KEYS = {"playbooks": ("name", "steps"), "files": ("path", "note")}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {row.name: _array(row.name, *_KEYS.get(row.name, ("statement", "detail"))) for row in CATEGORIES},
    "required": [row.name for row in CATEGORIES],
    "additionalProperties": False,
}


UNASKED = ""
"""The key of rows that came without being asked for, beside the seven arrays."""
FULL = "full"
"""The key of the names of categories that came with as many rows as they may have: there may have been more."""
_NAMES = tuple(row.name for row in CATEGORIES)
_FAILURES = ("error", "errors", "refusal")


def parse_answer(text: str, names: Collection[str] = _NAMES) -> dict[str, list[Any]]:
    """The arrays `names` of an answer, and under UNASKED the rows of arrays that were not asked for, if there are any.
    `{}` is a valid harvest; a category that is missing or null is empty.

    Strict, because an answer lets a conversation go: what could not be read proves nothing. A fence around the whole
    answer is tolerated, and so are words around the one object that names a category. Raises invalid-answer as
    `find_object` tells it, and for an object with other keys alone, a category that is no array, a report of a failure,
    more than FLOOD_ROWS different rows, or rows of which none could be read.
    """
    found = find_object(text, names)
    payload = dict(found.items())
    problem = _why_invalid(payload, names)
    arrays = {name: payload.get(name) or [] for name in names}
    links = {key: payload[key] for key in OFFERED if isinstance(payload.get(key), list) and payload[key]}
    others = [
        row for key, rows in payload.items() if key not in (*names, *links) and isinstance(rows, list) for row in rows
    ]
    if problem:
        raise refused(problem, text)
    return arrays | links | ({UNASKED: others} if others else {})


def _why_invalid(payload: Mapping[str, Any], names: Collection[str]) -> str:
    """Why an object is no answer, "" for one that is; goes on from "the model's answer"."""
    if not payload:
        return ""
    if payload.keys().isdisjoint(names):
        return f"has none of the keys that were asked for, such as {next(iter(names))!r}"
    meant = {_letters(name) for name in names}
    for key, value in payload.items():
        if key in names:
            if value is not None and not isinstance(value, list):
                return f"has {_KINDS.get(type(value), 'something else')} under {key!r} where an array was asked for"
        elif not _says_something(value):
            continue
        elif key in _FAILURES:
            return "reports a failure"
        elif _letters(key) in meant or (isinstance(value, dict) and not value.keys().isdisjoint(names)):
            return f"has rows under {sanitise_line(key)[:DOMAIN_CHARACTERS]!r}, which was not asked for"
    lists = {key: value for key, value in payload.items() if isinstance(value, list) and key not in OFFERED}
    rows = [(key, row) for key, value in lists.items() for row in value]
    different = len({repr(row) for _, row in rows}) if len(rows) > FLOOD_ROWS else 0
    if different > FLOOD_ROWS:
        return f"has {different:,} rows, more than any conversation teaches"
    read = [_item(key, row) if key in names else None for key, row in rows]
    if None in read and not any(item is not None and item.text for item in read):
        return f"has {count(len(rows), 'row')} of which none could be read"
    return ""


_KINDS: dict[type, str] = {dict: "an object", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def _letters(key: str) -> str:
    """A key as somebody who writes `Tasks-Open` for `tasks_open` means it."""
    return "".join(char for char in key.casefold() if char.isalnum())


def _says_something(value: Any) -> bool:
    """Whether there is anything in a value: not in null, false, blanks, an empty array or object."""
    return bool(value.strip()) if isinstance(value, str) else value is not None and value not in (False, [], {})


def needs_source(arrays: Mapping[str, list[Any]]) -> bool:
    """Whether anything must be looked for in the conversation: its quote, and who said it."""
    return any(rows for key, rows in arrays.items() if key not in OFFERED)


def items_from(
    arrays: Mapping[str, list[Any]], source: Source, *, quotes: str, secrets: bool, shown: Shown = NOTHING
) -> Items:
    """Validate, sanitise, redact and check the quote of every row.

    `quotes` is check, require or off; `secrets` says whether to look for secrets; `shown` is what the model saw of
    what is known. A row of a wrong shape, an empty one, one that repeats another and one that was not asked for is
    skipped and counted. An item that is too long, and what exceeds MAX_ITEMS, is held back whole.
    """
    intake = _Intake(source, _texts(arrays), quotes, secrets, shown)
    for row in CATEGORIES:
        for raw in arrays.get(row.name, []):
            intake.take(row.name, raw)
    offers = intake.offers | dict.fromkeys(_offers(None, {key: arrays.get(key) for key in OFFERED}, shown))
    done = {item.text for item in intake.kept if item.category == "tasks_done"}
    waiting = {item.text for item in intake.kept if item.held}
    done |= {offer.old for offer in offers if offer.kind == "finishes" and offer.new not in waiting}
    finished = [item for item in intake.kept if item.category == "tasks_open" and item.text in done]
    intake.count("not asked for", len(arrays.get(UNASKED, ())))
    intake.count("category full", len(arrays.get(FULL, ())))
    intake.count("repeated", len(finished))  # a task that is named in both lists is done
    return Items(tuple(item for item in intake.kept if item not in finished), intake.skipped, tuple(offers))


class _Intake:
    """Takes the rows of an answer one by one: what is kept of them, what is skipped and why, what they offer."""

    def __init__(self, source: Source, texts: list[str], quotes: str, secrets: bool, shown: Shown) -> None:
        self._source, self._quotes, self._secrets, self._shown = source, quotes, secrets, shown
        conversation = source.conversation
        self._review = review_of(conversation) if conversation is not None else None
        self._voices = Voices(conversation, texts) if conversation is not None else None
        self._seen: set[tuple[str, str, str]] = set()
        self.kept: list[Item] = []
        self.skipped: dict[str, int] = {}
        self.offers: dict[Offer, None] = {}

    def count(self, reason: str, number: int = 1) -> None:
        if number:
            self.skipped[reason] = self.skipped.get(reason, 0) + number

    def take(self, category: str, raw: Any) -> None:
        item = _item(category, raw)
        same = _confirmed(item, raw, self._shown)
        item = self._read(item, raw, same)
        # A row without words of its own may say of known lines that they are taken back, or settled elsewhere.
        wordless = {key: raw[key] for key in WORDLESS if key in raw} if isinstance(raw, dict) else {}
        if item is not None and not item.text and (said := _offers(None, wordless, self._shown)):
            self.offers |= dict.fromkeys(said)
            return None
        if item is None or not item.text:
            return self.count("wrong shape" if item is None else "empty")
        if same is not None and (same.earlier or same.waits):
            if not _says_more(item.text, same.text):
                return self.count("repeated")
            same = None
        item = self._judged(item, category, raw)
        if same is not None and not _says_more(item.text, same.text):
            if item.held == "secret" or not self._stands(item.quote):  # the line stands: nothing for the user to decide
                return self.count("not borne out")
            item = replace(
                item, category=same.category, text=same.text, path=same.path, confirms=True, steps=(), held=""
            )
        key = (item.category, item.text, item.path)
        if key in self._seen:
            return self.count("repeated")
        self._seen.add(key)
        if not item.held and not item.confirms:
            item = replace(item, held=_too_much(item, raw, len(self.kept)))
        self.kept.append(item)
        if not item.confirms:
            self.offers |= dict.fromkeys(_offers(item, raw, self._shown))
        return None

    def _stands(self, quote: str) -> bool:
        """Whether a quote bears a known line out. Without one the model may only have repeated what it was shown."""
        return self._quotes == "off" or (bool(quote.strip()) and find_quote(quote, self._source) is not None)

    def _read(self, item: Item | None, raw: Any, same: Known | None) -> Item | None:
        """A row as an item, with what it says for the fact index; one that only confirms a line has the line's text."""
        if item is None or not isinstance(raw, dict):
            return item
        category = item.category
        if not item.text and same is not None:
            quote = raw.get("quote")
            item = Item(same.category, same.text, same.path, quote if isinstance(quote, str) else "")
        if category in FACTUAL:
            item = _with_about(item, raw, self._secrets)
        return replace(item, scope=raw["scope"]) if raw.get("scope") in SCOPES else item

    def _judged(self, item: Item, category: str, raw: Any) -> Item:
        """An item with the reason why it must wait, if there is one. Of what only a tool told, the model does not
        decide whose it is, where it belongs, or that it is certain."""
        hidden = _with_secret(category, raw) if self._secrets else None
        item = hidden or _hold(item, self._source, self._voices, self._quotes, self._secrets)
        if (item.scope == "person" or prefers(item.text)) and not _said_by_user(item, self._source):
            # What a summary or a commit says that they prefer, the assistant says: it stays in its project.
            item = replace(item, scope="project" if prefers(item.text) else "")
        if item.by_tool:
            sure = item.confidence if item.confidence is None else min(item.confidence, BY_TOOL)
            item = replace(item, scope="", domain="", confidence=sure)
        if self._review is None or item.category != "tasks_open" or item.held not in ("", "from-tool-output"):
            return item
        return replace(item, held=OTHERS_WORK) if self._review.owns(item.text, item.turn) else item


def given(arrays: Mapping[str, list[Any]]) -> list[Known]:
    """What an answer says, as the next part of the same conversation is told it; not what only confirms a line."""
    found = []
    for row in CATEGORIES:
        for raw in arrays.get(row.name, []):
            item = _item(row.name, raw) if not (isinstance(raw, dict) and raw.get("confirms")) else None
            if item is not None and item.text and _with_secret(row.name, raw) is None and not redact(item.text).counts:
                found.append(Known(row.name, item.text, earlier=True, path=item.path))
    return found


def _confirmed(item: Item | None, raw: Any, shown: Shown) -> Known | None:
    """The line that a row says once more, None for a row that says something new."""
    if item is None or not isinstance(raw, dict):
        return None
    return next((row for row in shown.named(raw.get("confirms")) if _is_repeated(row, item, shown.folder)), None)


def _is_repeated(known: Known, item: Item, folder: str) -> bool:
    """Whether a row can say a line once more. A note is repeated by a note on the same file alone, however much another
    line is like it; a row without words of its own says nothing that could be lost."""
    if known.category == "files":
        if not item.text and not item.path:
            return True
        return item.category == "files" and _real(known.path, folder) == _real(item.path, folder)
    return known.category == item.category or {known.category, item.category} <= _KINDRED


def _real(path: str, folder: str) -> str:
    """A note has the path without links, a conversation may have worked behind one."""
    return os.path.realpath(whole_path(path, folder))


_KINDRED = {"facts", "decisions", "playbooks", "questions"}
"""What one model calls a fact another calls a decision; a task is nothing else."""


def _says_more(text: str, known: str) -> bool:
    """Whether a text has a figure that the known one has not, or says the contrary: then it says something else,
    whatever its id claims."""
    return bool(_figures(text) - _figures(known)) or says_the_contrary(
        *(flat(statement_key(one)) for one in (text, known))
    )


def _figures(text: str) -> set[str]:
    """The figures of a text; `2>&1` and its like are none."""
    return set(_FIGURE.findall(_REDIRECTION.sub(" ", text)))


def _offers(item: Item | None, raw: Any, shown: Shown) -> list[Offer]:
    """What a row (or, without an item, an answer as a whole) says of lines that are known."""
    if not isinstance(raw, dict):
        return []
    new = item.text if item is not None else ""
    found = []
    for kind, categories in OFFERED.items():
        for row in shown.named(raw.get(kind)):
            if row.waits or row.category not in categories or row.text == new or (kind == "supersedes" and not new):
                continue
            if not (row.date and shown.date and row.date > shown.date):
                found.append(Offer(kind, row.category, row.text, new))
            elif kind == "supersedes" and item is not None:
                # What was said later stands, whichever of the two conversations was read first.
                found.append(Offer(kind, item.category, new, row.text))
    return found


def _too_much(item: Item, raw: Any, before: int) -> str:
    """Why a good item is held back for its length or its number, "" for one that is not."""
    long = len(item.text) > (PLAYBOOK_CHARACTERS if item.category == "playbooks" else ITEM_CHARACTERS)
    if item.category == "playbooks" and isinstance(raw, dict):
        ends = (("name", FIELD_CHARACTERS), ("steps", STEPS_CHARACTERS))
        long = long or any(isinstance(raw.get(key), str) and len(raw[key]) == limit for key, limit in ends)
        steps = raw.get("steps")
        ended = isinstance(steps, list) and any(len(step) == FIELD_CHARACTERS for step in steps)
        long = long or ended or (isinstance(steps, list) and len(steps) == MAX_STEPS)
    return "too-long" if long else "too-many" if before >= MAX_ITEMS else ""


def _line(category: str, text: str) -> str:
    """What a row says, on one line; a task has no box, for its section says whether it is done."""
    line = sanitise_line(text, None)
    return without_box(line) if category.startswith("tasks") else line


def _item(category: str, raw: Any) -> Item | None:
    """One row as an item, without text for one that says nothing, or None when it has a wrong shape: what it says
    stands where nobody looks."""
    if isinstance(raw, str):
        return Item(category, _line(category, raw)) if category != "files" or not raw.strip() else None
    if not isinstance(raw, dict):
        return None
    fields = {key: value for key, value in raw.items() if isinstance(value, str)}
    if any(isinstance(raw.get(key), (dict, list)) for key in ("statement", "detail", "name", "path", "note")):
        return None
    steps = read_steps(raw.get("steps") or "")
    if steps is None:
        return None
    quote, path = fields.get("quote", ""), ""
    if category == "files":
        text, path = fields.get("note", ""), fields.get("path", "").strip()
    elif category == "playbooks":
        name = fields.get("name", "").strip()
        name = name.strip("*: ") if steps.shown else name
        text = f"**{name}**: {steps.shown}" if name and steps.shown else name or steps.shown
        text = text or fields.get("statement", "")
    else:
        text, detail = fields.get("statement", "").strip(), fields.get("detail", "").strip()
        text = f"{text} — {detail}" if text and detail else text
    item = Item(category, _line(category, text), path, quote)
    if category == "playbooks" and steps.shown:
        item = replace(item, held="" if steps.fits else "not-one-line", steps=steps.steps)
    # What only says something of a known line needs no words of its own: its quote is read.
    read = {"path", "quote"} if any(map(raw.get, ("confirms", *WORDLESS))) else {"path"}
    if not item.text and any(_says_something(raw[key]) for key in raw.keys() - _BESIDE - read):
        return None
    return item


def _with_secret(category: str, raw: Any) -> Item | None:
    """The item of a row that has a secret in it, cleared and held; None for a row without. Asked before the row becomes
    one line: a key of many lines would not be recognised any more."""
    fields = {"": raw} if isinstance(raw, str) else {key: row for key, row in raw.items() if isinstance(row, str)}
    if isinstance(raw, dict) and isinstance(raw.get("steps"), list):
        fields["steps"] = "\n".join(step for step in raw["steps"] if isinstance(step, str))
    clean = {key: redact(text) for key, text in fields.items() if key != "quote"}
    if not any(found.counts for found in clean.values()):
        return None
    texts = {key: found.text for key, found in clean.items()}
    item = _item(category, texts[""] if isinstance(raw, str) else {**raw, "quote": "", **texts})
    return replace(item, held="secret") if item is not None and item.text else None


def _with_about(item: Item, raw: Mapping[str, Any], secrets: bool) -> Item:
    """The item with what its row says for the fact index. What is not as it should be is as if it were not said."""
    kind, confidence, domain = raw.get("kind"), raw.get("confidence"), raw.get("domain")
    number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool) and 0 <= confidence <= 1
    rows = raw.get("tags") if isinstance(raw.get("tags"), list) else []
    tags = [
        tag
        for one in rows or ()
        if isinstance(one, str) and (tag := slug(one)) and _TAG.fullmatch(tag) and tag not in CLAIMS
    ]
    if secrets:
        tags = [tag for tag in tags if not redact(tag).counts]
    place = slug(domain) if isinstance(domain, str) else ""
    place = place if len(place) <= DOMAIN_CHARACTERS else ""
    return replace(
        item,
        kind=kind if kind in KINDS else "",
        confidence=round(min(float(confidence), BY_MODEL), 2) if number and confidence is not None else None,
        tags=tuple(dict.fromkeys(tags))[:MAX_TAGS],
        domain="" if secrets and redact(place).counts else place,
    )


def _texts(arrays: Mapping[str, list[Any]]) -> list[str]:
    """Every text of an answer."""
    rows = [row for found in arrays.values() for row in found]
    texts = [text for row in rows if isinstance(row, dict) for text in row.values() if isinstance(text, str)]
    lists = [row["steps"] for row in rows if isinstance(row, dict) and isinstance(row.get("steps"), list)]
    texts += [step for steps in lists for step in steps if isinstance(step, str)]
    return [*texts, *(row for row in rows if isinstance(row, str))]


def _said_by_user(item: Item, source: Source) -> bool:
    """Whether a turn of the user bears an item out: only then is it theirs and not the project's. Where nobody knows
    the turns, or no quote is asked for, the model is believed."""
    if source.conversation is None or (not item.quote and item.turn < 0):
        return True
    return 0 <= item.turn < len(source.conversation.turns) and source.conversation.turns[item.turn].role == "user"


def _hold(item: Item, source: Source, voices: Voices | None, quotes: str, secrets: bool) -> Item:
    """Mark an item that must not go in without the user's word."""
    if secrets:
        clean, path = redact(item.text), redact(item.path)
        if clean.counts or path.counts:
            return replace(item, text=sanitise_line(clean.text, None), path=path.text, quote="", held="secret")
        item = replace(item, quote=redact(item.quote).text) if item.quote else item
    if item.held:
        return item
    # What a model calls the user's would guide in every project.
    followed = item.category in GOVERNED or item.scope == "person" or guides(item.text)
    item, by_tool = _told(item, source, voices) if voices is not None else (item, False)
    if by_tool:
        if followed or is_copied(item.text, source) or is_elsewhere(item.path, source):
            return replace(item, held="from-tool-output")
        item = replace(item, by_tool=True)
    if quotes == "off":
        return item
    if not item.quote.strip():
        return replace(item, held="no-quote") if quotes == "require" else item
    where = find_quote(item.quote, source)
    if where is None:
        return replace(item, held="quote-not-found")
    spoken = place_of(item.quote, source)
    if spoken is not None:
        item = replace(item, turn=spoken.number, start=spoken.start, end=spoken.end, said=spoken.said)
    # Else the turns have told whose word it is; the steps of a playbook may be too short for that.
    if where == "tool" and followed and (voices is None or item.category == "playbooks"):
        return replace(item, held="from-tool-output")
    return replace(item, by_tool=True) if where == "tool" else item


def _told(item: Item, source: Source, voices: Voices) -> tuple[Item, bool]:
    """The item, and whether only a tool told it. `owner/repository` in the name of a playbook looks like a path that a
    step needs, and often nobody but a tool says it: where it is the conversation's own, by its record or the settings
    of git in its folder, and all that stands in the way, the name does without."""
    turns, conversation = turns_of(item.quote, source), source.conversation
    by_tool = voices.only_tools(item.category, item.text, item.quote, turns)
    if by_tool and item.category == "playbooks" and conversation is not None:
        root = project_root(conversation.folder)
        remote = normal_remote(conversation.repository) or (remote_of(f"{root}/.git") if root else "")
        own = "/".join((remote or conversation.repository).casefold().split("/")[-2:])
        short = without_repository(item.text, own)
        if short != item.text and not voices.only_tools(item.category, short, item.quote, turns):
            return replace(item, text=short), False
    return item, by_tool
