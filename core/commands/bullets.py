"""What a user does to single bullets: add, edit, strike, done, remove, and back; and what they ask for without a
change: what is known of a source file, and the tasks of a project.

Which one is meant, and that all lines of one statement are changed together, statements.py tells; the panel adds the
sha256 of what was seen.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.choices import ANY_CATEGORY
from core.base.entry import as_fact
from core.base.figures import count
from core.base.markdown import Bullet, is_bullet, parse_bullets, sanitise_line, unmarked, without_box
from core.base.project import in_repository, is_below
from core.base.result import KnowledgeError, attempt, disk_errors
from core.commands.project import EVERY, find_project, projects_named, which_of_name
from core.commands.row import (
    CATEGORY_WORD,
    MATCH,
    OF_BULLET,
    SECRETS,
    Argument,
    Ask,
    flag,
    needed,
    nobody,
    option,
    optional,
    top,
)
from core.commands.statements import (
    Found,
    LineChange,
    Match,
    Said,
    bullets_of,
    change_lines,
    finished,
    resolve_bullet,
    said,
)
from core.commands.text import change_text
from core.commands.workspace import Clock, Workspace, utc_now, without_secrets
from core.harvest.named_paths import allowed_path
from core.knowledge import edit as edits
from core.knowledge.categories import CATEGORY, bullets_in, note_files, read_text
from core.knowledge.edit import Edited
from core.knowledge.file_notes import notes_for, refresh_notes
from core.knowledge.projects import (
    OTHER,
    Here,
    Projects,
    facts_about,
    here_in,
    known_projects,
    nearness,
    waiting_sentence,
)
from core.knowledge.same import by_date

if TYPE_CHECKING:
    from core.commands.purge import Purged


def add(
    workspace: Workspace,
    category: str,
    text: str,
    *,
    file: str = "",
    keep_secrets: bool = False,
    seen: str | None = None,
    now: Clock = utc_now,
) -> Edited:
    """Write a bullet by hand. `file` names the source file of a note (category `files`). Secrets in the text are
    replaced and reported as a warning, unless the user insists with `keep_secrets` or the setting `redact` is off."""
    name = {"tasks": "tasks_open"}.get(category, category)
    source = str(workspace.cwd / file) if file and not file.startswith("~") else file
    words, note = without_secrets(workspace, text, keep_secrets)
    return finished(workspace, edits.add_bullet(workspace.paths, name, words, now(), path=source, seen=seen), note)


def done(workspace: Workspace, match: Match, *, seen: str | None = None, now: Clock = utc_now) -> Edited:
    """Mark an open task done: it moves, with its details, to the end of `## Done`."""
    return _moved(workspace, "done", match, seen, now)


def reopen(workspace: Workspace, match: Match, *, seen: str | None = None, now: Clock = utc_now) -> Edited:
    """Bring a task that is done back, with its details, to the end of `## Open`."""
    return _moved(workspace, "reopen", match, seen, now)


def _moved(workspace: Workspace, act: str, match: Match, seen: str | None, now: Clock) -> Edited:
    here, there = ("open", "done") if act == "done" else ("done", "open")
    try:
        return _changed(workspace, act, f"tasks_{here}", match, seen, now)
    except KnowledgeError as failed:
        if failed.error.code != "no-match":
            raise
        already = attempt(resolve_bullet, workspace.paths, f"tasks_{there}", match)
        if isinstance(already, KnowledgeError):
            raise
        file = already.value.refs[0].file
        raise KnowledgeError(f"already-{there}", f"this task is {there} already", file) from None


def edit(
    workspace: Workspace,
    category: str,
    match: Match,
    text: str,
    *,
    keep_secrets: bool = False,
    seen: str | None = None,
    now: Clock = utc_now,
) -> Edited:
    """Other words for what one bullet says; where it came from stays. Secrets in the new words: as in `add`."""
    return _changed(workspace, "edit", category, match, seen, now, text, keep_secrets=keep_secrets)


def remove(
    workspace: Workspace,
    category: str,
    match: Match,
    *,
    strike: bool = False,
    forever: bool = False,
    yes: bool = False,
    ask: Ask = nobody,
    seen: str | None = None,
    now: Clock = utc_now,
) -> Edited | Purged:
    """Delete one bullet with its indented lines, or with `strike` strike it through; undo brings it back. With
    `forever` it is purged from every place, and nothing brings it back: the user is asked, unless they say `yes`."""
    if forever:
        if strike:
            raise KnowledgeError("usage", "--forever and --strike exclude each other")
        from core.commands.purge import remove_for_ever

        return remove_for_ever(workspace, category, match, yes=yes, ask=ask, now=now)
    return _changed(workspace, "strike" if strike else "delete", category, match, seen, now)


def retract(workspace: Workspace, category: str, match: Match, *, now: Clock = utc_now) -> Edited:
    """Withdraw what one bullet says, without other words for it: struck through, and remembered as retracted."""
    return _changed(workspace, "retract", category, match, None, now)


def _changed(
    workspace: Workspace, act: str, category: str, match: Match, seen: str | None, now: Clock, text: str = "", *,
    keep_secrets: bool = False,
) -> Edited:  # fmt: skip
    """The change of the lines that are meant; where another program has moved these very lines meanwhile, of the lines
    in their new places."""
    found = resolve_bullet(workspace.paths, category, match)
    while True:
        change = LineChange(act, found.refs, text, keep_secrets=keep_secrets, note=found.note, seen=seen)
        try:
            return change_all(workspace, change, now=now)
        except KnowledgeError as failed:
            if failed.error.code != "changed-outside":
                raise
            before, found = found, resolve_bullet(workspace.paths, category, match)
            if found.refs == before.refs or [ref.raw for ref in found.refs] != [ref.raw for ref in before.refs]:
                raise


def change_all(workspace: Workspace, change: LineChange, *, now: Clock = utc_now) -> Edited:
    """`change_lines`, and the facts that were made of these lines follow them."""
    edited = change_lines(workspace, change, now=now)
    texts = [bullet.text for ref in change.refs for bullet in parse_bullets(ref.raw)]
    problem = _facts_follow(workspace, texts, now)
    return replace(edited, warning="; ".join(filter(None, (edited.warning, problem))))


def _facts_follow(workspace: Workspace, texts: Iterable[str], now: Clock) -> str:
    """Bring the fact index together with bullets of these texts, where it knows any of them; a sentence about what went
    wrong, or ""."""
    from core.factindex.facts import marks_of
    from core.factindex.record import record_path

    try:
        record = files.read_or_empty(record_path(workspace.paths.state))
    except OSError as error:
        return f"the fact index is not up to date yet: its record cannot be read ({error.strerror})"
    if not record or not any(mark.encode() in record for text in texts for mark in marks_of(as_fact(text))):
        return ""
    from core.commands.fact_feed import sync_facts

    try:
        sync_facts(workspace, now=now)
    except KnowledgeError as failed:
        return f"the fact index is not up to date yet: {failed.error}"
    return ""


# --- what is known of a source file, and of the tasks of a project ----------------------------------------------------

_OTHER_SYSTEM = re.compile(r"[A-Za-z]:[\\/]")
"""A path of Windows names no file here, and conversations that were held there tell of it all the same."""


@dataclass(frozen=True)
class Notes:
    """What is known of one source file: `path` is where it is now, `note` the file that holds its notes ("" for none).
    Behind its notes stand the facts that name it: notes of conversations that were harvested without the file."""

    path: str
    note: str
    bullets: tuple[Found, ...]
    outside: bool = False
    """Whether the file lies in none of `file_roots`: then only a conversation that worked there leaves notes on it."""

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "note": self.note or None, "bullets": [row.to_json() for row in self.bullets]}


def notes(workspace: Workspace, path: str, project: str = "") -> Notes:
    """The notes of a source file, whatever it was called before, and the facts that name it. Its path may be told from
    the folder of a `project`. Which facts are about a file of that repository, in this clone or another, and which
    about another one of that name, projects.py decides."""
    elsewhere = os.name != "nt" and _OTHER_SYSTEM.match(path) is not None
    asked = path
    if not path.startswith("~") and not elsewhere:
        found = find_project(workspace, project) if project not in ("", EVERY) else None
        asked = os.path.join(workspace.cwd, found or "", path)
    with contextlib.suppress(OSError):
        refresh_notes(workspace.paths)  # a home that cannot be written answers from what it knows
    projects = _projects(workspace)
    try:
        note, current = (None, path) if elsewhere else notes_for(workspace.paths, asked)
        for place in () if note is not None or elsewhere else _also_at(workspace, current, projects):
            if (there := notes_for(workspace.paths, place))[0]:
                note, current = there
                break
        text = read_text(note) if note is not None else ""
        facts = bullets_in(read_text(workspace.paths.knowledge / CATEGORY["facts"].file), "facts")
    except (OSError, ValueError) as error:
        raise KnowledgeError("unreadable", f"the notes cannot be read: {error}", asked) from error
    about = facts_about(facts, current, projects, workspace.environment)
    named = [Found("facts", CATEGORY["facts"].file, row) for row in about]
    if note is None:
        roots = [os.path.expanduser(root) for root in workspace.config.file_roots]
        return Notes(current, "", tuple(named), allowed_path(os.path.expanduser(current), roots) is None)
    file = f"files/{note.name}"
    return Notes(current, str(note), (*(Found("files", file, row) for row in parse_bullets(text)), *named))


def _also_at(workspace: Workspace, path: str, projects: Projects) -> Iterator[str]:
    """Where the same file lies besides: in the repository of its work tree, in other places of the project."""
    yield in_repository(path)
    here = here_in(os.path.dirname(path), projects, workspace.environment)
    others = sorted(root for root in here.roots if not is_below(root, here.root))
    yield from (os.path.join(root, os.path.relpath(path, here.root)) for root in others)


@dataclass(frozen=True)
class NotedFile:
    """A source file that has notes: `path` as the heading of its notes names it, `note` the file that holds them,
    `notes` how many there are."""

    path: str
    note: str
    notes: int


def noted_files(workspace: Workspace) -> list[NotedFile]:
    """What the files of notes are about, by path: their own names are numbers of the disk."""
    found = []
    for place in note_files(workspace.paths):
        with disk_errors("unreadable", "the notes cannot be read", place):
            text = read_text(place)
        standing = [bullet for bullet in parse_bullets(text) if not bullet.struck]
        heading = sanitise_line(text.partition("\n")[0].removeprefix("#").strip(), None)
        if standing:
            found.append(NotedFile(heading or place.name, str(place), len(standing)))
    return sorted(found, key=lambda row: row.path)


# --- of a project ----------------------------------------------------------------------------------------------------


def tasks_by_date(workspace: Workspace, state: str) -> list[tuple[Found, str]]:
    """The tasks that are `open` or `done` and not struck, with the names of the projects that they come from ("" for
    none that is known); the newest first."""
    with disk_errors("unreadable", "the tasks cannot be read"):
        valid = [row for row in bullets_of(workspace.paths, (f"tasks_{state}",)) if not row.bullet.struck]
    order = {id(row): at for at, row in enumerate(by_date(row.bullet for row in valid))}
    valid.sort(key=lambda row: order[id(row.bullet)], reverse=True)
    projects = _projects(workspace)
    return [(row, projects_named(row.bullet, projects)) for row in valid]


@dataclass(frozen=True)
class Listed:
    """Statements with their ids, by category and then the newest first, each with the names of its projects ("" for
    none that is known). `project` is the folder asked about, "" for all; `elsewhere` counts the statements of other
    projects and of none."""

    project: str
    rows: tuple[tuple[Said, str], ...]
    elsewhere: int
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        rows = [
            one.found.to_json()
            | {"conversations": one.conversations, "last_day": one.last_day or None, "project": name or None}
            for one, name in self.rows
        ]
        return {"project": self.project or None, "bullets": rows, "elsewhere": self.elsewhere}


def listing(workspace: Workspace, category: str = ANY_CATEGORY, *, project: str = "", done: bool = False) -> Listed:
    """What `knowledge list` shows: the statements of a project and of the user, or with `project` "all" every one; of
    one category (`tasks` are the open ones) or of all, with `done` the tasks that are done. Struck ones are left out.
    """
    projects = _projects(workspace)
    here = Here("")  # without a root for all, as a folder of no project, such as `~`, is
    warnings: tuple[str, ...] = ()
    if project != EVERY:
        found_here = find_project(workspace, project)
        warnings = which_of_name(workspace, project, found_here)
        here = here_in(str(found_here or os.path.abspath(workspace.cwd)), projects, workspace.environment)
        warnings += (waiting_sentence(here),) if here.waits else ()
    if done:
        names: tuple[str, ...] = ("tasks_done",)
    elif category == ANY_CATEGORY:
        names = tuple(name for name in CATEGORY if name != "tasks_done")
    else:
        names = ("tasks_open" if category == "tasks" else category,)
    rows: list[tuple[Said, str]] = []
    elsewhere = 0
    with disk_errors("unreadable", "the bullets cannot be read"):
        for name in names:
            valid = (row for row in bullets_of(workspace.paths, (name,)) if not row.bullet.struck)
            found = [one for _, same in groupby(valid, attrgetter("file")) for one in reversed(said(list(same)))]
            if here.root:
                near = [_nearest(one, projects, here) for one in found]
                own = [one for one in near if nearness((one.found.bullet,), projects, here) != OTHER]
            else:
                own = found
            rows += [(one, projects_named(one.found.bullet, projects)) for one in own]
            elsewhere += len(found) - len(own)
    return Listed(here.root, tuple(rows), elsewhere, warnings)


def _projects(workspace: Workspace) -> Projects:
    try:
        return known_projects(workspace.paths, workspace.environment)
    except KnowledgeError:  # an unreadable ledger costs the way from a line to its project, and no more
        return Projects()


def _nearest(one: Said, projects: Projects, here: Here) -> Said:
    """A statement with the line in front that is nearest to a project: what was said there too is its own."""
    lines = (one.found, *one.others)
    front = min(lines, key=lambda row: nearness((row.bullet,), projects, here))
    return Said(front, tuple(row for row in lines if row is not front))


# --- at the command line --------------------------------------------------------------------------------------------


def notes_text(notes: Notes | list[NotedFile]) -> str:
    if isinstance(notes, list):
        rows = [f"{row.path}: {count(row.notes, 'note')} ({os.path.basename(row.note)})\n" for row in notes]
        return "".join(rows) or "no file has notes\n"
    if not notes.note and not notes.bullets:
        return f"{notes.path}: no notes\n"
    own = [_bullet(found.bullet) for found in notes.bullets if found.category == "files"]
    facts = [_bullet(found.bullet) for found in notes.bullets if found.category != "files"]
    rows = [notes.path, *own]
    if notes.note:
        rows.append(f"({notes.note})")
    if facts:
        why = " that worked elsewhere; it lies outside file_roots" if notes.outside else ""
        rows += [f"told of it by conversations{why} (facts.md):", *facts]
    return "\n".join(rows) + "\n"


TITLES = {"tasks_open": "open tasks", "tasks_done": "tasks done", "files": "notes on files"}


def list_text(listed: Listed) -> str:
    """Each statement behind its id, below the name of its category."""
    rows, before = [], ""
    for one, project in listed.rows:
        if one.found.category != before:
            before = one.found.category
            rows.append(f"{TITLES.get(before, before)}:")
        bullet = one.found.bullet
        marks = [one.last_day, "" if listed.project else project]
        marks += [f"in {one.conversations} conversations"] if one.conversations > 1 else []
        rows.append(f"{one.found.id}  {bullet.text} ({', '.join(filter(None, marks)) or 'no date'})")
    rows += [] if listed.rows else ["nothing"]
    if listed.elsewhere:
        rows.append(f"({listed.elsewhere} of other projects: 'knowledge list --project all' shows them too)")
    return "\n".join(rows) + "\n"


def _bullet(bullet: Bullet) -> str:
    return "\n".join([bullet.raw, *bullet.more])


def moved_text(section: str, edited: Edited) -> str:
    """A task that is done says the same as before: what changed is where it stands."""
    tasks = [line for line in edited.removed if is_bullet(line)]
    words = [without_box(unmarked(line)) for line in tasks]
    if not tasks or not {*words} <= {without_box(unmarked(line)) for line in edited.added}:
        return change_text(edited)
    rows = [edited.file, *(f"  moved to {section}: {line}" for line in words)]
    rows += [f"'knowledge undo {edited.run}' takes this back", *([f"note: {edited.warning}"] if edited.warning else [])]
    return "\n".join(rows) + "\n"


def removed_text(done: Edited | Purged) -> str:
    if isinstance(done, Edited):
        return change_text(done)
    from core.commands.purge import purged_text

    return purged_text(done)


_TEXT = needed("text", "one line, for all projects ('knowledge save --project' keeps a text to be found in one)")


COMMANDS = (
    top(
        "list",
        "tasks",
        listing,
        list_text,
        Argument(
            CATEGORY_WORD.names,
            f"{CATEGORY_WORD.help}; without one, all but tasks that are done",
            {**OF_BULLET.options, "nargs": "?", "default": ANY_CATEGORY},
        ),
        option("--project", "a project: its folder or name, or 'all' (default: the one around this folder)", "PROJECT"),
        flag("--done", "the tasks that are done, instead"),
    ),
    top(
        "notes",
        "src/app.py",
        lambda workspace, path: notes(workspace, path) if path else noted_files(workspace),
        notes_text,
        optional("path", "a source file (default: all that have notes)"),
    ),
    top(
        "add",
        'decisions "SQLite, because there is one writer"',
        add,
        change_text,
        CATEGORY_WORD,
        _TEXT,
        option("--file", "the source file that a note is about", "PATH"),
        SECRETS,
    ),
    top("done", '"release notes"', done, partial(moved_text, "Done"), MATCH),
    top("reopen", '"release notes"', reopen, partial(moved_text, "Open"), MATCH),
    top(
        "edit",
        'facts "port 8080" "The server listens on port 8081"',
        edit,
        change_text,
        OF_BULLET,
        MATCH,
        needed("text", "the new text"),
        SECRETS,
    ),
    top(
        "rm",
        'facts "port 8080" --strike',
        remove,
        removed_text,
        OF_BULLET,
        MATCH,
        flag("--strike", "strike it through instead of deleting it: it stays in the file but leaves the digest"),
        flag("--forever", "purge what it says from every file, log, plan, index and the library: no undo"),
        flag("--yes", "do not ask (with --forever)"),
        asks=True,
    ),
    top("retract", '"port 8080"', retract, change_text, OF_BULLET, MATCH),
)
