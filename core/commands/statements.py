"""Bullets as a user names them, and one change to all lines that say the same.

A bullet is named by its short id (`knowledge list` shows it), by its words (the exact text, or a part of it that only
one statement has), by `FILE:LINE`, or, from the panel, by a `BulletRef`. The same statement may stand in several lines
of a file (earlier versions wrote one for each conversation, and a user may write another): a user is shown it once, its
id and its words mean all of those lines, and what is done to it happens to each of them, in one write with one undo.
Its place means that very line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from core.base import files
from core.base.choices import ANY_CATEGORY
from core.base.entry import statement_key
from core.base.markdown import BY_HAND, Bullet, parse_bullets, split_provenance
from core.base.paths import PROJECT_FOLDER, Paths
from core.base.result import KnowledgeError, attempt, disk_errors
from core.commands.workspace import Clock, Workspace, utc_now, without_secrets
from core.experience.record import follow
from core.knowledge import bullet_text
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import CATEGORY, TASKS_FILE, bullets_in, note_files, read_text
from core.knowledge.confirmed import confirmed_bullets, read_confirmed
from core.knowledge.digest import emptied, regenerate_digest
from core.knowledge.edit import Edited, bring_back, change_file, new_edit_run, remember
from core.knowledge.hunks import Hunk
from core.knowledge.removed import read_hidden
from core.knowledge.same import is_short_id, short_id, statements, what_is_said

SHOWN = 5
WIDTH = 90
LEAST_CHARACTERS = 3
"""A shorter part of a text names nothing: "1" would close whatever task has a 1 in it."""
_WORDS_OF = {
    "": "bullet in any category",
    "tasks": "task",
    "tasks_open": "open task",
    "tasks_done": "task that is done",
    "files": "note on a file",
    **{name: f"bullet of {name}" for name in ("facts", "decisions", "questions", "playbooks")},
}
_ADDRESS = re.compile(r"(?P<file>(?:[^:]+|files/.+)\.md):(?P<line>\d{1,9})\Z")

Match = str | BulletRef


@dataclass(frozen=True)
class Found:
    """A bullet on disk with the category and the file (below the knowledge folder) it stands in."""

    category: str
    file: str
    bullet: Bullet

    @property
    def ref(self) -> BulletRef:
        return BulletRef(self.file, self.bullet.line, self.bullet.raw)

    @property
    def id(self) -> str:
        """The short id of what it says, which the commands for single bullets take."""
        return short_id(self.file, self.bullet.text)

    def to_json(self) -> dict[str, Any]:
        made = self.bullet
        return {
            "id": self.id,
            "category": self.category,
            "file": self.file,
            "line": made.line,
            "text": made.text,
            "provenance": str(made.provenance) if made.provenance is not None else None,
            "more": list(made.more),
            "struck": made.struck,
        }


@dataclass(frozen=True)
class Said:
    """One statement: `found` is the newest line that makes it, `others` are the older ones, newest first."""

    found: Found
    others: tuple[Found, ...] = ()

    @property
    def conversations(self) -> int:
        """How many different conversations said it; what was written by hand is no conversation."""
        rows = [row.bullet for row in (self.found, *self.others)]
        came = (one for row in rows for one in (row.provenance, *row.again) if one is not None)
        return len({one.source for one in came if one.source != BY_HAND}) + max(row.more_again for row in rows)

    @property
    def last_day(self) -> str:
        """The day on which it was said last (YYYY-MM-DD), "" where nothing tells."""
        return max(row.bullet.last_day for row in (self.found, *self.others))

    @property
    def refs(self) -> tuple[BulletRef, ...]:
        """All of its lines, the newest first."""
        return tuple(row.ref for row in (self.found, *self.others))


@dataclass(frozen=True)
class Resolved:
    """The lines that a user means, all of one file; `note` is a sentence about others that say the same, "" for
    none."""

    refs: tuple[BulletRef, ...]
    note: str = ""


def said(rows: Sequence[Found]) -> list[Said]:
    """The bullets of one category (oldest first, as in the file) as statements, in the order of their newest line.

    What is held in the quarantine stands for itself, line by line: each is let in or dropped alone.
    """
    if rows and rows[0].category == "quarantine":
        return [Said(row) for row in rows]
    by_line = {row.bullet.line: row for row in rows}
    return [
        Said(by_line[one.bullet.line], tuple(by_line[other.line] for other in one.others))
        for one in statements(row.bullet for row in rows)
    ]


def said_with(rows: Sequence[Found], found: Found) -> Said:
    """The statement that one of `rows` is a part of, with that very line in front."""
    for one in said(rows):
        all_of = (one.found, *one.others)
        if found in all_of:
            return Said(found, tuple(row for row in all_of if row != found))
    return Said(found)


def resolve_bullet(
    paths: Paths, category: str, match: Match, tells: Callable[[Found], bool] = lambda row: True
) -> Resolved:
    """The lines that `match` names. `category` is one of the seven, `tasks` for both kinds, or "" ("any") for all. What
    `tells` refuses is as if it were not there.

    Raises no-match, which names the nearest, or ambiguous, which lists the candidates.
    """
    if isinstance(match, BulletRef):
        return Resolved((match,))
    category = "" if category == ANY_CATEGORY else category
    names = {"": tuple(CATEGORY), "tasks": ("tasks_open", "tasks_done")}.get(category, (category,))
    if not set(names) <= set(CATEGORY):
        message = f"there is no category {category!r}"
        raise KnowledgeError("no-category", message, hint=f"choose one of {', '.join(CATEGORY)}")
    with disk_errors("unreadable", "the bullets cannot be read"):
        rows = [row for row in bullets_of(paths, names) if tells(row)]
    where, wanted = _WORDS_OF.get(category, category), match.strip()
    if not wanted:
        raise KnowledgeError("no-match", "an empty text names no bullet", hint="give some words of it")
    address = _ADDRESS.match(wanted)
    if address is not None:
        here = [row for row in rows if row.file == address["file"] and row.bullet.line == int(address["line"])]
        if here:
            return _very_line(rows, here[0])
    if address is not None and wanted.startswith(f"{PROJECT_FOLDER}/"):
        message = f"{address['file']} is a project's own: commands look into the files of your home"
        raise KnowledgeError("no-match", message, hint="change it in an editor, in the project's folder")
    exact = _named(rows, wanted)
    if not exact and len(wanted) < LEAST_CHARACTERS:
        message = f"{wanted!r} is too short to name a bullet"
        hint = f"give its id, which 'knowledge list' shows, or at least {LEAST_CHARACTERS} characters of its text"
        raise KnowledgeError("no-match", message, hint=hint)
    # The middle of a word names nothing: "cat" is not in "concatenate", and what is named may be deleted.
    folded = wanted.casefold()
    begins = re.compile(r"(?<![a-z0-9])" * (folded[:1].isascii() and folded[:1].isalnum()) + re.escape(folded))
    found = _statements(rows, exact or [row for row in rows if begins.search(row.bullet.text.casefold())])
    if len(found) == 1:
        return Resolved(found[0].refs)
    if found:
        shown = "; ".join(_shown(row.found) for row in found[:SHOWN])
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        message = f"{len(found)} bullets match {wanted!r}: {shown}{more}"
        told_apart = len({row.found.id for row in found}) > 1  # one id: they differ only in what stands below them
        hint = "give its id, which 'knowledge list' shows, more of the text, or " if told_apart else "give "
        hint += "FILE:LINE as it stands here"
        raise KnowledgeError("ambiguous", message, hint=hint)
    if address is not None:
        lines = sorted(row.bullet.line for row in rows if row.file == address["file"])
        there = f"; the first stands in line {lines[0]}, the last in line {lines[-1]}" if lines else ""
        message = f"there is no {where} in line {address['line']} of {address['file']}{there}"
        raise KnowledgeError("no-match", message, hint="'knowledge list' shows the ids as they are now")
    if is_short_id(wanted):
        message = f"no {where} has the id or the words {wanted!r}; an id changes with the words of its bullet"
        raise KnowledgeError("no-match", message, hint="'knowledge list' shows the ids as they are now")
    from rapidfuzz import fuzz, process, utils  # for this mistake alone

    texts = [row.bullet.text for row in rows]
    near = process.extractOne(wanted, texts, scorer=fuzz.WRatio, processor=utils.default_process, score_cutoff=50)
    hint = f"the nearest is {_shown(rows[near[2]])}" if near else "'knowledge status' tells where the files are"
    raise KnowledgeError("no-match", f"no {where} matches {wanted!r}", hint=hint)


def _named(rows: Sequence[Found], wanted: str) -> list[Found]:
    """The rows with that id (those that stand before those that are struck through), else with exactly that text."""
    if is_short_id(wanted):
        found = [row for row in rows if row.id == wanted]
        if found:
            return [row for row in found if not row.bullet.struck] or found
    return [row for row in rows if wanted in (row.bullet.text, row.bullet.raw)]


def _statements(rows: Sequence[Found], hits: Sequence[Found]) -> list[Said]:
    """The statements that the hits are parts of, in their order, with all of their lines: one may say the same in other
    letters. Struck lines of the same words are named as one too."""
    lines: dict[object, list[Found]] = {}
    for row in rows:
        lines.setdefault(_key(row), []).append(row)
    groups = (lines[key] for key in dict.fromkeys(map(_key, hits)))
    return [Said(group[-1], tuple(reversed(group[:-1]))) for group in groups]


def _key(row: Found) -> object:
    return (row.category, row.file, row.bullet.struck, what_is_said(row.bullet))


def _very_line(rows: Sequence[Found], row: Found) -> Resolved:
    same = said_with([one for one in rows if (one.category, one.file) == (row.category, row.file)], row).others
    if not same:
        return Resolved((row.ref,))
    lines = ", ".join(f"{one.file}:{one.bullet.line}" for one in same[:SHOWN])
    note = f"other lines say the same and stay as they are: {lines} (the words name them all)"
    return Resolved((row.ref,), note)


def all_lines(paths: Paths, categories: Iterable[str] = tuple(CATEGORY)) -> Iterator[Found]:
    """Every bullet of some categories as the files have it, in their order. Raises OSError."""
    for name in categories:
        file = CATEGORY[name].file
        for place in [file] if file else [f"files/{note.name}" for note in note_files(paths)]:
            yield from (Found(name, place, row) for row in bullets_in(read_text(paths.knowledge / place), name))


def bullets_of(paths: Paths, categories: tuple[str, ...]) -> Iterator[Found]:
    """All bullets of some categories, in the order of the files, without those that say what the user removed. Raises
    OSError."""
    removed, again = read_hidden(paths), read_confirmed(paths)
    for (name, place), rows in groupby(all_lines(paths, categories), lambda row: (row.category, row.file)):
        told = confirmed_bullets(again, place, [row.bullet for row in rows])
        yield from (Found(name, place, row) for row in told if not removed.keeps_away(row))


def _shown(row: Found) -> str:
    text = row.bullet.text
    return f"{row.file}:{row.bullet.line} {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}"


Lines = list[str]
ACTS: dict[str, Callable[[Lines, BulletRef, str], list[Hunk]]] = {
    "edit": bullet_text.with_text,
    "strike": lambda lines, ref, _: bullet_text.struck(lines, ref),
    "unstrike": lambda lines, ref, _: bullet_text.unstruck(lines, ref),
    "delete": lambda lines, ref, _: bullet_text.without(lines, (ref,)),
    "done": lambda lines, ref, _: bullet_text.moved(lines, ref, "done"),
    "reopen": lambda lines, ref, _: bullet_text.moved(lines, ref, "open"),
    "supersede": bullet_text.superseded,
    "retract": lambda lines, ref, _: bullet_text.struck(lines, ref),
    "forget": lambda lines, ref, _: bullet_text.struck(lines, ref),
}
SAID_ALREADY = ("unchanged", "already-struck", "not-struck")


@dataclass(frozen=True)
class LineChange:
    """One of `ACTS`, to be done to all lines of one statement (of one file).

    `text` are the words of an edit, or the line that supersedes. Secrets in it are replaced, unless `keep_secrets` says
    otherwise; that is reported as a warning, behind `note`. `seen` is the sha256 of the file as the user saw it, None
    for any; `run` is the edit that it is a part of, "" for a new one.
    """

    act: str
    refs: Sequence[BulletRef]
    text: str = ""
    keep_secrets: bool = False
    note: str = ""
    seen: str | None = None
    run: str = ""


def change_lines(workspace: Workspace, change: LineChange, *, now: Clock = utc_now) -> Edited:
    """Change the lines in one write: all of them or none.

    What is taken out or said otherwise is remembered and stays away (`REMEMBERED`), until one undo brings both back.
    A line that is as wanted already is left as it is; raises KnowledgeError when all are, when a line is no longer
    there, or when the file has changed since it was seen. One undo takes it back. The facts made of these lines follow
    at the next sync; `bullets.change_all` does that at once.
    """
    act, refs = change.act, change.refs
    if act not in ACTS or not refs or len({ref.file for ref in refs}) > 1:
        raise KnowledgeError("usage", f"{act!r} cannot be done to these lines", hint=f"choose one of {', '.join(ACTS)}")
    moment = now()
    run = change.run or new_edit_run(moment)
    words, replaced = without_secrets(workspace, change.text, change.keep_secrets) if change.text else ("", "")
    note = "; ".join(filter(None, (change.note, replaced)))
    ordered = tuple(reversed(refs)) if act in ("done", "reopen") else tuple(refs)  # the newest stays the last one

    def hunks(lines: Lines) -> list[Hunk]:
        return _all_hunks(lines, ordered, lambda text_now, ref: ACTS[act](text_now, ref, words))

    texts = list(dict.fromkeys(text_of(ref) for ref in refs))
    left = {statement_key(words), *_said_beside(workspace.paths, refs)}
    going = [said for said in texts if act in REMEMBERED and statement_key(said) not in left]
    gone, problem = remember(workspace.paths, dict.fromkeys(going, REMEMBERED[act]), moment, run) if going else ([], "")
    note = "; ".join(filter(None, (note, problem)))
    try:
        edited = change_file(workspace.paths, refs[0].file, hunks, moment, seen=change.seen, run=run)
    except KnowledgeError:
        bring_back(workspace.paths, gone, moment, run)
        raise
    if act in ("edit", "supersede"):
        said = split_provenance(words)[0]
        note = "; ".join(filter(None, (note, *(record_follows(workspace.paths, one, said) for one in texts))))
    if act == "unstrike" or (act == "edit" and words):
        bring_back(workspace.paths, texts if act == "unstrike" else [words], moment, run)
    return finished(workspace, edited, note)


def record_follows(paths: Paths, old: str, new: str) -> str:
    """What says `old` says `new` from now on, and keeps the record of how it served; a sentence where it does not."""
    done = attempt(follow, paths.experience, old, new)
    return str(done.error) if isinstance(done, KnowledgeError) else ""


REMEMBERED = {
    "delete": "removed",
    "strike": "struck",
    "edit": "replaced",
    "supersede": "replaced",
    "retract": "retracted",
    "forget": "forgotten",
}
"""What takes a statement out -> how `removed.md` says that it went."""


def _said_beside(paths: Paths, refs: Sequence[BulletRef]) -> set[str]:
    """The keys of what other lines of the file say: a line that is named by its place goes alone, and what it says is
    still said."""
    try:
        rows = parse_bullets(read_text(paths.knowledge / refs[0].file))
    except OSError:
        return set()  # the change itself tells
    lines = {(ref.line, ref.raw) for ref in refs}
    return {statement_key(row.text) for row in rows if not row.struck and (row.line, row.raw) not in lines}


def text_of(ref: BulletRef) -> str:
    """What a line says, without dash, provenance and the marks of one that is struck through; of a task without its
    box."""
    [bullet] = parse_bullets(f"## Open\n{ref.raw}" if ref.file == TASKS_FILE else ref.raw)
    return bullet.text


def _all_hunks(lines: Lines, refs: Sequence[BulletRef], act: Callable[[Lines, BulletRef], list[Hunk]]) -> list[Hunk]:
    """The hunks of every line, each for the file as those before left it: places below a hunk move with it."""
    made: list[Hunk] = []
    refused: KnowledgeError | None = None
    left = list(refs)
    while left:
        ref = left.pop(0)
        try:
            one = act(lines, ref)
        except KnowledgeError as failed:
            if failed.error.code not in SAID_ALREADY:
                raise
            refused = refused or failed
            continue
        for hunk in one:
            at, grown = hunk.line - 1, len(hunk.added) - len(hunk.removed)
            lines = [*lines[:at], *hunk.added, *lines[at + len(hunk.removed) :]]
            below = hunk.line + len(hunk.removed)
            left = [replace(row, line=row.line + grown) if row.line >= below else row for row in left]
        made += one
    if refused is not None and not made:
        raise refused
    return made


# --- beside a change --------------------------------------------------------------------------------------------------


def refresh_digest(workspace: Workspace) -> str:
    """Bring digest.md up to date where it exists, or went for want of a line; one that the user deleted stays away.
    Returns a sentence about what went wrong, or ""."""
    config = workspace.config
    if not config.digest_enabled:
        return ""
    try:
        if not files.exists(workspace.paths.digest) and not emptied(workspace.paths):
            return ""
        regenerate_digest(workspace.paths, config.digest_max_bytes, secrets=config.redact)
    except OSError as error:
        return f"the digest could not be brought up to date: {error.strerror or error}"
    return ""


def finished(workspace: Workspace, edited: Edited, note: str = "") -> Edited:
    """An edit with the digest brought up to date, and what did not work beside it (`note` first) as its warning."""
    problems = [sentence for sentence in (note, edited.warning, refresh_digest(workspace)) if sentence]
    return replace(edited, warning="; ".join(problems))
