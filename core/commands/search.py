"""`knowledge search`: ranked over everything that a user's store holds, and over what was said in conversations.
Here rooms say where entries come from.

The index lies in the cache folder, one for the home alone and one for each project that it was used in (those hold what
belongs to the home too). It is brought up to date at every search; deleting it loses nothing.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.base import files
from core.base.choices import ENTRY_KINDS
from core.base.entry import Entry
from core.base.markdown import BY_HAND, Bullet, split_provenance
from core.base.paths import Paths
from core.base.project import is_below
from core.base.result import KnowledgeError, attempt, disk_errors
from core.commands.entry_sources import search_sources
from core.commands.project import Scope, find_project, project_warnings
from core.commands.workspace import Workspace, embedder_name, embedder_of
from core.factindex.index import NAME, fact_in
from core.knowledge.confirmed import confirmed_bullets, read_confirmed
from core.knowledge.removed import read_hidden
from core.library.searched import is_gone
from core.library.told import leaving_out
from core.search import kept_vectors
from core.search.candidates import Filters
from core.search.conversations import Database
from core.search.index import Index, open_index
from core.search.query import Hit as Hit
from core.search.query import remarks as of_reasons
from core.search.query import search as find
from core.search.store import COLUMNS, Row, counted
from core.standing_facts import telling

LIMIT, MAX_LIMIT = 10, 1000
VECTOR_SECONDS = 0.5
"""How long a search makes missing vectors, at most: words never wait longer for meaning."""
FEW_VECTORS = 200
"""The missing vectors above which it makes none: a whole library of documents would make every search wait."""
_SINCE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?\Z")


@dataclass(frozen=True)
class SearchReport:
    """What was found, best first. `warnings` name the files that are not searched, and say when vectors were asked for
    and could not be had. `entries` is how many there are in all, `nothing` why none was found."""

    hits: tuple[Hit, ...]
    entries: int
    warnings: tuple[str, ...] = field(default=())
    nothing: str = ""

    def to_json(self) -> list[dict[str, Any]]:
        """The list of `--json`."""
        return [hit.to_json() for hit in self.hits]


def search_folder(workspace: Workspace, project: Path | None) -> Path:
    """Where the index for the home, seen from `project`, lies."""
    name = f"search-{hashlib.sha256(os.fsencode(project)).hexdigest()[:16]}" if project is not None else "search"
    return workspace.cache / name


# --- searching -------------------------------------------------------------------------------------------------------


def search(
    workspace: Workspace,
    query: str | Sequence[str],
    kind: str = "",
    since: str = "",
    tag: Sequence[str] | None = None,
    limit: int = LIMIT,
    before: str = "",
    scope: Scope | None = None,
) -> SearchReport:
    """The best entries for any text; conversations are none (`moment.find` has both). `since` and `before` are YYYY,
    YYYY-MM or YYYY-MM-DD; `scope` limits it to what may be told, or to one project. Raises KnowledgeError for no words,
    an unknown filter, or a store that cannot be listed."""
    text = query if isinstance(query, str) else " ".join(query)
    if not text.strip():
        message = "there is nothing to search for"
        raise KnowledgeError("usage", message, hint="give some words; 'knowledge recall' lists memories")
    if kind and kind not in ENTRY_KINDS:
        raise KnowledgeError("usage", f"there is no kind {kind!r}", hint=f"choose one of {', '.join(ENTRY_KINDS)}")
    for day in (since, before):
        if day and not _SINCE.match(day):
            raise KnowledgeError("usage", f"{day!r} is no date", hint="write it as 2026-06-12, 2026-06 or 2026")
    if not 1 <= limit <= MAX_LIMIT:
        raise KnowledgeError("usage", f"the limit is {limit}", hint=f"give a number from 1 to {MAX_LIMIT}")
    here = find_project(workspace, "")
    keep = scope.tells_entry if scope is not None and not scope.everything else None
    folder = search_folder(workspace, here)
    with closing(opened_search(workspace, here)) as index:
        filters = Filters((kind,) if kind else (), tuple(tag or ()), since, before=before)
        near, note = near_in(workspace, index, folder, text)
        keeps, stands = _not_removed(workspace.paths, keep), _standing(workspace.paths)
        hits = find(index, text, filters, limit, near, keeps, stands)
        number = counted(index.database)
        nothing = "" if hits else _why_nothing(index, keep)
    warnings = [problem.message for problem in index.problems] + [one for one in (index.note, note) if one]
    warnings += [*project_warnings(workspace, ""), *(scope.warnings if scope is not None else ())]
    found = _said_again(workspace, _as_facts_stand(workspace, _without_removed(workspace, hits)), scope)
    return SearchReport(found, number, tuple(warnings), nothing)


def _not_removed(paths: Paths, keep: Callable[[Entry], bool] | None) -> Callable[[Entry], bool] | None:
    """`keep`, and nothing that the user removed: the index may be older than the removal, and a line may have come back
    through a merge."""
    try:
        removed = read_hidden(paths)
    except OSError:
        return keep
    if not removed and not removed.expired:
        return keep

    def stays(entry: Entry) -> bool:
        if entry.kind == "fact" and removed.hides(entry.text):
            return False
        told = entry.kind in ("bullet", "note") and BY_HAND not in entry.provenance
        if told and removed.hides(entry.text.partition("\n")[0]):
            return False
        return keep is None or keep(entry)

    return stays


def _standing(paths: Paths) -> Callable[[Entry], bool]:
    """Whether a fact still stands on a bullet, or is the user's own: the index has it as its file does, which follows
    the bullets at the next harvest."""
    tells = telling(paths)
    return lambda entry: tells(entry.key, entry.text)


def _without_removed(workspace: Workspace, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Parts of documents without what the user removed elsewhere; what a deleted file said stands last."""
    if not any(hit.entry.kind == "document" for hit in hits):
        return hits
    try:
        removed = read_hidden(workspace.paths)
    except OSError:
        return hits
    told = [
        replace(hit, entry=hit.entry._replace(text=leaving_out(hit.entry.text, removed.hides)))
        if hit.entry.kind == "document"
        else hit
        for hit in hits
    ]
    there = [hit for hit in told if hit.entry.text.strip()]
    away = [hit for hit in there if hit.entry.kind == "document" and is_gone(hit.entry.path)]
    rows = [hit for hit in there if hit not in away]
    least = rows[-1].score if rows else math.inf
    return [*rows, *(replace(hit, score=min(hit.score, least), why=(*hit.why, "its file is gone")) for hit in away)]


