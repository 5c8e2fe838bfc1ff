"""Single entries of a large ledger for whoever does not need the others: of a hundred thousand a window shows forty,
and `status` asks for what waits.

`LedgerOnDemand` finds an entry by its key or path: where each stands in the file is kept in the cache folder
(base/ready.py) while the file is what it was. `LedgerGlance` has them newest first, by one pass over the bytes, before
the whole has been read. A ledger that is small, or not in the layout of `format_ledger`, is read as a whole. In valid
JSON a string holds no line break, so a field that begins a line at its own depth is one of an entry.
"""

from __future__ import annotations

import json
import os
import re
import time
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

from core.base import files
from core.base.paths import Paths
from core.base.ready import has_settled, keep_bytes, kept_bytes, look, state_of
from core.base.result import KnowledgeError, Ok, attempt
from core.knowledge.ledger import BETWEEN, HEAD, PART_BYTES, TAIL, Entry, rebuild, seen_ledger

ByPath = Callable[[Mapping[str, Entry]], Mapping[str, str]]
_KEY, _PATH = "key ", "path "
"""Before what is looked up: a path may read like a key."""
_END = b"\n    }"
"""Behind an entry."""
_ENTRY_BYTES = 4096
"""So much is read at first: most entries are shorter."""
MAX_SINGLE_READS, PART = 1000, 8
"""Who asks for more entries than this, and for more than one in `PART` of all, is faster with the whole ledger."""
LEAST_BYTES = GLANCE_BYTES = 1 << 20
"""A smaller ledger is read whole in no time; and how much of a larger one is looked at a time."""
_LONGEST = 8 << 20
"""A longer entry is none of ours: to look for its end with each part read would take minutes."""
_BETWEEN = re.compile(re.escape(BETWEEN))
_AT = re.compile(rb'\n      "at": "([^"\\\n]*)"')
_STATUS = re.compile(rb'\n      "status": "([^"\\\n]*)"')


# --- by key or path --------------------------------------------------------------------------------------------------


class LedgerOnDemand(Mapping[str, Entry]):
    """The ledger for whoever may need nothing of it, or a few entries: what is not asked for is not read. Raises
    OSError where the ledger cannot be read and no archived run either. `by_path` says of all entries which counts for
    what stands at a path (path -> key)."""

    def __init__(self, paths: Paths, cache: Path, by_path: ByPath) -> None:
        self._paths, self._cache, self._by_path = paths, cache, by_path
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
            self._keys = self._by_path(self._all())
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
            self._places = _places(self._paths, self._cache / "ready" / "entries", self._by_path)
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
            return _entry_at(self._paths.ledger, places.state, places.offsets[at])
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


def _places(paths: Paths, place: Path, by_path: ByPath) -> _Places | None:
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
        numbers = _made(paths, by_path)
        keep_bytes(place, seen, numbers.tobytes())
    half = len(numbers) // 2 + 1
    return _Places(state, numbers[0], numbers[1:half], numbers[half:]) if len(numbers) > 1 else None


def _made(paths: Paths, by_path: ByPath) -> array[int]:
    """How many entries there are, the numbers of their names and paths, and where they begin; one number alone for a
    ledger that cannot be read entry by entry."""
    parsed = attempt(seen_ledger, paths)  # who counts the entries of a new ledger has parsed it
    try:
        data = files.read_file(paths.ledger).data
    except OSError:
        return array("Q", [0])
    if isinstance(parsed, KnowledgeError) or not (data.startswith(HEAD) and data.endswith(TAIL)):
        return array("Q", [0])
    at, end, begins = len(HEAD) - 1, -1, dict[str, int]()
    for key in parsed.value:
        if not data.startswith(json.dumps(key, ensure_ascii=False).encode("utf-8", "backslashreplace") + b": {", at):
            return array("Q", [0])
        begins[key] = at
        end = data.find(_END, at)
        at = data.find(BETWEEN, at) + len(BETWEEN) - 1
    if end != len(data) - len(TAIL):
        return array("Q", [0])
    found = {_number(_PATH + path): begins[key] for path, key in by_path(parsed.value).items()}
    found |= {_number(_KEY + key): place for key, place in begins.items()}
    rows = sorted(found.items())
    return array("Q", [len(begins), *(number for number, _ in rows), *(place for _, place in rows)])


