"""A model of what a disk may keep of the operations that were made on it, when the power fails.

After the man pages of fsync(2) and rename(2), and what "All File Systems Are Not Created Equal" (Pillai and others,
OSDI 2014) found to differ between file systems: the bytes of a file are certain only after an fsync of the file, a name
only after an fsync of its folder. A rename is one step, but where it leads from one folder to another, an fsync of one
of them makes only that half certain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, count, product
from pathlib import Path
from typing import Any

from core.base.system import EXCHANGE
from tests.faults.store import Kept

Entry = tuple[int, str, int | None]
"""A folder, a name in it, and what the name becomes: a node, or None when it goes."""
LOSSES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "kept": lambda sure, now: now,
    "lost": lambda sure, now: sure,
    "half": lambda sure, now: now[: len(sure) + (len(now) - len(sure)) // 2] if now.startswith(sure) else sure,
    "zeroed": lambda sure, now: sure + b"\0" * (len(now) - len(sure)) if now.startswith(sure) else b"\0" * len(now),
}
"""What may become of bytes that were not synced: `sure` is what the last sync saw, `now` what was written since."""


ALL_NAMES, ALL_FILES = 5, 2
"""Up to how many loose names, and files with loose bytes, every combination is made."""


@dataclass
class Platter:
    """Stands in for `disk.perform`. Nodes are files and folders, numbered by us: a disk may use an inode twice.

    `sure` and `now` hold the bytes of files, `names` the certain names of folders, `loose` the steps on names that no
    sync has made certain, in their order. `after` is called after every step.
    """

    root: Path
    after: Callable[[str], None] = lambda name: None
    sure: dict[int, bytes] = field(default_factory=dict)
    now: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, dict[str, int]] = field(default_factory=dict)
    loose: list[list[Entry]] = field(default_factory=list)
    lock: int = -1
    hit: str = ""
    where: str = ""
    trail: list[str] = field(default_factory=list)
    taken_after_failed_sync: bool = False
    _nodes: dict[int, int] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        for folder, folders, files in os.walk(self.root):
            self.names[self._node(folder)] = {name: self._node(f"{folder}/{name}") for name in [*folders, *files]}
            for name in files:
                data = Path(f"{folder}/{name}").read_bytes()
                self.lock = self._node(f"{folder}/{name}") if name == "lock" else self.lock
                self.sure[self._node(f"{folder}/{name}")] = self.now[self._node(f"{folder}/{name}")] = data

    def __call__(self, name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        before = self._before(name, arguments, named)
        result = call(*arguments, **named)
        self._note(name, arguments, result, before)
        self.trail.append(name)
        if name not in ("open", "read", "mode"):
            self.after(name)
        return result

    def _node(self, path: str | Path, *, new: bool = False) -> int:
        found = os.stat(path, follow_symlinks=False).st_ino
        if new or found not in self._nodes:
            self._nodes[found] = next(self._numbers)
        return self._nodes[found]

    def _before(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Entry]:
        """What must be looked at before the step: the nodes that a rename or an unlink takes a name from."""
        if name == "create":
            there = os.path.lexists(arguments[0])
            return [(0, "", 0)] if there else []
        if name in ("rename", "rename-flag"):
            one, other = (Path(path) for path in arguments[:2])
            moved = self._node(one)
            if name == "rename-flag" and arguments[2] == EXCHANGE:
                return [(*self._place(one), self._node(other)), (*self._place(other), moved)]
            return [(*self._place(one), None), (*self._place(other), moved)]
        if name in ("unlink", "rmdir"):
            folder = named.get("dir_fd")
            place = Path(os.readlink(f"/proc/self/fd/{folder}")) / arguments[0] if folder is not None else arguments[0]
            return [(*self._place(Path(place)), None)]
        return []

    def _place(self, path: Path) -> tuple[int, str]:
        return self._node(path.parent), path.name

    def _note(self, name: str, arguments: tuple[Any, ...], result: Any, before: list[Entry]) -> None:
        if name == "create" and not before:
            node = self._node(arguments[0], new=True)
            self.sure[node] = self.now[node] = b""
            self.loose.append([(*self._place(Path(arguments[0])), node)])
            self.lock = node if Path(arguments[0]).name == "lock" else self.lock
        elif name in ("write", "truncate"):
            node = self._nodes[os.fstat(arguments[0]).st_ino]
            self.now[node] = Path(f"/proc/self/fd/{arguments[0]}").read_bytes()
        elif name == "sync":
            self._synced(self._nodes[os.fstat(arguments[0]).st_ino])
        elif name == "mkdir":
            node = self._node(arguments[0], new=True)
            self.names[node] = {}
            self.loose.append([(*self._place(Path(arguments[0])), node)])
        elif name == "link":
            self.loose.append([(*self._place(Path(arguments[1])), self._node(arguments[1]))])
        elif before and name != "create" and result is not False:
            self.loose.append(before)

    def _synced(self, node: int) -> None:
        if node in self.now:
            self.sure[node] = self.now[node]
            return
        for step in self.loose:
            for folder, name, target in step:
                if folder == node:
                    _set(self.names[node], name, target)
        left = [[entry for entry in step if entry[0] != node] for step in self.loose]
        self.loose = [step for step in left if step]

    # --- what may stand there after the power is back ---

    def outcomes(self) -> Iterator[tuple[str, Kept]]:
        """Every state that the model allows, in words and as bytes: any of the loose names and any loss of each file's
        bytes; where these are too many, of the names every beginning, all but one and one alone, and of the bytes all
        alike. The lock file holds nothing that could be lost."""
        kept_names, losses = list(self._choices()), list(self._losses())
        for kept in kept_names:
            names = {node: dict(entries) for node, entries in self.names.items()}
            for at in kept:
                for folder, name, target in self.loose[at]:
                    _set(names[folder], name, target)
            for loss in losses:
                words = f"of {len(self.loose)} names kept {[at + 1 for at in kept]}, bytes {[*loss.values()]}"
                yield words, list(self._tree(names, loss, self._node(self.root), self.root))

    def _choices(self) -> set[tuple[int, ...]]:
        number = len(self.loose)
        everyone = range(number)
        if number <= ALL_NAMES:
            return {found for size in range(number + 1) for found in combinations(everyone, size)}
        ends = {tuple(range(end)) for end in range(number + 1)}
        return ends | {(one,) for one in everyone} | {tuple(at for at in everyone if at != one) for one in everyone}

    def _losses(self) -> Iterator[dict[int, str]]:
        dirty = [node for node in self.now if self.sure[node] != self.now[node] and node != self.lock]
        if len(dirty) <= ALL_FILES:
            yield from (dict(zip(dirty, each, strict=True)) for each in product(LOSSES, repeat=len(dirty)))
        else:
            yield from (dict.fromkeys(dirty, loss) for loss in LOSSES)

    def _tree(
        self, names: dict[int, dict[str, int]], loss: dict[int, str], node: int, path: Path
    ) -> Iterator[tuple[str, bytes | None, int, int]]:
        for name, child in sorted(names[node].items()):
            if child in names:
                yield str(path / name), None, 0o700, 0
                yield from self._tree(names, loss, child, path / name)
            else:
                data = LOSSES[loss.get(child, "kept")](self.sure[child], self.now[child])
                yield str(path / name), data, 0o600, 1_700_000_000_000_000_000


def _set(names: dict[str, int], name: str, target: int | None) -> None:
    if target is None:
        names.pop(name, None)
    else:
        names[name] = target
