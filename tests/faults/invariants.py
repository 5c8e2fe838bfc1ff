"""The four invariants of storage.md, looked for in a home: what is wrong with it, in words."""

from __future__ import annotations

import json
import re
from collections import Counter as Count
from collections.abc import Iterable
from typing import Any

from core.base.entry import statement_mark
from core.base.files import TEMPORARY_MARK
from core.base.markdown import split_provenance
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE, TASKS_FILE
from core.knowledge.changes import parse_change
from core.knowledge.confirmed import CONFIRMED
from core.knowledge.digest import current_digest
from core.knowledge.journal import FrozenPlan, decode, states_by_sha
from core.knowledge.lines import key_of
from core.sources.scan import origin, sha_in_trash
from tests.faults.store import Store, held, look

_OURS = re.compile(r"\[from: (talk-[^,\]]*), \d{4}-\d\d-\d\d\]\Z")
_SHARED = re.compile(r" \(in \d+ conversations\)(?= \[from: )")  # what the digest adds to a line
DIGEST_BYTES = 4096
KNOWLEDGE = "home/knowledge/"


class Seen:
    """One look at a home: its files, and what can be read from them. `files` has every file of the store's folder by
    its path; `lines` every line of the category files, the notes and the quarantine, with the name of its file."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.files = look(store.folder)
        self.held = held(self.files)
        self.knowledge = {
            name.removeprefix(KNOWLEDGE): data
            for name, data in sorted(self.files.items())
            if name.startswith(KNOWLEDGE) and name.endswith(".md") and "/prompts/" not in name
        }
        self.digest = self.knowledge.pop("digest.md", b"").decode()
        self.lines = [
            (name, line.rstrip("\r"))
            for name, data in self.knowledge.items()
            for line in data.decode("utf-8", "replace").split("\n")
        ]
        self.number = Count(line for _, line in self.lines)
        self.said = Count(key_of(line) for name, line in self.lines if line.startswith("- ") and name != QUARANTINE)
        parsed = map(parse_change, self.files.get(f"{KNOWLEDGE}changes.jsonl", b"").split(b"\n"))
        self.changes = [row for row in parsed if row is not None]

    def plans(self) -> dict[str, list[FrozenPlan]]:
        """Every proven plan that the archives or the journal tell of, by the sha256 of its conversation."""
        plans: dict[str, list[FrozenPlan]] = {}
        for name, data in sorted(self.files.items()):
            if name.startswith(f"{KNOWLEDGE}.state/plans/") or name == f"{KNOWLEDGE}.state/journal":
                for sha, state in states_by_sha(decode(data)).items():
                    if state.done and state.plan is not None:
                        plans.setdefault(sha, []).append(state.plan)
        return plans


def loss(seen: Seen) -> list[str]:
    """What holds at every moment: each conversation is whole somewhere or proven, the user's bytes are untouched."""
    wrong, talks = [], seen.store.talks
    plans = seen.plans() if any(seen.held[sha] < number for sha, number in talks.items()) else {}
    for sha, number in talks.items():
        if seen.held[sha] > number and not seen.store.loose_copies:
            wrong.append(f"{seen.held[sha]} instead of {number} copies of {sha[:8]}")
        proven = [plan for plan in plans.get(sha, []) if all(is_fine(seen, line) for line in lines_of(plan))]
        if seen.held[sha] < number and not proven:
            wrong.append(f"a copy of {sha[:8]} is gone, and its items are not all in the files exactly once")
    wrong += [f"a conversation nobody wrote: {sha[:8]}" for sha in seen.held if sha not in talks]
    return wrong + _mine_untouched(seen) + _digest_invents(seen)


