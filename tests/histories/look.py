"""One look at a home, and what a step of the program may change between two looks: the invariants of storage.md.

The model is small. Who wrote a line is seen from the line: a harvest's ends with `[from: talk-…, DATE]`. Everything
else in the files is the user's, and stays byte for byte and in its order, except what they had asked to change.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from core.base import files
from core.base.paths import Paths
from core.knowledge.journal import decode, states_by_sha
from core.knowledge.lines import key_of

HARVESTED = re.compile(r"- .* \[from: talk-[^,\]]+, \d{4}-\d\d-\d\d\]\Z")
KNOWN = ("facts.md", "decisions.md", "questions.md", "playbooks.md", "tasks.md", "quarantine.md")
OWN = ("digest.md", "SCHEMA.md", "removed.md")
"""Pages that the program writes again, or leaves there once."""
HEADINGS = frozenset(("", "## Open", "## Done", "# Facts", "# Decisions", "# Questions", "# Tasks", "# Quarantine"))


@dataclass(frozen=True)
class Look:
    """Bytes of every markdown file below the knowledge folder (without `OWN`), and the conversations by hash."""

    texts: dict[str, bytes] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)

    def lines(self, name: str) -> list[str]:
        return [line.removesuffix("\r") for line in self.texts[name].decode("utf-8", "replace").split("\n")]

    def harvested(self) -> Counter[str]:
        """How often each harvested line stands in the files that the program knows."""
        known = [name for name in self.texts if name in KNOWN or name.startswith("files/")]
        return Counter(line for name in known for line in self.lines(name) if HARVESTED.match(line))


def look(paths: Paths) -> Look:
    texts = {}
    if paths.knowledge.is_dir():
        for path in sorted(paths.knowledge.rglob("*.md")):
            name = str(path.relative_to(paths.knowledge))
            if name not in OWN and not name.startswith(".") and files.TEMPORARY_MARK not in name:
                texts[name] = path.read_bytes()
    held: Counter[str] = Counter()
    for folder in (paths.conversations, paths.trash):
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.is_file():
                held[hashlib.sha256(path.read_bytes()).hexdigest()] += 1
    return Look(texts, held)


def changed_by_harvest(before: Look, after: Look) -> list[str]:
    """What a run, a recovery or anything else that only adds may not have done."""
    wrong = []
    for name, data in before.texts.items():
        now = after.texts.get(name)
        if now is None:
            wrong.append(f"{name} is gone")
        elif name not in KNOWN and not name.startswith("files/"):
            wrong += [f"{name} is not ours, and was changed"] * (now != data)
        elif name == "tasks.md":
            wrong += [f"{name} lost {line!r}" for line in _lost_in_order(before.lines(name), after.lines(name))]
        elif not now.startswith(data.rstrip(b"\0")):
            wrong.append(f"{name}: bytes of before were changed: {data!r} -> {now!r}")
    for name in after.texts:
        old = Counter(before.lines(name)) if name in before.texts else Counter()
        for line in (Counter(after.lines(name)) - old).elements():
            if not HARVESTED.match(line) and line not in HEADINGS and not line.startswith("# /"):
                ends = name in before.texts and before.lines(name)[-1]  # a torn line that was completed
                wrong += [] if ends and line.startswith(ends) else [f"{name}: nobody wrote {line!r}"]
    return wrong + doubled(before, after) + said_twice(before, after)


def said_twice(before: Look, after: Look) -> list[str]:
    """Lines that a run wrote although another one says the same; a task may be open and done."""
    wrong = []
    for name in (name for name in after.texts if name in before.texts and name not in ("tasks.md", "quarantine.md")):
        *rows, last = before.lines(name)
        old, said = Counter(before.lines(name)), Counter(map(key_of, after.lines(name)))
        new = [line for line in Counter(after.lines(name)) - old if HARVESTED.match(line)]
        stood = set(map(key_of, rows)) | ({key_of(last)} if not any(line.startswith(last) for line in new) else set())
        for line in new:
            if key_of(line) in stood or sum(key_of(line) == key_of(other) for other in new) > 1:
                wrong.append(f"{name}: {said[key_of(line)]} lines say {line!r}")
    return wrong


def changed_by_command(before: Look, after: Look, touched: Iterable[str] = ()) -> list[str]:
    """What an undo, an edit, an accepted item may not have done: lines of the user that it was not about stay, as
    often as before and in their order. `touched` are parts of lines that commands have changed once."""
    wrong = []
    for name in before.texts:
        theirs = [line for line in before.lines(name) if _is_theirs(line, touched)]
        if name not in after.texts:
            wrong += [f"{name} is gone"] * bool(theirs)
            continue
        now = [line for line in after.lines(name) if _is_theirs(line, touched)]
        wrong += [f"{name}: the user's lines were {theirs}, now {now}"] * (theirs != now)
    return wrong + doubled(before, after)


def doubled(before: Look, after: Look) -> list[str]:
    """Harvested lines that stand more often than once, and more often than the user had made of it."""
    old = before.harvested()
    return [f"{number} times: {line}" for line, number in after.harvested().items() if number > max(1, old[line])]


def torn(after: Look) -> list[str]:
    """Lines that look like ours and are not whole."""
    return [
        f"torn in {name}: {line!r}"
        for name in after.texts
        if name in KNOWN or name.startswith("files/")
        for line in after.lines(name)
        if "[from: talk-" in line and not HARVESTED.match(line) and "by the user" not in line
    ]


def plan_lines(paths: Paths) -> dict[str, list[tuple[str, ...]]]:
    """The lines of every proven plan, by the hash of its conversation."""
    found: dict[str, list[tuple[str, ...]]] = {}
    archives = sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []
    for path in [*archives, paths.journal]:
        for sha, state in states_by_sha(decode(files.read_or_empty(path))).items():
            if state.done and state.plan is not None:
                found.setdefault(sha, []).append(tuple(line for row in state.plan.files for line in row.all_lines))
    return found


def snapshot(home: Path) -> dict[str, bytes]:
    """All bytes of a home but those of lock files."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.is_symlink() and not path.name.endswith("lock")
    }


def _is_theirs(line: str, touched: Iterable[str]) -> bool:
    return "me-" in line and not any(part in line for part in touched)


def _lost_in_order(old: list[str], new: list[str]) -> list[str]:
    rest = iter(new)
    return [line for line in old if line and line not in rest]
