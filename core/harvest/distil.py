"""Stage 3: one conversation in, items out, through a language model or through rules.

At most `attempts` calls for an answer that cannot be parsed; any other failure ends the attempt at once and keeps the
conversation. One that is longer than the model's window is asked about part by part, each part below the
header and beside what is known; or, where the settings say so, it is summarised first (`asking.py`).

Checks that ran in one session wait in the cache folder until another one of their project runs them: one small JSON
file, project -> rows. It is a projection: deleting it loses nothing but what waits. What it holds has gone
through the redaction, whatever the settings say. A row counts as long as the ledger vouches for a harvest of its
conversation: what was undone bears nothing out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from core.base import files
from core.base.answer import Generate
from core.base.project import normal_remote, project_at, project_root
from core.base.result import KnowledgeError, Ok, attempt, disk_errors
from core.base.secrets.redact import redact
from core.base.secrets.repeats import Secrets
from core.conversations.archived import about_of
from core.conversations.conversation import Conversation
from core.conversations.days import day_of
from core.conversations.events import Edit, with_text
from core.conversations.ran import read_end
from core.conversations.read import read_conversation, why_unread
from core.conversations.render import transcript
from core.conversations.searched import title_of
from core.harvest.answer import Item, Items, Offer, given, items_from, needs_source
from core.harvest.asking import (
    Arrays,
    ask,
    build_prompt,
    joined,
    parts_of,
    room_for,
    split_version,
    summarize,
    words_around,
)
from core.harvest.freeze import note_as_fact, persons_of
from core.harvest.known import INTRODUCTION, KNOWN_BYTES, KNOWN_SHARE, NOTHING, Known, KnownStore, Shown
from core.harvest.named_paths import note_roots, source_file, whole_path
from core.harvest.quotes import NO_SOURCE, shown_source, source_of
from core.harvest.steps import DistilSettings, HarvestOptions, Step
from core.knowledge.projects import UNTOLD
from core.knowledge.same import mark_of_text
from core.rules.checks import add_borne_out, check_steps, checks_borne_out
from core.rules.distil import distil_offline
from core.rules.failures import find_failures
from core.rules.left import commits_once, line_of_git, made_commit, to_commit
from core.rules.sentence import alike
from core.rules.session import read_session
from core.sources.archive import content
from core.sources.artifact import Artifact
from core.sources.incremental import REWRITTEN, SAME, Earlier, Tail, facts_of, tail_of
from core.sources.sessions import StoreCache
from core.sources.walk import worked_in


@dataclass(frozen=True)
class Harvest:
    """What a conversation taught. `skipped` counts rows left out, `redacted` secrets replaced, both by kind; `folder`
    is the working folder of the session, "" when it is not known; `entry` holds what else the ledger will say; `offers`
    are what the model says of lines that are known, for the user to decide; `date` is the UTC day of the conversation
    (YYYY-MM-DD), "" when nothing tells it. `title` is what it is called, without secrets where those are replaced.
    `by_rules` is what the rules find in the whole of a conversation that was read when it was shorter, None for others;
    `before` is what the rules of today find in what it was then, None where its tool has written the file anew."""

    items: tuple[Item, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    redacted: dict[str, int] = field(default_factory=dict)
    folder: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)
    offers: tuple[Offer, ...] = ()
    date: str = ""
    title: str = ""
    by_rules: tuple[Item, ...] | None = None
    before: tuple[Item, ...] | None = None


CHANGED = "changed"
"""The code of the error that says: it is being written at this moment."""
_CODE = re.compile(r"`([^`\n]+)`")
BRANCH_CHARACTERS = 100
MEASURED_BYTES = 64 << 20
"""A file above this counts with its size: to measure what is sent of it would take too long."""


class _Read(NamedTuple):
    """A conversation as it was read again: what is new in it, the `data` of its file with their hash and facts, and
    the `whole` of which it is the end."""

    tail: Tail
    data: bytes
    sha256: str
    facts: dict[str, Any]
    whole: Conversation


def distil_step(step: Step, options: HarvestOptions, generate: Generate | None, opened: StoreCache) -> Harvest:
    """Stage 3 for one conversation: read it again, make sure it is what was planned, distil. `generate` None
    means the rules."""
    item = step.artifact
    with disk_errors("unreadable", "the conversation cannot be read", item.path):
        read = _read_again(step, options, opened, context=generate is not None)
    tail, whole = read.tail, read.whole
    if read.sha256 != step.sha256:
        message = "the conversation changed since it was looked at"
        raise KnowledgeError(CHANGED, message, item.path, "run the harvest again")
    if tail.kind == REWRITTEN and item.size > options.limits.max_source_bytes:
        hint = "raise max_harvest_source_bytes to read it whole again"
        message = "the conversation was rewritten since its last harvest and is too large"
        raise KnowledgeError("too-large", message, item.path, hint)
    if not project_root(tail.conversation.folder) and (folder := worked_in(item.path, whole)):
        tail = tail._replace(conversation=replace(tail.conversation, folder=folder))
    date = day_of(tail.conversation, os.path.basename(item.path), item.mtime_ns)
    known = options.known
    began = tail.conversation.started or date
    with known.turn(tail.conversation.folder, began, step.sha256) if known is not None else nullcontext():
        found = distil(tail.conversation, item.name, options.distil, generate, whole, known, date, step.sha256)
        if known is not None:
            roots = note_roots(tail.conversation.folder, options.file_roots)
            learned = [_as_known(row, date, roots) for row in found.items if not row.confirms]
            known.learn(learned, tail.conversation.folder)
    if options.read_by is not None:
        options.read_by(whole)
    harvest = replace(found, folder=tail.conversation.folder, date=date)
    if step.earlier is not None and tail.kind != SAME:
        placed = replace(whole, folder=tail.conversation.folder)
        now = harvest.items if generate is None else _by_rules(placed, item.name, options)
        harvest = replace(harvest, by_rules=now, before=_before(read, placed, item.name, step.earlier, options))
    return replace(harvest, entry={**harvest.entry, **read.facts, **_entry_of(step, tail, harvest)})


def _as_known(item: Item, date: str, roots: Sequence[str]) -> Known:
    """An item as the conversations after this one are shown it: a note on a file that is not there becomes a fact."""
    source = None
    with suppress(OSError):
        source = source_file(item.path, roots) if item.path else None
    if item.category == "files" and source is None and not item.held:
        return Known("facts", note_as_fact(item), date=date)
    path = source.path if source is not None else item.path
    return Known(item.category, item.text, date=date, waits=bool(item.held), path=path)


def _by_rules(conversation: Conversation, name: str, options: HarvestOptions) -> tuple[Item, ...] | None:
    """What the rules say of a whole conversation, None where they fail: an earlier reading by rules is judged by
    rules."""
    again = attempt(distil, conversation, name, replace(options.distil, waiting=None), None)
    return again.value.items if isinstance(again, Ok) else None


def _read_again(step: Step, options: HarvestOptions, opened: StoreCache, *, context: bool) -> _Read:
    """`context` says that a model reads. Raises OSError."""
    item = step.artifact
    if item.kind == "session":
        data = opened.content(item)
        # What is archived tells the sha256 of what its tool had, by which the ledger knows its harvest.
        sha256 = str(about_of(data).get("of", "")) if item.kept else hashlib.sha256(data).hexdigest()
    else:
        known = step.earlier.bytes if step.earlier is not None else 0
        # The plan has measured what is sent of a larger file; what has grown since is for the next run.
        read = files.read_file(item.path, max(options.limits.max_source_bytes + known, item.size))
        data, sha256 = read.data, read.sha256
    conversation = read_conversation(item.name, data)
    unread = why_unread(data, conversation)
    if unread is not None:
        raise KnowledgeError(unread.code, unread.message, item.path, unread.hint)
    tail = tail_of(conversation, step.earlier, context=context)
    return _Read(tail, data, sha256, facts_of(conversation.turns), conversation)


def _before(
    read: _Read, now: Conversation, name: str, earlier: Earlier, options: HarvestOptions
) -> tuple[Item, ...] | None:
    """What the rules of today say of a conversation as its last harvest read it: the beginning of its file. None where
    its tool has written the file anew, for then calls that were open have their results in it."""
    began = read.data[: earlier.bytes]
    if hashlib.sha256(began).hexdigest() != earlier.sha256:
        return None
    return _by_rules(replace(read_conversation(name, began), folder=now.folder), name, options)


def _entry_of(step: Step, tail: Tail, harvest: Harvest) -> dict[str, Any]:
    """What the ledger will tell of the conversation itself."""
    entry: dict[str, Any] = {"bytes": step.artifact.size, "format": tail.conversation.format}
    if title := title_of(harvest.title):
        entry["title"] = title
    if branch := redact(tail.conversation.branch).text[:BRANCH_CHARACTERS]:
        entry["branch"] = branch
    if ended := tail.conversation.ended:
        entry["ended"] = ended
    if harvest.folder:
        entry |= project_entry(harvest.folder, tail.conversation.repository)
    elif any(isinstance(event, Edit) for turn in tail.conversation.turns for event in turn.events):
        entry["project"] = UNTOLD  # it changed files of a project, and nothing tells of which
    if step.earlier is not None:
        entry |= {"after": step.earlier.sha256, "change": tail.kind, "first_turn": tail.first}
    if harvest.date:
        entry["date"] = harvest.date
    return entry


def project_entry(folder: str, repository: str = "") -> dict[str, str]:
    """What the ledger keeps of the project that a folder belongs to, so that the folder need not be there later: the
    folder, the top folder of the project and by what it is known again. `repository` is the remote's address that the
    conversation itself tells, for a folder that is not here."""
    project = project_at(folder)
    if project is None:
        return {"project": folder} if folder else {}
    remote = normal_remote(repository) if project.key.startswith("path:") else ""
    key = f"remote:{remote}" if remote else "" if project.key.startswith("path:") else project.key
    return {"project": folder, "project_root": project.root} | ({"project_key": key} if key else {})


def redacted_conversation(
    conversation: Conversation, whole: Conversation | None = None
) -> tuple[Conversation, dict[str, int]]:
    """The conversation with every secret replaced, and how many of each kind there were. What stands alone somewhere
    and is a secret by what stands beside it elsewhere, also in the `whole` that this is the end of, goes as well."""
    secrets = Secrets()
    texts = [secrets.said(turn.role, turn.text) for turn in conversation.turns]
    counts = dict(secrets.kinds)
    # What an event holds stands in a turn as well: it is masked and not counted again.
    events = [tuple(with_text(event, secrets.clear) for event in turn.events) for turn in conversation.turns]
    cleared = {turn.text for turn in conversation.turns}
    # Also where nothing is new but the title, which may say one of them again.
    for turn in whole.turns if whole is not None else ():
        if turn.text not in cleared:
            secrets.clear(turn.text)
    if secrets.count:
        texts = [secrets.hide(text) for text in texts]
        events = [tuple(with_text(event, secrets.hide) for event in row) for row in events]
    turns = [
        turn if (text, row) == (turn.text, turn.events) else replace(turn, text=text, events=row)
        for turn, text, row in zip(conversation.turns, texts, events, strict=True)
    ]
    # A title is cut from what was said: alone it may not look like a secret any more.
    title, folder = secrets.title(conversation.title), secrets.hide(_masked(conversation.folder))
    branch, repository = secrets.hide(_masked(conversation.branch)), secrets.hide(_masked(conversation.repository))
    clean = replace(conversation, title=title, folder=folder, branch=branch, repository=repository)
    return replace(clean, turns=tuple(turns)), counts


def _masked(text: str) -> str:
    return redact(text).text


def distil(
    conversation: Conversation,
    name: str,
    settings: DistilSettings,
    generate: Generate | None,
    whole: Conversation | None = None,
    known: KnownStore | None = None,
    date: str = "",
    sha256: str = "",
) -> Harvest:
    """Turn one conversation into items. `generate` None means the offline rules; `whole` is the conversation that this
    one is the end of: who said something is judged by all of it; `known` is what was known before it; `date` is the
    conversation's UTC day (YYYY-MM-DD): what was said later is not outdated by it; `sha256` is its name in the ledger.

    A KnowledgeError keeps the conversation: codes of the provider, or `invalid-answer`, `truncated-answer`,
    `empty-summary`.
    """
    counts: dict[str, int] = {}
    if settings.redact:
        conversation, counts = redacted_conversation(conversation, whole)
    if not any(turn.text.strip() for turn in conversation.turns):
        return Harvest((), title=conversation.title)
    if generate is None:
        arrays = distil_offline(conversation)
        if settings.waiting is not None:
            add_borne_out(arrays, borne_out(conversation, settings.waiting, arrays["tasks_open"], sha256))
        return _finish(arrays, conversation, settings, counts, whole)
    called = redact(name).text if settings.redact else name
    prompt, version = split_version(settings.harvest_prompt)
    around = build_prompt(words_around(prompt, settings.style), called, "", INTRODUCTION)
    room = room_for(around, settings)
    shown = Shown(known, conversation.folder, min(KNOWN_BYTES, room // KNOWN_SHARE), date)
    summary = ""
    if settings.long == "summarise" and shown_bytes(conversation) > settings.summarize_bytes:
        shorten, _ = split_version(settings.summarize_prompt)
        summary = summarize(conversation, replace(settings, summarize_prompt=shorten), generate)
        parts = [summary]
    else:
        parts = parts_of(conversation, room - 2 * shown.room)
    # What failed and what worked instead, as the rules tell it: by events, which a model of language tells worse.
    failures = find_failures(read_session(conversation))
    cures = [row.fields for row in failures if row.fields.get("kind") == "tool-quirk"]
    shown.add(Known("facts", row["statement"], earlier=True) for row in cures)
    found: list[Arrays] = []
    for part in parts:
        asked = ask(prompt, settings.style, called, part, settings.attempts, generate, shown.block(part))
        found.append(asked)
        shown.add(given(asked))
    entry: dict[str, Any] = {"prompt": version} | ({"parts": len(parts)} if len(parts) > 1 else {})
    arrays = joined(found)
    arrays["facts"] = [*cures, *(row for row in arrays.get("facts", ()) if not _is_told(row, cures))]
    harvest = _finish(arrays, conversation, settings, counts, whole, shown, summary)
    return replace(harvest, entry={**harvest.entry, **entry})


def _is_told(row: Any, cures: Iterable[Mapping[str, str]]) -> bool:
    """Whether a fact of the model says what one of the rules' does: by its words, or by both of its commands."""
    said = row.get("statement", "") if isinstance(row, dict) else row
    if not isinstance(said, str):
        return False
    pairs = ((cure["statement"], _CODE.findall(cure["statement"])) for cure in cures)
    return any(alike(said, told) or (len(code) > 1 and {*code} <= {*_CODE.findall(said)}) for told, code in pairs)