def _digest_invents(seen: Seen) -> list[str]:
    """Lines of the digest that stand in no file; what the user is just taking out may still be in it."""
    before = seen.store.mine.get(f"{KNOWLEDGE}digest.md", b"").decode().split("\n")
    told = [line for line in seen.digest.split("\n") if line.startswith("- ")]
    # What several said is told with the newest of them, which need not be the one that its line names.
    shared = {line for line in told if _SHARED.search(line) and seen.said[key_of(_SHARED.sub("", line))]}
    unknown = [line for line in told if not seen.number[line] and line not in before and line not in shared]
    return [f"the digest tells what is in no file: {line}" for line in unknown]


def _mine_untouched(seen: Seen) -> list[str]:
    wrong, store = [], seen.store
    for path, data in store.mine.items():
        name = path.removeprefix(KNOWLEDGE)
        if "/" not in path and seen.files.get(path) != data:
            wrong.append(f"{path} was changed")
        if name == path or not name.endswith(".md") or name == "digest.md":
            continue
        if name.startswith("files/"):  # a note follows its file to another name
            notes = [other for key, other in seen.knowledge.items() if key.startswith("files/")]
            wrong += [] if any(_is_within(data, note, store.may_go) for note in notes) else [f"{name} lost bytes"]
            continue
        found = seen.knowledge.get(name, b"")
        if not _is_within(data, found, store.may_go):
            wrong.append(f"{name} lost bytes of the user: {found!r}")
        elif name != "tasks.md" and not store.may_go and not found.startswith(data):
            wrong.append(f"{name} changed bytes of the user: {found!r}")
    return wrong


def _is_within(data: bytes, found: bytes, may_go: set[str]) -> bool:
    """Whether all lines of `data`, to the byte, are lines of `found` in their order, but for those that may go. A last
    line without a line break may have got one, or zeros where a power cut kept an append's length without its bytes:
    `mended` asks that these go."""
    *lines, last = data.split(b"\n")
    kept = iter(found.split(b"\n"))
    if not all(line in kept for line in lines if line.rstrip(b"\r").decode() not in may_go):
        return False
    return not last or last.decode() in may_go or any(last == other.rstrip(b"\r\0") for other in kept)


def is_fine(seen: Seen, line: str) -> bool:
    """A planned line stands exactly once, or a line that says the same, or the user took it out."""
    confirms = not seen.number[line] and seen.said[key_of(line)]
    return bool(seen.number[line] == 1 or confirms or line in seen.store.may_go)


def lines_of(plan: FrozenPlan) -> list[str]:
    return [line for planned in plan.files for line in planned.all_lines]


def mended(seen: Seen) -> list[str]:
    """What holds after the next run: no line torn or doubled, the ledger tells only what is proven, nothing is left."""
    store, wrong = seen.store, []
    ours = [(name, line) for name, line in seen.lines if "talk-" in line]
    for name, line in ours:
        if not (line.startswith("- ") and _OURS.search(line)):
            wrong.append(f"torn line in {name}: {line!r}")
    texts = ((name, data) for name, data in seen.knowledge.items() if name.endswith(".md"))
    wrong += [f"zero bytes in {name}" for name, data in texts if b"\0" in data]
    wrong += [f"doubled: {row}" for row, number in Count(ours).items() if number > 1]
    wrong += _said_twice(seen) + _uncounted(seen)
    entries = _entries(seen)
    wrong += _unproven(seen, entries)
    if store.scenario.drained:
        wrong += [f"still in its place: {path}" for path in seen.files if path.startswith("home/conversations/talk-")]
        wrong += [
            f"not harvested: {sha[:8]}"
            for sha in store.talks
            if (entries.get(sha, {}).get("status"), entries.get(sha, {}).get("deleted")) != ("harvested", True)
        ]
    wrong += [f"{sha[:8]} has left the trash before its time" for sha in store.standing_before if not seen.held[sha]]
    wrong += [f"nobody knows where {name} in the trash was" for name in _strays(seen, entries)]
    told = Count((row.file, line) for row in seen.changes if row.sha for line in row.added)
    wrong += [f"changes.jsonl tells twice of {row}" for row, number in told.items() if number > 1]
    wrong += [f"changes.jsonl does not know {row}" for row in _untold(seen, ours)]
    wrong += [f"left behind: {path}" for path in seen.files if TEMPORARY_MARK in path and path.startswith("home/")]
    wrong += ["the journal was left behind"] if f"{KNOWLEDGE}.state/journal" in seen.files else []
    digest = current_digest(store.world.paths, DIGEST_BYTES)
    wrong += ["the digest is not that of the files"] if seen.digest != (digest.text if digest else "") else []
    return wrong