def _entry_at(ledger: Path, state: list[int], begin: int) -> tuple[str, Entry]:
    """Key and entry of what begins there. Raises OSError and ValueError where the file is another by now."""
    fd, size, end = files.open_regular(ledger), _ENTRY_BYTES, -1
    try:
        if state_of(os.fstat(fd)) != state:
            raise ValueError("the ledger has changed")
        while end < 0:
            data = files.read_beginning(fd, size, begin)
            end = data.find(_END)
            if end < 0 and len(data) < size:
                raise ValueError("the entry has no end")
            size *= 4
    finally:
        os.close(fd)
    loaded = json.loads(b"{" + data[:end] + b"}}")
    ((key, entry),) = loaded.items()
    if not isinstance(entry, dict):
        raise ValueError("this is no entry")
    return key, entry


# --- newest first ----------------------------------------------------------------------------------------------------


class LedgerGlance:
    """The entries of a ledger, newest first. Of each only the place in the file is kept; `counts` are by status."""

    def __init__(self, path: Path, found: os.stat_result) -> None:
        self._path, self._size, self._state = path, found.st_size, state_of(found)
        self._begins = array("Q", [len(HEAD) - 1])  # where each entry begins, in the order of the file
        self._order = array("I")
        self.counts: dict[str, int] = {}

    def read(self, file: BinaryIO) -> bool:
        """Go through the file; false where it is not in the layout that we write."""
        times, statuses = list[bytes](), Counter[bytes]()
        part, base = file.read(GLANCE_BYTES), 0
        while part:
            more = file.read(GLANCE_BYTES)
            stop = max(part.rfind(BETWEEN), 0) if more else len(part)
            if (base == 0 and not part.startswith(HEAD)) or (not more and not part.endswith(TAIL)):
                return False
            if b"\n>>>>>>> " in part or len(part) > _LONGEST + GLANCE_BYTES:
                return False
            self._begins.extend(base + found.end() - 1 for found in _BETWEEN.finditer(part, 0, stop))
            times += _AT.findall(part, 0, stop)
            statuses.update(_STATUS.findall(part, 0, stop))
            part, base = part[stop:] + more, base + stop
        backwards = range(len(times) - 1, -1, -1)  # entries of one time: by their key, as the whole ledger has them
        self._order.extend(sorted(backwards, key=times.__getitem__, reverse=True))
        self.counts = {name.decode("utf-8", "replace"): number for name, number in statuses.items()}
        return base == self._size and len(times) == sum(statuses.values()) == len(self._begins)

    @property
    def is_large(self) -> bool:
        """Whether a glance saves anything: a smaller ledger is read whole in no time."""
        return self._size >= LEAST_BYTES

    def __len__(self) -> int:
        return len(self._begins)

    def entry(self, place: int) -> tuple[str, Entry] | None:
        """The key and the entry at a place, 0 for the newest; None where the file is another one by now, or where it
        is damaged there. Raises IndexError."""
        begin = self._begins[self._order[place]]
        try:
            return _entry_at(self._path, self._state, begin)
        except (OSError, ValueError, RecursionError):
            return None


def glance(paths: Paths) -> LedgerGlance | None:
    """What a glance tells; None for a ledger that is not large, not there, or not in the layout that we write."""
    try:
        with os.fdopen(files.open_regular(paths.ledger), "rb") as file:
            found = LedgerGlance(paths.ledger, os.fstat(file.fileno()))
            return found if found.is_large and found.read(file) else None
    except OSError:
        return None