def shown_bytes(conversation: Conversation) -> int:
    """How long a conversation is as a model is shown it."""
    return len(transcript(conversation).encode("utf-8", "replace"))


def _finish(
    arrays: Mapping[str, list[Any]],
    conversation: Conversation,
    settings: DistilSettings,
    counts: dict[str, int],
    whole: Conversation | None,
    shown: Shown = NOTHING,
    summary: str = "",
) -> Harvest:
    """The items of an answer. Quotes are looked for in what the model was shown: of a summary, in the summary."""
    source = source_of(conversation, whole) if settings.judge and needs_source(arrays) else NO_SOURCE
    source = shown_source(summary, source) if summary else source
    found = items_from(arrays, source, quotes=settings.quotes, secrets=settings.redact, shown=shown)
    found = _with_lines_of_git(found, conversation)
    skipped = found.skipped | ({"unknown records": conversation.skipped} if conversation.skipped else {})
    items = tuple(replace(item, path=whole_path(item.path, conversation.folder)) for item in found.items)
    entry: dict[str, Any] = {}
    if end := read_end(conversation.turns).text:
        entry["end"] = end
    if persons := persons_of(found.items):
        entry["person"] = persons
    if found.offers:
        entry["offers"] = [
            {"kind": one.kind, "category": one.category, "old": mark_of_text(one.old)}
            | ({"new": mark_of_text(one.new)} if one.new else {})
            for one in found.offers
        ]
    return Harvest(items, skipped, counts, conversation.folder, entry, found.offers, title=conversation.title)


