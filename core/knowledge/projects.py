"""Which project a bullet belongs to: that of the conversation that its provenance names.

The ledger entry of a harvest records where the conversation worked (`project`), the top folder of that project and by
what it is known again (`project_root`, `project_key`: base/project.py), and which lines are the user's rather than the
project's (`person`: the marks of their texts). A bullet without a provenance is the user's too, and so is one of the
host's own conversations while nothing names their project. A conversation of another tool whose project is not known is
of none: its lines are shown where no project is asked for.

A provenance knows its conversation by name alone, and conversations of several projects may share one: where one of
them is outside of a project, such a line may be another project's, and is not shown in this one.

A place that claims to be a project which was worked on elsewhere first (a clone, a fork, a moved folder, a stranger's
copy) shares its lines once the user has said so (`knowledge trust allow`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from core.base.markdown import Bullet, Provenance, bullet_line, sanitise_name
from core.base.paths import Paths, cache_folder
from core.base.project import (
    GLOBAL,
    UNPLACED,
    domain_named,
    identity_of,
    is_below,
    project_root,
    remote_of,
    repository_root,
    same_key,
)
from core.base.ready import kept_ready
from core.base.trust import read_trust
from core.knowledge.ledger import seen_ledger
from core.knowledge.same import mark_of_text

OWN, NONE, OTHER = 0, 1, 2
"""How near words are to a project: said in it; the user's own, in whatever project; said in another one."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
UNTOLD = "?"
"""Stands for the project of a conversation where nothing tells which: its lines are no other project's either."""
NOWHERE = ""
"""Stands among the projects of a name that a conversation of the host has too whose project nobody named."""
_OF_HOST = ("", "home", "manual_slop", "plain")
"""The formats of what the host leaves in its folder; one of another tool that was put there is not the host's own."""

