"""Takes recorded changes out of the files again, as `undo` does. A line that somebody has changed since stays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from core.base.markdown import BY_HAND, bullet_line, is_bullet, split_provenance, unmarked
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.knowledge.bullet_text import without_lines
from core.knowledge.changes import Change, append_changes
from core.knowledge.edit import ATTEMPTS, Hunks, change_file, could_not_write, read_editable
from core.knowledge.hunks import FileEdit, Hunk, bare, is_closed, made, reversed_edit, split
from core.knowledge.lines import key_of
from core.knowledge.log import put_in_place

REVERSED, ALREADY, CHANGED, GONE = "reversed", "already back", "changed since", "not there any more"
MISSED = "missing again"
DETAILED, STRUCK, REWORDED = "details were written below it", "struck through since", "reworded since"
"""Why a line stays."""
Why: TypeAlias = dict[str, str]
"""A line -> what became of it."""


@dataclass(frozen=True)
class TakenOut:
    """What became of lines that were to leave a file: how many went, those that `stayed` because the user has
    reworded them, struck them through or written details below them, as they stand there now, and those that were
    `gone` already, without a trace. `why` says for each line that stayed what happened to it since."""

    went: int = 0
    stayed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)


def take_back(paths: Paths, change: Change, now: datetime, run: str) -> str:
    """Reverse one recorded edit of one file; its own row is written under `run`.

    Returns REVERSED, ALREADY, CHANGED when the user has changed what the edit wrote, GONE when nothing of it is there
    (in all three nothing is touched), or MISSED when the change was but the user's word that lines are gone. Raises
    KnowledgeError when the file cannot be written.
    """
    if change.edit is None and not change.added:  # nothing was written: the user had said that lines are gone
        try:
            append_changes(paths, [Change(now.isoformat(), run, change.file, change.removed)])
        except OSError as error:
            raise could_not_write(paths.changes, error) from error
        return MISSED
    if change.edit is None:
        taken = take_out(paths, change.file, change.added, now, run)
        return REVERSED if taken.went else CHANGED if taken.stayed else GONE
    path = paths.knowledge / change.file
    for _ in range(ATTEMPTS):
        try:
            read = read_editable(paths, change.file)
        except KnowledgeError as failed:
            if failed.error.code == "missing" and not change.removed:
                return GONE
            raise
        data = reversed_edit(read.data, change.edit)
        if data is None:
            return GONE if _is_gone(read.data, change.edit) else CHANGED
        if data == read.data:
            return ALREADY
        back = Change(now.isoformat(), run, change.file, change.removed, change.added)
        try:
            notice = put_in_place(paths, back, data, read.data)
        except OSError as error:
            raise could_not_write(path, error) from error
        if notice:
            message = f"the edit is taken back, but this is told nowhere: {notice}"
            raise KnowledgeError("changes-failed", message, paths.changes)
        if notice is not None:
            return REVERSED
    raise KnowledgeError("changed-outside", "another program keeps saving this file", path, "try again")


def take_out(
    paths: Paths, file: str, unwanted: Sequence[str], now: datetime, run: str, wrote: Collection[str] = ()
) -> TakenOut:
    """Take exact lines out of a file, each once. What harvests `wrote`, nobody has put into other words."""
    found, wrote = TakenOut(), {*wrote, *unwanted}

    def hunks(lines: list[str]) -> list[Hunk]:
        nonlocal found
        out, left = without_lines(lines, unwanted)
        stayed, why = _what_stays(list(map(bare, lines)), left, wrote)
        gone = tuple(line for line in left if line not in stayed)
        found = TakenOut(len(unwanted) - len(left), tuple(stayed.values()), gone, why)
        if not out:
            raise KnowledgeError("unchanged", "none of the lines stands there", file)
        return out

    there = _changed(paths, file, hunks, now, run)
    return found if there else TakenOut(gone=tuple(unwanted))


def _changed(paths: Paths, file: str, hunks: Hunks, now: datetime, run: str) -> bool:
    """Make a change if `hunks` finds anything to change; whether the file is there."""
    try:
        changed = change_file(paths, file, hunks, now, run=run)
    except KnowledgeError as failed:
        if failed.error.code not in ("missing", "unchanged"):
            raise
        return failed.error.code == "unchanged"
    if changed.warning:
        raise KnowledgeError("changes-failed", changed.warning, paths.changes)
    return True


def hand_over(paths: Paths, file: str, heirs: Mapping[str, str], now: datetime, run: str) -> set[str]:
    """Put other lines in the places of lines that a file holds; which of these it held. What stands below them stays.
    Raises KnowledgeError when the file cannot be written."""
    taken = set[str]()

    def hunks(lines: list[str]) -> list[Hunk]:
        taken.clear()  # what an attempt found that could not write was not handed over
        found = []
        for at, line in enumerate(lines):
            if (text := bare(line)) in heirs and text not in taken:
                taken.add(text)
                found.append(made(lines, at, 1, [heirs[text] + line[len(text) :]])[1])
        if not found:
            raise KnowledgeError("unchanged", "none of the lines stands there", file)
        return found

    return taken if _changed(paths, file, hunks, now, run) else set()


def _what_stays(standing: Sequence[str], left: Sequence[str], wrote: Collection[str]) -> tuple[Why, Why]:
    """What a user has done with lines that could not be taken out: each as it stands now, and why that stays. Those of
    which nothing is there are in neither."""
    there, stayed, why = set(standing), dict[str, str](), dict[str, str]()
    for line in left:
        text, provenance = split_provenance(unmarked(line))
        crossed = bullet_line(f"~~{text}~~", provenance)
        if line in there or crossed in there:
            stayed[line] = now = line if line in there else crossed
            why[now] = DETAILED if line in there else STRUCK
    for line, now in other_words([line for line in left if line not in stayed], own_words(standing, wrote)).items():
        stayed[line], why[now] = now, REWORDED
    return stayed, why


def own_words(standing: Iterable[str], harvested: Collection[str]) -> list[str]:
    """The bullets of a file that come from a conversation and say what no harvest of it said: a user's words."""
    new = [line for line in standing if is_bullet(line) and line not in harvested]
    came = {line: f" {of}" for line in new if (of := split_provenance(line)[1]) and of.source != BY_HAND}
    ends = tuple(set(came.values()))
    said = {(key_of(line), end) for line in (harvested if ends else ()) if line.endswith(ends) for end in (_end(line),)}
    return [line for line, end in came.items() if (key_of(line), end) not in said]


def other_words(lost: Iterable[str], own: Iterable[str]) -> dict[str, str]:
    """Those of the lost lines that a user has put into other words, by all signs: one of their `own` has its
    provenance. Each with that line, and no two with the same one: of several the likest has it, and the others were
    deleted."""
    theirs: dict[str, list[str]] = {}
    for line in own:
        theirs.setdefault(_end(line), []).append(line)
    pairs = [(line, now) for line in lost for now in theirs.get(_end(line), ())] if theirs else []
    if not pairs:
        return {}
    from rapidfuzz import fuzz

    found = dict[str, str]()
    for line, now in sorted(pairs, key=lambda pair: -fuzz.ratio(*pair)):
        if line not in found and now not in found.values():
            found[line] = now
    return found


def _end(line: str) -> str:
    return f" {split_provenance(line)[1] or ''}"


def _is_gone(data: bytes, edit: FileEdit) -> bool:
    """Whether the place where an edit put its lines is empty: its old neighbours stand side by side."""
    lines = split(data)[1]
    standing = set(map(bare, lines))
    written = [hunk for hunk in edit.hunks if hunk.added]
    return all(is_closed(lines, hunk) and not standing & set(map(bare, hunk.added)) - {""} for hunk in written)