UNSUPPORTED = ("from-tool-output", "quote-not-found", "no-quote")
"""Why a task waits of which nobody is known to have said it."""


def _with_lines_of_git(found: Items, conversation: Conversation) -> Items:
    """The items with the rules' own lines in place of the tasks that wait though git's events show them."""
    waiting = [item for item in found.items if item.category == "tasks_open" and item.held in UNSUPPORTED]
    session = read_session(conversation) if waiting else None
    lines = {one: line for one in waiting if session and (line := line_of_git(one.text, session))}
    items = tuple(Item(one.category, lines[one]) if one in lines else one for one in found.items)
    gone = {one.text for one in lines}
    return replace(found, items=items, offers=tuple(offer for offer in found.offers if offer.new not in gone))


def shown_size(item: Artifact) -> int:
    """How many bytes a model would be shown of a file: of most formats far less than it has. Its size where nobody can
    tell."""
    if (item.kind == "session" and not item.kept) or item.size > MEASURED_BYTES:
        return item.size
    try:
        data = content(Path(item.kept)) if item.kept else files.read_file(item.path, item.size).data
        return shown_bytes(read_conversation(item.name, data))
    except OSError:
        return item.size


# --- checks that wait for a second session of their project ----------------------------------------------------------

MAX_PROJECTS = 200
MAX_BYTES = 4 << 20
_lock = Lock()