def _why_nothing(index: Index, keep: Callable[[Entry], bool] | None) -> str:
    """Why no entry was found: nothing is known yet, here or at all, or what is known does not say it."""
    where = " here" if keep is not None else ""
    rows = index.database.execute(f"SELECT {COLUMNS} FROM entries")
    if any(keep is None or keep(Row(*row).entry()) for row in rows):
        return f"what is known{where} was searched, and nothing says this"
    return f"nothing is known{where} yet, so this does not tell that nothing was said"


def remarks(query: str, hits: Sequence[Any], nothing: Sequence[str] = ()) -> list[str]:
    """What is to be said of an answer as a whole; of an empty one why it is empty."""
    return of_reasons(query, [hit.why for hit in hits]) if hits else [one for one in nothing if one]


def opened_search(workspace: Workspace, project: Path | None) -> Index:
    with disk_errors("unreadable", "the store cannot be listed"):
        return open_index(search_folder(workspace, project), partial(search_sources, workspace, project))


def _as_facts_stand(workspace: Workspace, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Facts with the confidence that time has left them: the search reads the files that people edit, and it is the
    index that follows time."""
    if not any(hit.entry.kind == "fact" for hit in hits):
        return tuple(hits)

    try:
        data = files.read_or_empty(workspace.paths.knowledge / NAME)
    except OSError:
        return tuple(hits)
    rows = []
    for hit in hits:
        fact = fact_in(data, hit.entry.key) if hit.entry.kind == "fact" else None
        if fact is not None:
            hit = replace(hit, entry=hit.entry._replace(provenance=f"[fact: {fact.id}, {fact.confidence:g}]"))
        rows.append(hit)
    return tuple(rows)


def _said_again(workspace: Workspace, hits: Sequence[Hit], told: Scope | None) -> tuple[Hit, ...]:
    """Bullets of the home with the other conversations that said the same, as far as they may be told."""
    paths = workspace.paths
    try:
        again = read_confirmed(paths)
    except OSError:
        again = None
    if not again:
        return tuple(hits)
    rows = []
    for hit in hits:
        entry = hit.entry
        if entry.kind in ("bullet", "note") and is_below(entry.path, str(paths.knowledge)):
            words = entry.text.split("\n", 1)[0]
            found = Bullet(words, split_provenance(entry.provenance)[1], "", 0)
            [said] = confirmed_bullets(again, entry.key.rpartition(":")[0], [found])
            said = told.as_told(said) if told is not None else said
            if said.again or said is not found:
                confirmed = dict.fromkeys((*hit.confirmations, *map(str, said.again)))
                hit = replace(
                    hit, entry=entry._replace(provenance=str(said.provenance or "")), confirmations=tuple(confirmed)
                )
        rows.append(hit)
    return tuple(rows)


def near_in(workspace: Workspace, index: Index, folder: Path, text: str) -> tuple[Mapping[int, float] | None, str]:
    """What vectors say about a query (`meant`), once few that are missing were made."""
    if not workspace.config.embedder or not text.strip():
        return None, ""
    try:
        embed = embedder_of(workspace)
        name, waiting = embedder_name(workspace), kept_vectors.counted(index.database).waiting
        there = kept_vectors.are_there(index.database, name)
        if 0 < waiting <= FEW_VECTORS or not there:
            home = search_folder(workspace, None) if not there else None
            made = attempt(kept_vectors.build, folder, name, embed, wait=0.0, seconds=VECTOR_SECONDS, beside=home)
            if isinstance(made, KnowledgeError) and made.error.code != "busy":
                raise made
    except KnowledgeError as failed:
        return None, f"{failed.error} Words alone were searched."
    return meant(workspace, index.database, text, "entries")


def meant(workspace: Workspace, database: Database, text: str, what: str) -> tuple[Mapping[int, float] | None, str]:
    """What vectors say about a query, and a sentence where they were asked for and could not be had, or not all;
    `what` has them, in words."""
    try:
        query = kept_vectors.embed_one(text, embedder_of(workspace))
    except KnowledgeError as failed:
        return None, f"{failed.error} Words alone were searched."
    waiting = kept_vectors.counted(database).waiting
    note = f"{waiting} {what} have no vectors yet; 'knowledge vectors' makes all of them" if waiting else ""
    return kept_vectors.near(database, embedder_name(workspace), query), note
