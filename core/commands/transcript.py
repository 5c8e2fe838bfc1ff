"""The conversations of a home: the index that knows them, and reading one by its name, without secrets, with what was
harvested from each of its turns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files, locks
from core.base.choices import SPOKEN_ROLES, TOOLS
from core.base.figures import iso_of
from core.base.project import project_root
from core.base.result import KnowledgeError, Ok, attempt
from core.base.secrets.redact import redact
from core.commands.row import SPOKEN, flag, listed, needed, option, top, whole_number
from core.commands.text import count
from core.commands.workspace import Workspace
from core.conversation_index import Brought, Where, look
from core.knowledge.ledger import FORGOTTEN, known_entries, table_in
from core.knowledge.same import mark_of_text
from core.search import conversations as stored
from core.search import store
from core.search.conversations import Held
from core.search.words import words_of
from core.sources.archive import stand_in, stand_ins
from core.sources.artifact import HOME, Artifact
from core.sources.scan import scan_conversations, sha_in_trash
from core.sources.sessions import StoreCache, list_sessions
from core.sources.tools import (
    ALL,
    FILES,
    NAMES,
    SOURCE,
    forgotten_places,
    known_as,
    known_name,
    places,
    resume_command,
    title_of,
)
from core.sources.walk import artifact_at, harvested_at_paths, survey

if TYPE_CHECKING:
    from core.conversations.readable import Cleared, HarvestedItem, ReadableConversation
    from core.search.conversations import Database

NO_LONGER = "its tool no longer has it, the archive does"
MOST_ALIKE = 50
LOOK_SECONDS = 0.4
"""How long a search reads what is new, at most; then it answers, and tells what is left."""


def index_folder(workspace: Workspace) -> Path:
    """Where the index of conversations lies."""
    return workspace.cache / "conversations"


def where_of(workspace: Workspace) -> tuple[Where, str]:
    """What is looked at, and a sentence about names in the settings that there are not."""
    names: list[str] = []
    unknown: list[str] = []
    for text in workspace.config.search_sources:
        name = known_name(text) or (text if os.path.lexists(os.path.expanduser(text)) else "")
        (names if name else unknown).append(name or text)
    roots = workspace.config.project_roots
    all_places = places(names, workspace.environment, roots)
    slow = [place for place in all_places if place.source == FILES or SOURCE[place.source].project]
    here = str(workspace.cwd)
    where = Where(
        workspace.paths,
        index_folder(workspace),
        workspace.cache / "stores",
        ALL in names or HOME in names,
        tuple(place for place in all_places if place not in slow),
        tuple(slow),
        lambda: known_entries(workspace.paths),
        project_root(here),
        ALL in names,
    )
    problem = f"the setting search_sources names {', '.join(map(repr, unknown))}; accepted: {', '.join((*NAMES, ALL))}"
    return where, problem if unknown else ""


@contextmanager
def opened_index(
    workspace: Workspace, seconds: float, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[tuple[Database | None, Brought, str]]:
    """The index after a look of this many seconds, or until it is `cancelled`, and a sentence where it cannot be kept.
    None, and no sentence, where the user has switched it off: then its words leave the cache."""
    if not workspace.config.search_conversations:
        forget_all(workspace)
        yield None, Brought(), ""
        return
    where, problem = where_of(workspace)
    database, brought = None, Brought()
    try:
        database, brought = look(where, seconds, cancelled=cancelled)
    except OSError as error:
        problem = f"conversations are not searched: the cache folder cannot be used ({error.strerror or error})"
    except stored.Trouble as error:
        problem = f"conversations are not searched: {error}"
    try:
        yield database, brought, problem
    finally:
        if database is not None:
            database.close()


def forget_all(workspace: Workspace, seconds: float = 0.0) -> None:
    """Take the words of conversations out of the cache: the user has switched the search off, or the index is damaged
    and made again. Where another program writes it for longer than this many seconds, the next search does it."""
    folder = index_folder(workspace)
    if files.exists(folder / store.FILE):
        with suppress(OSError), locks.locked(folder / store.LOCK, work="search", editor_wait=seconds):
            stored.throw_away(folder)


def tool_of(row: Held) -> str:
    """What people call the tool of a conversation."""
    if row.source not in (HOME, FILES):
        return title_of(row.source)
    return TOOLS.get(row.tool, "") or title_of(row.source)


@dataclass(frozen=True)
class Shown:
    """A conversation for `knowledge show`. `style` is readable, markdown, resume, or handoff: what a new session is
    given to go on with one that its tool no longer has, in `handoff`."""

    conversation: ReadableConversation
    style: str = "readable"
    warnings: tuple[str, ...] = ()
    handoff: str = ""

    def to_json(self) -> dict[str, Any]:
        return self.conversation.to_json()


def show(
    workspace: Workspace,
    name: str,
    markdown: bool = False,
    resume: bool = False,
    limit: int | None = None,
    around: int | None = None,
    role: str = "",
    end: bool = False,
) -> Shown:
    """`knowledge show NAME[:TURN]`, whole or in part (`part`). Raises KnowledgeError as `read` has it, and where
    nothing goes on with a conversation."""
    if limit is not None and limit < 1:
        raise KnowledgeError("usage", f"the limit is {limit}", hint="give a number of turns")
    called, first = with_turn(name)
    if around is not None or role or end:
        conversation = part(read(workspace, called), first, around, role, limit, end=end)
    else:
        conversation = read(workspace, called, first or 1, 1 if resume else limit)
    if resume and conversation.archived:
        told = by_rules(workspace, locate(workspace, called))
        return Shown(conversation, "handoff", conversation.warnings, told)
    if resume and not conversation.resume:
        message = f"nothing goes on with this conversation: {conversation.why_not}"
        raise KnowledgeError("no-resume", message, conversation.name)
    return Shown(conversation, "resume" if resume else "markdown" if markdown else "readable", conversation.warnings)


def with_turn(name: str) -> tuple[str, int]:
    """A name and the turn (from 1) that stands behind it, 0 for none."""
    bare, _, turn = name.rpartition(":")
    return (bare, int(turn)) if bare and turn.isdecimal() and len(turn) < 9 else (name, 0)


def part(
    whole: ReadableConversation, turn: int, around: int | None, role: str, limit: int | None, *, end: bool = False
) -> ReadableConversation:
    """The turns that matter: those within `around` of a turn (0: none is named), of one who spoke, at most `limit`;
    counted from the `end` where that is asked for. Raises KnowledgeError for a turn that does not exist."""
    if turn > whole.count:
        raise KnowledgeError("usage", f"there is no turn {turn}", whole.name, f"it has {count(whole.count, 'turn')}")
    low = turn - around if around is not None and turn else turn
    high = turn + around if around is not None and turn else whole.count
    turns = [one for one in whole.turns if low <= one.number <= high and role in ("", one.role)]
    if end:
        turns = turns[-(limit or AT_END) :]
    shown = tuple(turns[:limit] if limit else turns)
    behind = shown[-1].number + 1 if shown and not role and shown[-1].number < whole.count else None
    return replace(whole, turns=shown, first=shown[0].number if shown else 1, next=behind)


# --- reading ---------------------------------------------------------------------------------------------------------


def read(
    workspace: Workspace,
    name: str,
    first: int = 1,
    number: int | None = None,
    *,
    allowed: Callable[[str], bool] | None = None,
    seconds: float = LOOK_SECONDS,
) -> ReadableConversation:
    """One conversation by its name as search and provenances tell it, by its path, or by a part of either that no other
    has: `number` turns (None: all) from `first` on (counted from 1). Raises KnowledgeError for a name that there is
    not, a conversation that cannot be read, one whose folder `allowed` refuses, or a turn that it does not have. With
    `allowed`, only those in known places are read, and no other file at a path."""
    located = locate(workspace, name, allowed, seconds)
    try:
        return read_held(workspace, located, first, number, allowed=allowed)
    except KnowledgeError as failed:
        if failed.error.code == "no-conversation":  # a part of a name must not be told the rest of it
            raise _unknown(name) from None
        raise


def read_entry(workspace: Workspace, key: str) -> ReadableConversation:
    """All of the conversation of a ledger entry (its whole key), wherever it lies by now."""
    from core.commands.panel.conversations import GONE, place_of_entry

    entry = known_entries(workspace.paths).get(key)
    if entry is None:
        raise KnowledgeError("no-entry", "the ledger knows nothing of this conversation (any more)", key)
    if entry.get("status") == FORGOTTEN:
        raise _forgotten(str(entry.get("name", "")) or key)
    path = str(entry.get("path", "")) or key.removeprefix("path:")
    now, stored_one = place_of_entry(workspace, key, entry)
    if not now or (stored_one is not None and not stored_one.turns):
        raise KnowledgeError(GONE, "the conversation is not there any more", path, "what it taught is in your files")
    located = attempt(locate, workspace, now, seconds=0.0)
    if isinstance(located, Ok) and located.value.path == now:
        return read_held(workspace, located.value)
    name = str(entry.get("name", "")) or os.path.basename(path)
    source = str(entry.get("source", "")) or HOME
    return read_held(workspace, Held(0, now, "", name, source, trash=now.startswith(str(workspace.paths.trash))))


def read_held(
    workspace: Workspace,
    row: Held,
    first: int = 1,
    number: int | None = None,
    *,
    allowed: Callable[[str], bool] | None = None,
) -> ReadableConversation:
    """The same of a conversation that was located."""
    from core.conversations.ran import read_end
    from core.conversations.readable import ReadableConversation, page

    try:
        cleared = whole_of(workspace, row, uncut=True)
    except KnowledgeError:
        if allowed is None or allowed(row.folder):
            raise
        raise _unknown(row.name) from None  # why it cannot be read is told of one that may be read alone
    facts = cleared.conversation
    if allowed is not None and not allowed(facts.folder or row.folder):
        raise _unknown(row.name)
    turns = len(facts.turns)
    if not 1 <= first <= max(1, turns):
        raise KnowledgeError("usage", f"there is no turn {first}", row.name, f"it has {count(turns, 'turn')}")
    items, warnings = harvested(workspace, row)
    end = _clear(read_end(facts.turns).text)
    shown = page(cleared, first, number, items)
    after = first + len(shown)
    gone = kept_of(workspace, row) is not None
    known = row._replace(session=row.session or facts.id, folder=row.folder or facts.folder)
    resume, why_not = ("", NO_LONGER) if gone else resume_of(known)
    return ReadableConversation(
            row.name, facts.title or row.title, tool_of(row._replace(tool=facts.format)), row.source, row.path,
            facts.folder or row.folder, facts.repository, facts.branch, facts.model, (facts.ended or row.ended)[:10],
            facts.started or row.started, facts.ended or row.ended, turns, first, after if after <= turns else None,
            shown, items, bool(row.trash), resume, why_not, cleared.secrets.count, warnings, end, gone,
        )  # fmt: skip


def by_rules(workspace: Workspace, row: Held) -> str:
    """What a new session is given to go on with a conversation that was located: the hand-off that rules make. Raises
    KnowledgeError where it cannot be read."""
    from core.rules.handoff import handoff
    from core.rules.session import read_session

    whole = whole_of(workspace, row)
    talk = whole.conversation
    day = (talk.ended or talk.started)[:10] or f"{row.ended[:10]} (of the file)"
    about = {
        "Session": row.name, "Tool": tool_of(row._replace(tool=talk.format)), "Day": day,
        "Folder": talk.folder or row.folder,
    }  # fmt: skip
    return whole.secrets.hide(whole.secrets.clear(handoff(read_session(talk), about)))


def locate(
    workspace: Workspace, name: str, allowed: Callable[[str], bool] | None = None, seconds: float = LOOK_SECONDS
) -> Held:
    """The conversation of that name; of several with one name the one that is in its place, and the newest. Raises
    KnowledgeError for none, and for a part of a name that several have. Nothing is told of those whose folder `allowed`
    refuses. `seconds` bounds how long what is new is read into the index before."""
    if not name.strip():
        raise KnowledgeError("usage", "no conversation is named", hint="'knowledge search' tells names")
    where, _ = where_of(workspace)
    rows: list[Held] = []
    with opened_index(workspace, seconds) as (database, _, _):
        if database is not None:
            rows = stored.named(database, name) or stored.named(database, os.path.abspath(name))
            rows = rows or stored.named_like(database, name, MOST_ALIKE)
    if allowed is not None:
        rows = [row for row in rows if allowed(row.folder)]
    if not rows:
        rows = [_row_of(item) for item in _called(where, name, anywhere=allowed is None)]
    if not rows:
        raise _unknown(name)
    from core.knowledge.digest import is_short_for  # a search loads this module too, and names no conversation

    rows = [row for row in rows if is_short_for(name, row.name)] or rows  # as a context cites it
    forgotten = forgotten_places(known_entries(workspace.paths))
    if any(known_as(row.path, row.source) in forgotten for row in rows):
        raise _forgotten(name)
    best = sorted(rows, key=lambda row: (not row.trash, row.ended), reverse=True)
    same = {row.name for row in rows}
    if len(same) > 1:
        named = f": {', '.join(sorted(same)[:3])}" if allowed is None else ""
        message = f"several conversations are called like that{named}"
        raise KnowledgeError("several", message, name, "give more of the name")
    return best[0]


def _called(where: Where, name: str, *, anywhere: bool) -> list[Artifact]:
    """The conversations of that name, or at that path, as they lie on the disk: for those that the index does not hold.
    Project folders are not looked through. Without `anywhere` a path outside of the known places is none."""
    path = os.path.abspath(os.path.expanduser(name))
    item = artifact_at(path, HOME, os.path.basename(path)) if anywhere else None
    if item is not None and item.kind == "conversation":
        return [item]
    rows = [row for row in scan_conversations(where.paths) if row.kind == "conversation"] if where.home else []
    rows += survey(where.places).artifacts
    rows += harvested_at_paths(where.entries()) if where.harvested else []
    there = {known_as(row.path, row.source) for row in rows}
    rows += [row for row, _ in stand_ins(where.paths.archive, where.entries(), {*SOURCE}, there)]
    stores = [row for row in rows if row.kind == "store"]
    if stores:
        with StoreCache(where.copies) as opened:
            rows += list_sessions(stores, opened).artifacts
    found = [row for row in rows if row.kind != "store"]
    return [row for row in found if name in (row.name, row.path)] or [row for row in found if name in row.name][:4]


def kept_of(workspace: Workspace, row: Held) -> str | None:
    """The file of the archive in which a conversation is read, for its tool has deleted it; None for any other."""
    kept = stand_in(workspace.paths.archive, row.path, row.source)
    if kept is None or os.path.lexists(row.path):
        return None
    if "#" in row.path:
        with suppress(OSError):
            with StoreCache(workspace.cache / "stores") as stores:
                stores.content(Artifact(row.path, row.name, "session", source=row.source))
            return None
    return kept.kept


def _forgotten(name: str) -> KnowledgeError:
    return KnowledgeError("forgotten", "this conversation is forgotten, as you asked", name)


def _unknown(name: str) -> KnowledgeError:
    return KnowledgeError(
        "no-conversation", "there is no conversation of that name", name, "'knowledge search' finds them by words"
    )


def _row_of(item: Artifact) -> Held:
    ended = iso_of(item.mtime_ns / 1e9)
    return Held(0, item.path, "", item.name, item.source, ended=ended, bytes=item.size, trash=item.kind == "trash")


_kept: dict[str, tuple[str, Cleared]] = {}
"""The last conversations that were read, by path: pages of one are asked for one after the other."""
KEPT = 3


def whole_of(workspace: Workspace, row: Held, *, uncut: bool = False) -> Cleared:
    """The whole conversation without secrets; `uncut`: what tools were given and gave back, too."""
    from core.conversations.readable import cleared
    from core.conversations.turns import uncut as as_it_is

    inside = "#" in row.path and not os.path.lexists(row.path)
    try:
        if inside:
            with StoreCache(workspace.cache / "stores") as stores:
                data = stores.content(Artifact(row.path, row.name, "session", source=row.source))
            state = ""
        else:
            found = os.stat(row.path)
            state = f"{found.st_size} {found.st_mtime_ns} {found.st_ino} {uncut}"
            known = _kept.get(row.path)
            if known is not None and known[0] == state:
                return known[1]
            data = files.read_file(row.path).data
    except OSError as error:
        if (kept := kept_of(workspace, row)) is not None:
            return whole_of(workspace, row._replace(path=kept), uncut=uncut)
        message = f"the conversation cannot be read: {error.strerror or error}"
        raise KnowledgeError("unreadable", message, row.path, "was it moved or deleted?") from error
    from core.conversations.read import read_conversation, why_unread  # a search reads none of them

    with as_it_is() if uncut else nullcontext():
        conversation = read_conversation(row.name, data)
    if not conversation.turns:
        problem = why_unread(data, conversation)
        message = problem.message if problem is not None else "nothing was said in it"
        raise KnowledgeError("unread-conversation", message, row.path)
    whole = cleared(conversation)
    if state:
        _kept.pop(row.path, None)
        _kept[row.path] = (state, whole)
        for old in list(_kept)[:-KEPT]:
            del _kept[old]
    return whole


MOST_KNOWN = 5000
"""The newest conversations in whose files a word is looked for that no index has."""
MOST_BYTES = 64 << 20
"""The bytes of these files that are looked through: a tenth of a second."""
READ_BYTES = 4 << 20
"""The bytes of those with the word that are read, to see whether a tool printed it: half a second at most."""


def where_printed(
    workspace: Workspace, database: Database, question: str, words: Sequence[str], allowed: Callable[[str], bool]
) -> tuple[list[str], str]:
    """Those of some `words` of a question that a tool printed in one of the newest conversations whose folder is
    `allowed`, and where: the name of the conversation and the turn that has the most of them, of equals the most of the
    question. None of them and "" where no tool did, or the conversation lies in no file of its own."""
    asked, best = set(words_of(question)), (0, 0)
    seen, place = set[str](), ""
    spelled = [form for word in words for form in {word.encode(), json.dumps(word)[1:-1].encode()}]
    room, left = MOST_BYTES, READ_BYTES
    for row in stored.newest(database, "trash = 0", (), MOST_KNOWN):
        if row.bytes > min(room, left) or not allowed(row.folder):
            continue
        room -= row.bytes
        data = _lower(row.path)
        talk = attempt(whole_of, workspace, row) if any(form in data for form in spelled) else None
        if not isinstance(talk, Ok):
            continue
        left -= row.bytes
        for at, one in enumerate(talk.value.conversation.turns, start=1):
            told = set(words_of(one.text)) if one.role == "tool" else set[str]()
            has = told.intersection(words)
            if has and (len(has), len(told & asked)) > best:
                best, seen, place = (len(has), len(told & asked)), has, f"{row.name}:{at}"
    return [word for word in words if word in seen], place


def _lower(path: str) -> bytes:
    """A file in lower case; nothing where it cannot be read: whoever reads the conversation is told why."""
    try:
        return files.read_or_empty(path).lower()
    except OSError:
        return b""


def harvested(workspace: Workspace, row: Held) -> tuple[tuple[HarvestedItem, ...], tuple[str, ...]]:
    """What a conversation taught, in the order of its turns, by the committed plans of all its harvests; and a warning
    where they cannot be read."""
    from core.commands.panel.conversations import given_by
    from core.conversations.readable import HarvestedItem
    from core.knowledge.journal import read_plans

    entries = known_entries(workspace.paths)
    own = sha_in_trash(os.path.basename(row.path)) if row.trash else ""
    place = str(entries[own].get("path", "")) if own in entries else row.path
    wanted = known_as(place, row.source)
    found: dict[tuple[str, str], HarvestedItem] = {}
    try:
        for key, entry in entries.items():
            known = known_as(str(entry.get("path", "")), str(entry.get("source", "")) or HOME)
            if entry.get("status") != "harvested" or known != wanted:
                continue
            plan = read_plans(workspace.paths.plans, str(entry.get("run", ""))).get(key)
            facts = plan.facts if plan is not None else {}
            places, quotes = table_in(facts, "evidence"), table_in(facts, "quotes")
            for given in given_by(workspace.paths, key, entry):
                mark = mark_of_text(given.text)
                at = table_in(places, mark)
                turn, start, end = (at.get(name, 0) for name in ("turn", "start", "end"))
                found[given.file, given.text] = HarvestedItem(
                    category_of(given.file), _clear(given.text), given.file, given.line,
                    _clear(str(quotes.get(mark, ""))), turn + 1 if at else 0, start, end,
                )  # fmt: skip
    except OSError as error:
        return (), (f"what was harvested from it cannot be read: {error.strerror or error}",)
    return tuple(sorted(found.values(), key=lambda item: (item.turn or 10**9, item.file, item.line))), ()


def _clear(text: str) -> str:
    return redact(text).text


def category_of(file: str) -> str:
    """`facts` for `facts.md`, `files` for a note on a source file."""
    return "files" if file.startswith("files/") else file.removesuffix(".md")


def resume_of(row: Held) -> tuple[str, str]:
    """The command that goes on with a conversation in its own tool; "" and why there is none."""
    if row.trash:
        return "", "it is in the trash; 'knowledge trash restore' puts it back first"
    return resume_command(row.source, row.session, row.name, row.path, row.folder)


# --- at the command line --------------------------------------------------------------------------------------------


AT_END = 6
"""The turns that are shown from the end, unless a number is given."""


def show_text(shown: Shown) -> str:
    """A conversation for a reader, as markdown, or the command that goes on with it."""
    conversation = shown.conversation
    if shown.style == "handoff":
        return shown.handoff
    if shown.style == "resume":
        return f"{conversation.resume}\n"
    from core.commands.transcript_text import markdown, readable  # a search shows no conversation

    return "\n".join(markdown(conversation) if shown.style == "markdown" else readable(conversation)) + "\n"


COMMANDS = (
    top(
        "show",
        "claude_code/0f3c9a52:41",
        show,
        show_text,
        needed("name", "its name as 'knowledge search' and provenances tell it, or its path; :TURN begins there"),
        flag("--markdown", "as markdown"),
        flag("--resume", "only the command line that goes on with it in its own tool"),
        whole_number("--limit", "at most N turns (default: all)"),
        whole_number("--around", "the turns up to N before and behind that of NAME:TURN"),
        option("--role", f"only what was said by {listed(SPOKEN_ROLES)}", "ROLE", choices=SPOKEN_ROLES),
        flag("--end", f"the last turns, {AT_END} unless --limit says how many"),
        words=SPOKEN,
    ),
)