def borne_out(
    conversation: Conversation, file: Path, tasks: list[dict[str, str]] | None = None, sha256: str = ""
) -> dict[str, list[dict[str, str]]]:
    """The checks of this conversation that an earlier one of its project ran too; the others wait. Of `tasks` goes what
    asks to commit where an earlier session of the project asks the same and nothing was committed since. `sha256` is
    the conversation's name in the ledger."""
    project = project_of(conversation)
    session = read_session(conversation)
    steps, _ = check_steps(session)
    told = to_commit(tasks or [])
    if not project or not (steps or told or made_commit(session)):
        return {}
    name = conversation.id or conversation.started
    with _lock:
        known = _waiting(file)
        waiting = known.pop(project, [])
        again, waiting = commits_once(session, told, waiting, name)
        for task in again:
            (tasks or []).remove(task)
        checks, rows = checks_borne_out(session.project, steps, waiting, name, conversation.started)
        mine = [_vouched(row, sha256) if row.get("session") == name else row for row in rows]
        known[project] = [row for row in mine if not redact(json.dumps(row, ensure_ascii=False)).counts]
        _write_waiting(file, dict(list(known.items())[-MAX_PROJECTS:]))
    return {"playbooks": checks}


def _vouched(row: dict[str, Any], sha256: str) -> dict[str, Any]:
    """A row beside the hash of one more harvest that vouches for it."""
    known = row["of"] if isinstance(row.get("of"), list) else []
    return {**row, "of": [*(one for one in known if one != sha256), sha256]} if sha256 else row