def _said_twice(seen: Seen) -> list[str]:
    """Statements that a harvest wrote although they stood; a task may be open and done."""
    files = {name: Count(key_of(line) for at, line in seen.lines if at == name and line.startswith("- "))
             for name in seen.knowledge if name not in (QUARANTINE, TASKS_FILE)}  # fmt: skip
    old = {
        name.removeprefix(KNOWLEDGE): data.decode() for name, data in seen.store.mine.items() if name.endswith(".md")
    }
    return [
        f"{name} says {number} times: {key}"
        for name, keys in files.items()
        for key, number in keys.items()
        if number > 1 and number > sum(key_of(line) == key for line in old.get(name, "").split("\n"))
    ]


def _uncounted(seen: Seen) -> list[str]:
    """Plans that confirm a line of another, and are not counted beside it."""
    kept = json.loads(seen.files.get(f"{KNOWLEDGE}.state/{CONFIRMED}", b"null"))
    if kept is None:
        return ["nobody counts who says what again"]
    wrong, wrote = [], {line for row in seen.changes for line in row.added}
    for plan in (plan for plans in seen.plans().values() for plan in plans):
        for planned in plan.files:
            for line in planned.all_lines:
                came = split_provenance(line)[1]
                row = (
                    kept["files"].get(planned.name, {}).get(statement_mark(split_provenance(line[2:])[0]), {"from": {}})
                )
                confirms = not seen.number[line] and seen.said[key_of(line)] and planned.name in CATEGORY_FILES
                if confirms and line not in wrote and came is not None and came.source not in row["from"]:
                    wrong.append(f"not counted: {line}")
    return wrong


def _entries(seen: Seen) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(seen.files[f"{KNOWLEDGE}ledger.json"])["entries"]
    return found


def _unproven(seen: Seen, entries: dict[str, Any]) -> list[str]:
    """Ledger entries that say harvested without a plan whose lines are all in the files."""
    plans, wrong = seen.plans(), []
    for sha, entry in entries.items():
        if entry.get("status") != "harvested":
            continue
        if sha not in plans:
            wrong.append(f"the ledger says harvested without a plan: {sha[:8]}")
            continue
        for line in lines_of(plans[sha][-1]):
            if not is_fine(seen, line):
                wrong.append(f"the ledger says harvested, but {line!r} stands there {seen.number[line]} times")
    return wrong


def _strays(seen: Seen, entries: dict[str, Any]) -> list[str]:
    """Conversations in the trash that `trash restore` could not bring back to their place."""
    names = [path.rsplit("/", 1)[-1] for path in seen.files if "/conversations/.trash/" in path]
    return [name for name in names if sha_in_trash(name) and not origin(entries.get(sha_in_trash(name), {}), name)]


def _untold(seen: Seen, ours: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Lines of a harvest, or of an item that was let in, that changes.jsonl does not know: undo could not take them
    out."""
    known = {line for row in seen.changes for line in row.added}
    return [row for row in ours if row[1] not in known]


def at_rest(before: Seen, after: Seen) -> list[str]:
    """What a run changed that should have changed nothing."""
    locks = (f"{KNOWLEDGE}.state/lock", f"{KNOWLEDGE}.state/file_ids.lock")
    names = [name for name in before.files | after.files if before.files.get(name) != after.files.get(name)]
    return [f"a further run changed {name}" for name in names if name.startswith("home/") and name not in locks]
