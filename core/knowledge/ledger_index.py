"""Single entries of a large ledger for whoever does not need the others: of a hundred thousand a window shows forty,
and `status` asks for what waits.

`LedgerOnDemand` finds an entry by its key or path: where each stands in the file is kept in the cache folder
(base/ready.py) while the file is what it was. `glance` counts them by status in one pass over the bytes, before the
whole has been read. A ledger that is small, or not in the layout of `format_ledger`, is read as a whole. In valid JSON
a string holds no line break, so a field that begins a line at its own depth is one of an entry.
"""

from __future__ import annotations

import os
import re
import time
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from core.base import files
from core.base.paths import Paths
from core.base.ready import has_settled, keep_bytes, kept_bytes, look, state_of
from core.base.result import Ok, attempt
from core.knowledge.ledger import BETWEEN, HEAD, PART_BYTES, TAIL, Entry, entries_of, entry_at, rebuild, seen_ledger

CountsAt = Callable[[Mapping[str, Any]], tuple[str, str] | None]
"""The path that an entry counts for and its time (ISO 8601), of which the newest counts; None for no path."""
_KEY, _PATH = "key ", "path "
"""Before what is looked up: a path may read like a key."""
MAX_SINGLE_READS, PART = 1000, 8
"""Who asks for more entries than this, and for more than one in `PART` of all, is faster with the whole ledger."""
LEAST_BYTES = GLANCE_BYTES = 1 << 20
"""A smaller ledger is read whole in no time; and how much of a larger one is looked at a time."""
_LONGEST = 8 << 20
"""A longer entry is none of ours: to look for its end with each part read would take minutes."""
_STATUS = re.compile(rb'\n      "status": "([^"\\\n]*)"')


# --- by key or path --------------------------------------------------------------------------------------------------