def leave_undone(file: Path, entries: Mapping[str, Mapping[str, Any]], unfinished: Container[str]) -> None:
    """Before a run: what waits, without what was left there by harvests that the ledger's `entries` do not tell of (any
    more), unless their plan is yet to be written; what a commit in one of these had settled is asked for again. Rows
    of earlier versions name no harvest, and stay."""

    def stands(row: Mapping[str, Any]) -> bool:
        of = row["of"] if isinstance(row.get("of"), list) else None
        return of is None or any(
            one in unfinished or entries.get(one, {}).get("status") == "harvested" for one in map(str, of)
        )

    with _lock:
        known = _waiting(file)
        left = {project: [row for row in rows if stands(row)] for project, rows in known.items()}
        if left != known:
            _write_waiting(file, left)


def _waiting(file: Path) -> dict[str, list[dict[str, Any]]]:
    kept = (files.read_object(file) or {}).items()
    return {key: [row for row in rows if isinstance(row, dict)] for key, rows in kept if isinstance(rows, list)}


def _write_waiting(file: Path, known: Mapping[str, list[dict[str, Any]]]) -> None:
    data = json.dumps(known, ensure_ascii=False).encode("utf-8", "replace")
    if len(data) <= MAX_BYTES:
        files.write_cache(file, data)


def project_of(conversation: Conversation) -> str:
    """What the sessions of one project have in common: the repository that they tell, else its top folder."""
    return redact(normal_remote(conversation.repository) or project_root(conversation.folder)).text