_PREFERS = re.compile(
    r"(?:\W*(?:the )?(?:user|person|developer|owner)\b.{0,40}?\bprefer(?:s|red)?\b|\W*(?:I|we) prefer\b|\W*prefers?\b)",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"\bon (?:windows|macos|mac os|wsl\d?|linux|debian|ubuntu|fedora|arch|git bash|powershell)\b", re.IGNORECASE
)
_TOOL = re.compile(
    r"\b(?:gh|git|npm|npx|pnpm|yarn|pip|pipx|uv|docker|podman|brew|apt|winget|ssh|scp|rsync|tmux|vim|nvim|emacs|"
    r"vs ?code|bash|zsh|fish|powershell|curl|wget|make|kubectl|terraform|gpg|jq|rg|grep|sed|awk)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"[\w.~*}\])][/\\](?:[^/\\]|$)|(?:^|[\s`'\"(])[~.]?/\w"
    r"|\b\w+\.(?:py|js|ts|tsx|go|rs|java|c|h|cpp|rb|toml|ya?ml|json|md|sh|lock|cfg|ini)\b|\w+\(\)|#\d+"
)


_Place = tuple[str, str]
"""The root of a project and its key when a conversation was held there."""


class Recent(NamedTuple):
    """A conversation as the ledger tells it: its day, the time of its last turn, its name as provenances tell it, its
    title, the branch that it was on, and how it was left ("" where nobody knows)."""

    day: str
    ended: str
    name: str
    title: str
    branch: str
    end: str


RECENT_AT_MOST, LEAST_TURNS = 2, 4
"""So many conversations of a project are known as recent (of 23 later sessions none was helped by the third); a
question with its answer is none."""


class Projects(dict[str, frozenset[str]]):
    """A conversation's name as provenances tell it -> the root of every project that its conversations worked in; with
    what else the ledger tells. `persons`: the lines that are known to be the user's, as pairs of name and mark.
    `places`: the root of every project -> its key, "" where it has none but its path, in the order in which they were
    first harvested. `recent`: such a root -> its last conversations, the newest first."""

    persons: frozenset[tuple[str, str]] = frozenset()
    places: Mapping[str, str] = {}
    recent: Mapping[str, Sequence[Recent]] = {}

    @cached_property
    def first_of(self) -> dict[str, str]:
        """A domain -> the root of the first project that had its name."""
        return {domain_named(root): root for root in reversed([*self.places])}


@dataclass(frozen=True)
class Here:
    """The project that somebody asks in. `root` is its top folder, "" for no project; `roots` those whose lines are its
    own: itself, plain folders in it (a repository there is a project of its own), and other places of the same project.
    `waits` is the place whose lines it would get by the user's word, "" for none."""

    root: str
    roots: frozenset[str] = frozenset()
    waits: str = ""


def prefers(text: str) -> bool:
    """Whether a text says what the user prefers."""
    return _PREFERS.match(text) is not None


def is_persons(text: str) -> bool:
    """Whether a text that the user said is theirs in any project: what they prefer, what a common tool does on their
    system."""
    if _PLACE.search(text):  # a file, a path, a function or a ticket: such words are a project's
        return False
    if prefers(text):
        return True
    # What compares systems is no word about the one that they work on.
    on = {found.casefold() for found in _SYSTEM.findall(text)}
    return len(on) == 1 and _TOOL.search(text) is not None


def projects_of(entries: Mapping[str, Mapping[str, Any]]) -> Projects:
    """The projects of every name in the ledger. A name that only conversations of the host have is left out while no
    project of theirs is known."""
    told = _Told()
    for entry in entries.values():
        told.read(entry)
    told.add_cited()
    return told.projects()


class _Told:
    """What the ledger tells of projects, entry by entry: a place is a top folder with the key of its repository."""

    def __init__(self) -> None:
        self._found: dict[int, frozenset[_Place]] = {}  # by the hash of a name and a path
        self._names: list[str] = []  # theirs, in the same order
        self._same: dict[frozenset[Any], frozenset[Any]] = {}  # equal sets are kept once: few projects, many names
        self._persons: set[tuple[str, str]] = set()
        self._roots: dict[str, str] = {}
        self._first: dict[_Place, tuple[str, str]] = {}
        self._newest: dict[str, tuple[str, str, str]] = {}
        self._recent: dict[_Place, dict[str, Recent]] = {}

    def read(self, entry: Mapping[str, Any]) -> None:
        """Take in one entry."""
        path, folder, name = str(entry.get("path", "")), entry.get("project"), entry_name(entry)
        if isinstance(marks := entry.get("person"), list):
            self._persons |= {(name, mark) for mark in marks if isinstance(mark, str)}
        if isinstance(folder, str) and folder:
            place = self._place_of(folder, entry)
            self._add(name, path, {place})
            root, key = place
            if root != UNTOLD:
                when = (str(entry.get("at", "")), str(entry.get("date", "")))
                self._first[place] = min(self._first.get(place, when), when)
                newest = self._newest.get(root, ("", "", ""))
                self._newest[root] = max(newest, (*when, key) if key else ("", "", ""))
                _note_recent(self._recent.setdefault(place, {}), name, entry)
        elif entry.get("status") == "harvested":
            self._add(name, path, () if is_users(entry) else {(UNTOLD, "")})

    def _place_of(self, folder: str, entry: Mapping[str, Any]) -> _Place:
        root, key = entry.get("project_root"), str(entry.get("project_key") or "")
        if not isinstance(root, str) or not root:
            if folder not in self._roots:
                self._roots[folder] = project_root(folder) or UNTOLD
            root = self._roots[folder]
        return root, key if root != UNTOLD else ""

    def _add(self, name: str, path: object, more: Iterable[_Place]) -> None:
        at = hash((name, path))
        if at not in self._found:
            self._names.append(name)
        places = self._found.get(at, frozenset()).union(more)
        self._found[at] = self._same.setdefault(places, places)

    def add_cited(self) -> None:
        """Names as provenances cite them stand for the same."""
        for name, at in zip([*self._names], [*self._found], strict=True):
            if (cited := sanitise_name(cited_name(name))) != name:
                self._add(cited, at, self._found[at])
                self._persons |= {(cited, mark) for one, mark in [*self._persons] if one == name}

    def _called(self, place: _Place) -> str:
        root, key = place
        # Another repository lay there before: what was learned in it is not this one's.
        return f"{key} {root}" if key and not same_key(key, self._newest[root][2]) else root

    def projects(self) -> Projects:
        """All of it, by name."""
        # An earlier part of one and the same conversation may not have told its folder yet: that is not another one.
        projects = Projects()
        for name, places in zip(self._names, self._found.values(), strict=True):
            told = {*map(self._called, places)}
            known = projects.get(name, frozenset()).union(told - {UNTOLD} or told or {NOWHERE})
            projects[name] = self._same.setdefault(known, known)
        for name in [name for name, known in projects.items() if known == {NOWHERE}]:
            del projects[name]
        projects.persons = frozenset(self._persons)
        keys: dict[str, str] = {}
        for place in sorted(self._first, key=lambda place: (self._first[place], place)):
            called = self._called(place)
            keys[called] = self._newest[place[0]][2] if called == place[0] else place[1]
        projects.places = keys
        held: dict[str, dict[str, Recent]] = {}
        for place, rows in self._recent.items():
            for row in rows.values():
                _keep_recent(held.setdefault(self._called(place), {}), row)
        projects.recent = {root: sorted(rows.values(), reverse=True)[:RECENT_AT_MOST] for root, rows in held.items()}
        return projects


def recent_in(here: Here, projects: Projects) -> list[Recent]:
    """The last conversations of a project, the newest first."""
    rows: dict[str, Recent] = {}
    for row in (row for root in here.roots for row in projects.recent.get(root, ())):
        _keep_recent(rows, row)
    return sorted(rows.values(), reverse=True)[:RECENT_AT_MOST]


def _note_recent(rows: dict[str, Recent], name: str, entry: Mapping[str, Any]) -> None:
    """Keep a harvested conversation among the recent ones of its place, where it is one of them: by its title, so that
    of one that went on, and of several that asked for the same, the last is told."""
    told = [entry.get(key) or "" for key in ("date", "ended", "title", "branch", "end")]
    if not all(isinstance(one, str) for one in told) or not _DAY.fullmatch(told[0]):
        return
    day, ended, title, branch, end = told
    turns = entry.get("turns")
    if title.endswith(" subagent)"):  # as OpenCode calls what its own assistant asks for
        return
    if entry.get("status") == "harvested" and title and isinstance(turns, int) and turns >= LEAST_TURNS:
        _keep_recent(rows, Recent(day, ended, name, title, branch, end))


def _keep_recent(rows: dict[str, Recent], row: Recent) -> None:
    """Put one among others, each title once, and few of them: a ledger may have a hundred thousand."""
    rows[row.title] = max(row, rows.get(row.title, row))
    if len(rows) > 2 * RECENT_AT_MOST:
        for one in sorted(rows.values())[:-RECENT_AT_MOST]:
            del rows[one.title]


def own_name(entry: Mapping[str, Any]) -> str:
    """The name of a conversation that an entry of the ledger is about."""
    return str(entry.get("name") or "") or str(entry.get("path") or "").replace("\\", "/").rpartition("/")[2]


def entry_name(entry: Mapping[str, Any]) -> str:
    """The same as provenances tell it."""
    return sanitise_name(own_name(entry))


def cited_name(name: str) -> str:
    """A conversation's name as its lines cite it, unless `redact` is off: a key in it must not travel with them."""
    from core.base.secrets.redact import redact

    clean = redact(name)
    # Square brackets end a provenance.
    return clean.text.replace("[", "(").replace("]", ")") if clean.counts else name


def is_users(entry: Mapping[str, Any]) -> bool:
    """Whether what a conversation without a project taught is the user's in all of them: one of the host, which
    knows no projects yet, or a file that a tool keeps for the user and that they imported."""
    source = str(entry.get("source") or "home")
    return source == "import" or (source == "home" and str(entry.get("format") or "") in _OF_HOST)


def here_in(folder: str, projects: Projects, environment: Mapping[str, str] | None = None) -> Here:
    """The project that a folder belongs to, and whose lines are its own. git is asked about a place that is not known,
    where there are projects that it could be. `environment` tells where the user's record of their word lies."""
    places = projects.places
    root = _known_above(project_root(folder), places)
    if not root:
        return Here("")
    below = (other for other, one in places.items() if not one and is_below(other, root))
    own = {root, *(other for other in below if repository_root(other) in ("", root))}
    key = places.get(root, "")
    if any(places.values()) and (not key or f"remote:{remote_of(f'{root}/.git')}" not in key.split(" ")):
        now = identity_of(root)
        if key and now and not same_key(key, now):
            own = set()  # another repository lies here now than the one that was known: nothing is its own yet
        key = now or key
    same = [other for other, one in places.items() if (other == root and own) or same_key(one, key)]
    if not key or set(same) <= own:
        return Here(root, frozenset(own))

    trust = read_trust(environment)
    if root != same[0] and not trust.has_repository(Path(root)):
        return Here(root, frozenset(own), same[0])
    return Here(
        root, frozenset(own).union(other for other in same if other == same[0] or trust.has_repository(Path(other)))
    )


def named_root(projects: Projects, name: str) -> str:
    """The top folder of the known project that somebody names: by its path as it was written on any system or by one
    inside it, its repository (`owner/name`, where its address is not known by the name alone), its folder's name, of
    several the one that was known last, or the name that its lines are told with (`domain_in`). "" for none."""
    places = projects.places
    wanted = name.strip().replace("\\", "/").strip("/").removesuffix(".git").casefold()
    if not wanted:
        return ""
    for root, key in reversed(list(places.items())):
        path = root.replace("\\", "/").strip("/").casefold()
        remotes = [part.casefold() for part in key.split(" ") if part.startswith("remote:")]
        if path == wanted or path.rpartition("/")[2] == wanted:
            return root
        if any(one.endswith(f"/{wanted}") or one == f"remote:{wanted}" for one in remotes):
            return root
    inside = (root for root in places if f"{wanted}/".startswith(root.replace("\\", "/").strip("/").casefold() + "/"))
    found = max(inside, key=len, default="") if "/" in wanted else ""
    if not found and "/" not in wanted and wanted != GLOBAL:
        return next((root for root in places if domain_in(root, projects) == wanted), "")
    if found or wanted.count("/") != 1:
        return found
    nowhere = (root for root in reversed(list(places)) if "remote:" not in places[root])
    short = wanted.rpartition("/")[2]
    return next((root for root in nowhere if re.split(r"[\\/]", root.rstrip("\\/"))[-1].casefold() == short), "")


def namesakes(projects: Projects, root: str) -> list[str]:
    """The folders of the other known projects that have the name of this one's, the newest first; not its own
    copies."""
    places = projects.places
    name, key = domain_named(root), places.get(root, "")
    alike = [one for one in reversed(list(places)) if one != root and domain_named(one) == name]
    # What another repository taught in the same folder stands behind its key.
    alike = [one for one in alike if not one.endswith(f" {root}")]
    return [one for one in alike if not (key and same_key(places[one], key))]


def _known_above(root: str, places: Mapping[str, str]) -> str:
    """A plain folder that nobody worked in belongs to the nearest one above it where somebody did, unless that is where
    projects are kept: one in which others lie."""
    if not root or root in places or repository_root(root):
        return root
    above = max((other for other in places if not places[other] and is_below(root, other)), key=len, default=root)
    return root if any(other != above and is_below(other, above) for other in places) else above


def domain_in(root: str, projects: Projects) -> str:
    """The domain of the facts of a project (its root, "" for none): its name, and where another project of that name
    was known before, the beginning of a hash of its place behind it."""
    domain = domain_named(root)
    if domain == GLOBAL or root == projects.first_of.get(domain, root):
        return domain
    return f"{domain}-{sha256(root.encode('utf-8', 'replace')).hexdigest()[:6]}"


def domains_in(here: Here, projects: Projects) -> tuple[str, ...]:
    """The domains of the facts of all places of a project; without a project, of what is known to be of none."""
    return tuple(sorted({domain_in(root, projects) for root in here.roots})) if here.root else (UNPLACED,)


def waiting_sentence(here: Here) -> str:
    """What a user is told where the lines of a project wait for their word."""
    claims = f"{here.root} has the history or the remote of {here.waits}, where you worked before"
    return f"{claims}, so its lines are left out here: 'knowledge trust allow' in this folder lets them in"


def nearness(bullets: Iterable[Bullet], projects: Projects, here: Here) -> int:
    """OWN when one of the bullets was certainly said in the project, else NONE when one of them is the user's own or of
    no project, else OTHER: each was said in another project, or may have been."""
    return min((_near(row, projects, here) for row in bullets), default=NONE)


def as_told(bullet: Bullet, projects: Projects, here: Here, farthest: int) -> Bullet | None:
    """A bullet as it may be told in a project: with those of its conversations that are no farther than `farthest`, the
    first of them in front. None where no one is."""
    if not bullet.again:
        return bullet if _near(bullet, projects, here) <= farthest else None
    came = (bullet.provenance, *bullet.again)
    near = [one for one in came if _nearness_of(one, bullet.text, projects, here) <= farthest]
    if len(near) == len(came):
        return bullet
    if not near:
        return None
    first, *rest = near
    again = tuple(one for one in rest if one is not None)
    return replace(bullet, provenance=first, again=again, more_again=0, raw=bullet_line(bullet.text, first))


def _near(row: Bullet, projects: Projects, here: Here) -> int:
    return min(_nearness_of(one, row.text, projects, here) for one in (row.provenance, *row.again))


def _nearness_of(came: Provenance | None, text: str, projects: Projects, here: Here) -> int:
    if came is None:
        return NONE
    name, roots = came.source, projects.get(came.source, frozenset())
    if roots <= here.roots:
        return OWN if roots else NONE
    if projects.persons and (name, mark_of_text(text)) in projects.persons:
        return NONE
    return NONE if NOWHERE in roots and roots - {NOWHERE} <= here.roots else OTHER


# --- facts that would have been notes ---------------------------------------------------------------------------------
# A note on a file that cannot be found becomes the fact `PATH: note`. Asked about the file later, in a clone or in
# another worktree, a user wants to see it.

LONG_PATH = 4096


def facts_about(
    bullets: Sequence[Bullet], source: str, projects: Projects, environment: Mapping[str, str] | None = None
) -> list[Bullet]:
    """Those of the `bullets` of facts.md that name the file `source` (an absolute path; it need not be there).

    The very path is that file, whoever spoke of it. A path within a repository, or a whole one on another computer
    below a folder of the repository's name, is the same file only if the conversation was of the same project; where
    nobody knows its project, if the path has a folder in it. `environment` as in `here_in`.
    """
    root = repository_root(os.path.dirname(source))
    here = here_in(os.path.dirname(source), projects, environment)
    found = []
    for bullet in bullets:
        named, colon, _ = bullet.text.partition(": ")
        if not colon or bullet.struck or len(named) >= LONG_PATH or "\0" in named:
            continue
        if os.path.normpath(os.path.expanduser(named)) == source:
            found.append(bullet)
        elif root and _names(named, source, root) and (near := _near(bullet, projects, here)) != OTHER:
            deep = len(PurePath(source).relative_to(root).parts) > 1
            found += [bullet] if near == OWN or deep or _is_whole(named) else []
    return found


def _names(named: str, source: str, root: str) -> bool:
    inside, name = PurePath(source).relative_to(root).parts, os.path.basename(project_root(root))
    parts = tuple(part for part in named.replace("\\", "/").split("/") if part not in ("", "."))
    above, below = parts[: -len(inside)], parts[-len(inside) :]
    if below != inside:
        return False
    if _is_whole(named):
        return above[-1:] == (name,) or (len(inside) > 1 and name in above)
    return above in ((), (name,))


def _is_whole(named: str) -> bool:
    return named.startswith(("/", "\\", "~")) or named[1:3] in (":/", ":\\")


# --- remembered ---


def known_projects(paths: Paths, environment: Mapping[str, str]) -> Projects:
    """What `projects_of` says of the ledger as it is now, kept ready in the cache folder (which `environment` may
    name): a prompt asks for this at every start, and a large ledger takes most of a second to read."""

    def made() -> Projects:
        return projects_of(seen_ledger(paths))

    place = cache_folder(paths.home, environment) / "projects"
    inputs = [paths.ledger, paths.plans]  # without a ledger it is rebuilt from the plans
    return kept_ready(place, inputs, made, write=_as_json, read=_from_json)


def _as_json(projects: Projects) -> dict[str, Any]:
    sets = {roots: number for number, roots in enumerate(dict.fromkeys(projects.values()))}
    rows = {name: sets[roots] for name, roots in projects.items()}
    kept = {"folders": [sorted(roots) for roots in sets], "names": rows, "persons": sorted(projects.persons)}
    return kept | {"places": list(projects.places.items()), "recent": projects.recent}


def _from_json(kept: Any) -> Projects:
    folders = [frozenset(map(str, row)) for row in kept["folders"]]
    projects = Projects({name: folders[number] for name, number in kept["names"].items()})
    projects.persons = frozenset((str(name), str(mark)) for name, mark in kept["persons"])
    projects.places = {str(root): str(key) for root, key in kept["places"]}
    projects.recent = {root: [Recent(*map(str, row)) for row in rows] for root, rows in kept["recent"].items()}
    return projects