class LedgerOnDemand(Mapping[str, Entry]):
    """The ledger for whoever may need nothing of it, or a few entries: what is not asked for is not read. Raises
    OSError where the ledger cannot be read and no archived run either."""

    def __init__(self, paths: Paths, cache: Path, counts_at: CountsAt) -> None:
        self._paths, self._cache, self._counts_at = paths, cache, counts_at
        self._looked, self._read = False, 0
        self._places: _Places | None = None
        self._entries: Mapping[str, Entry] | None = None
        self._keys: Mapping[str, str] | None = None

    def __getitem__(self, key: str) -> Entry:
        found = self._found(_KEY + key)
        if found is None:
            return self._all()[key]
        if not found[0]:
            raise KeyError(key)
        return found[1] if found[0] == key else self._all()[key]  # two names may have one number

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        places = self._known()
        return places.entries if places is not None else len(self._all())

    def earlier(self, path: str) -> str:
        """The key of the entry that counts for a path, "" for none."""
        found = self._found(_PATH + path)
        if found is not None:
            return found[0]
        if self._keys is None:
            self._keys = newest_by_path(self._all(), self._counts_at)
        return self._keys.get(path, "")

    def _all(self) -> Mapping[str, Entry]:
        if self._entries is None:
            found = attempt(seen_ledger, self._paths)
            self._entries = found.value if isinstance(found, Ok) else rebuild(self._paths)
            self._looked, self._places = True, None
        return self._entries

    def _known(self) -> _Places | None:
        if not self._looked:
            self._looked = True
            self._places = _places(self._paths, self._cache / "ready" / "entries", self._counts_at)
        return self._places

    def _found(self, name: str) -> tuple[str, Entry] | None:
        """Key and entry, ("", {}) where nothing has that name; None where all have to be read to know."""
        places = self._known()
        if places is None:
            return None
        number = _number(name)
        at = bisect_left(places.names, number)
        if at == len(places.names) or places.names[at] != number:
            return "", {}
        self._read += 1
        if self._read > max(MAX_SINGLE_READS, places.entries // PART):
            return None
        try:
            return read_entry(self._paths.ledger, places.state, places.offsets[at])
        except (OSError, ValueError, RecursionError):
            return None


class _Places(NamedTuple):
    """Where entries stand in a ledger whose file was in that `state`: the numbers of names, sorted, and beside each
    where its entry begins."""

    state: list[int]
    entries: int
    names: array[int]
    offsets: array[int]


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def newest_by_path(entries: Mapping[str, Mapping[str, Any]], counts_at: CountsAt) -> dict[str, str]:
    """Path -> key of the entry that counts for it."""
    newest: dict[str, tuple[str, str]] = {}
    for key, entry in entries.items():
        if (counts := counts_at(entry)) is not None:
            path, at = counts
            if at >= newest.get(path, ("", ""))[0]:
                newest[path] = (at, key)
    return {path: key for path, (_, key) in newest.items()}


def _places(paths: Paths, place: Path, counts_at: CountsAt) -> _Places | None:
    """What is kept, or is made now and kept; None where the ledger has to be read as a whole."""
    begun = time.time()
    try:
        seen = look([paths.ledger])
    except OSError:
        return None
    state = seen[2][0]
    if not state or state[2] <= PART_BYTES or not has_settled(seen, begun):
        return None
    numbers = array("Q")
    numbers.frombytes(kept_bytes(place, seen))
    if not numbers:
        numbers = _made(paths, counts_at)
        keep_bytes(place, seen, numbers.tobytes())
    half = len(numbers) // 2 + 1
    return _Places(state, numbers[0], numbers[1:half], numbers[half:]) if len(numbers) > 1 else None


def _made(paths: Paths, counts_at: CountsAt) -> array[int]:
    """How many entries there are, the numbers of their names and paths, and where they begin; one number alone for a
    ledger that cannot be read entry by entry. Nothing of an entry is kept but numbers and its time."""
    names, begins, paths_of, counted, times = array("Q"), array("Q"), array("Q"), array("Q"), list[str]()
    try:
        with os.fdopen(files.open_regular(paths.ledger), "rb") as file:
            for begin, key, entry in entries_of(file):
                names.append(_number(_KEY + key))
                begins.append(begin)
                if (counts := counts_at(entry)) is not None:
                    paths_of.append(_number(_PATH + counts[0]))
                    counted.append(begin)
                    times.append(counts[1])
    except (OSError, ValueError, RecursionError):
        return array("Q", [0])
    number = len(names)
    for at in sorted(range(len(times)), key=times.__getitem__):  # the newest of a path comes last
        names.append(paths_of[at])
        begins.append(counted[at])
    del times, paths_of, counted
    order = array("Q", sorted(range(len(names)), key=names.__getitem__))
    kept = [at for at, after in pairwise([*order, -1]) if after < 0 or names[at] != names[after]]
    return array("Q", [number, *(names[at] for at in kept), *(begins[at] for at in kept)])


def read_entry(ledger: Path, state: list[int], begin: int) -> tuple[str, Entry]:
    """Key and entry of what begins there. Raises OSError, and ValueError or RecursionError where the file is another
    one by now."""
    with os.fdopen(files.open_regular(ledger), "rb") as file:
        if state_of(os.fstat(file.fileno())) != state:
            raise ValueError("the ledger has changed")
        return entry_at(file, begin)


# --- at a glance -----------------------------------------------------------------------------------------------------


def glance(paths: Paths) -> dict[str, int] | None:
    """How many entries of each status a large ledger has; None for one that is not large, not there, or not in the
    layout that we write."""
    try:
        with os.fdopen(files.open_regular(paths.ledger), "rb") as file:
            return _counted(file) if os.fstat(file.fileno()).st_size >= LEAST_BYTES else None
    except OSError:
        return None


def _counted(file: BinaryIO) -> dict[str, int] | None:
    statuses, entries, first = Counter[bytes](), 1, True
    part = file.read(GLANCE_BYTES)
    while part:
        more = file.read(GLANCE_BYTES)
        stop = max(part.rfind(BETWEEN), 0) if more else len(part)
        if (first and not part.startswith(HEAD)) or (not more and not part.endswith(TAIL)):
            return None
        if b"\n>>>>>>> " in part or len(part) > _LONGEST + GLANCE_BYTES:
            return None
        entries += part.count(BETWEEN, 0, stop)
        statuses.update(_STATUS.findall(part, 0, stop))
        part, first = part[stop:] + more, first and not stop
    whole = entries == sum(statuses.values())
    return {name.decode("utf-8", "replace"): number for name, number in statuses.items()} if whole else None
