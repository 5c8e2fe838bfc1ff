"""Vectors beside the full-text index: what is meant, where the words differ. Optional; without them nothing is lost.

One flat file holds, for every entry, its number in the index and a unit vector; a query compares itself with all of
them. The file is a projection too: it names the embedder and the state of the index that it belongs to, vectors are
known by the hash of their text, and only texts that have none yet are embedded. Words never wait for that: a search
gives it some part of a second, what was made is kept, and the next one goes on where it ended.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.entry import Embed
from core.base.installed import how_to_install
from core.base.result import KnowledgeError
from core.search import store

if TYPE_CHECKING:
    import sqlite3


VERSION = 2
BATCH, SMALL_BATCH = 64, 8
"""This many texts are embedded in one go, fewer where there is little time."""
KEPT_SECONDS = 20.0
"""After so long what was made is written: a build that is stopped loses no more."""
KEY_BYTES = 16
TEXT_CHARACTERS = 2000


@dataclass
class Vectors:
    """`ids` (numpy, int64) are numbers of entries in the index, `matrix` (numpy, float16) a unit vector for each;
    `waiting` entries have none yet."""

    keys: list[bytes]
    ids: Any
    matrix: Any
    waiting: int = 0

    def near(self, vector: Sequence[float]) -> Mapping[int, float]:
        """How near each entry is to a vector, in standard deviations from the mean; {} for a vector of nothing."""
        import numpy

        return nearest_in(self.ids, self.matrix.astype(numpy.float32), vector) or {}


class Nearness(Mapping[int, float]):
    """How near each entry is to a vector, in standard deviations from the mean, without a number made for each: `ids`
    (numpy, rising) and how `near` each of them is."""

    def __init__(self, ids: Any, near: Any) -> None:
        self._ids, self._near = ids, near

    def __getitem__(self, number: int) -> float:
        at = int(self._ids.searchsorted(number))
        if at == len(self._ids) or self._ids[at] != number:
            raise KeyError(number)
        return float(self._near[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids.tolist())

    def __len__(self) -> int:
        return len(self._ids)

    def best(self, count: int) -> list[int]:
        """The nearest entries, best first."""
        import numpy

        if count < len(self._near):
            chosen = numpy.argpartition(-self._near, count)[:count]
        else:
            chosen = numpy.arange(len(self._near))
        order = numpy.lexsort((self._ids[chosen], -self._near[chosen]))
        return [int(number) for number in self._ids[chosen][order]]


def nearness(ids: Any, products: Any) -> Nearness | None:
    """How near each entry is, by the products of its vector with a query's (numpy); None where they all say the same,
    or nothing."""
    spread = float(products.std()) if len(products) else 0.0
    if not math.isfinite(spread) or spread <= 1e-9:
        return None
    return Nearness(ids, (products - products.mean()) / spread)


def nearest_in(ids: Any, matrix: Any, vector: Sequence[float]) -> Nearness | None:
    """How near each row of a matrix (numpy, float32) is to a vector; None for one that says nothing about them."""
    import numpy

    query = numpy.asarray(vector, numpy.float32)
    if not len(ids) or query.shape != matrix.shape[1:]:
        return None
    return nearness(ids, matrix @ query)


class Matrix:
    """Vectors by the number of their entry, held in memory to be compared all at once."""

    def __init__(self, numbers: Sequence[int], vectors: Sequence[bytes], dimensions: int) -> None:
        import numpy

        whole = [at for at in range(len(numbers)) if len(vectors[at]) == 4 * dimensions]
        whole.sort(key=numbers.__getitem__)
        self._ids = numpy.array([numbers[at] for at in whole], numpy.int64)
        flat = numpy.frombuffer(b"".join(vectors[at] for at in whole), "<f4")
        self._matrix = flat.reshape(len(whole), dimensions)

    def near(self, vector: Sequence[float]) -> Nearness | None:
        """How near each entry is; None for a vector that says nothing about them."""
        return nearest_in(self._ids, self._matrix, vector)


def embed_all(texts: Sequence[str], embed: Embed) -> list[bytes]:
    """A unit vector for each text, as little-endian float32."""
    made = _embedded([text[:TEXT_CHARACTERS] for text in texts], embed)
    return [row.astype("<f4").tobytes() for row in made]


def open_vectors(
    folder: Path,
    database: sqlite3.Connection,
    name: str,
    embed: Embed,
    seconds: float = math.inf,
    step: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Vectors:
    """The vectors of the entries of an index, read, and made for about `seconds` where there are none, the newest
    first; `step` hears how many were made of how many. `name` says whose they are: another embedder's are not used.
    Raises KnowledgeError when the embedder fails, or numpy is not there; what was made before that is kept."""
    try:
        import numpy
    except ImportError:
        raise KnowledgeError("no-numpy", "numpy is not installed", hint=how_to_install("vectors")) from None
    until = time.monotonic() + seconds
    path = folder / f"vectors-{hashlib.sha256(name.encode()).hexdigest()[:16]}.bin"
    state = store.state_of(folder / store.FILE) if store.is_sealed(folder) else ""
    held = _read(path, name)
    if held is not None and state and held[0] == state and not held[1].waiting:
        return held[1]
    known = dict(zip(held[1].keys, held[1].matrix, strict=True)) if held is not None else {}
    rows = [
        (row.id, *_keyed(row)) for row in store.every_row(database) if row.role != "tool" and row.kind != "document"
    ]
    missing = list({key: text for _, key, text in reversed(rows) if key not in known}.items())
    size, done, kept = BATCH if seconds == math.inf else SMALL_BATCH, 0, time.monotonic()
    failed: KnowledgeError | None = None
    while done < len(missing) and (done == 0 or time.monotonic() < until) and not cancelled():
        part = missing[done : done + size]
        try:
            vectors = _embedded([text for _, text in part], embed).astype(numpy.float16)
        except KnowledgeError as error:
            failed = error
            break
        if known and vectors.shape[1:] != next(iter(known.values())).shape:
            files.discard(path)  # the embedder changed behind its name
            known, done, missing = {}, 0, list({key: text for _, key, text in reversed(rows)}.items())
            continue
        known |= zip((key for key, _ in part), vectors, strict=True)
        done += len(part)
        step(done, len(missing))
        if state and time.monotonic() - kept > KEPT_SECONDS:
            _write(path, name, state, _gathered(rows, known))
            kept = time.monotonic()
    found = _gathered(rows, known)
    if state and (done or held is None or held[0] != state):
        _write(path, name, state, found)
    if failed is not None:
        raise failed
    return found


def _gathered(rows: Sequence[tuple[int, bytes, str]], known: Mapping[bytes, Any]) -> Vectors:
    """The vectors that there are, in the order of the rows."""
    import numpy

    have = [(number, key) for number, key, _ in rows if key in known]
    matrix = numpy.stack([known[key] for _, key in have]) if have else numpy.zeros((0, 0), numpy.float16)
    ids = numpy.array([number for number, _ in have], numpy.int64)
    return Vectors([key for _, key in have], ids, matrix, len(rows) - len(have))


def embed_one(text: str, embed: Embed) -> Sequence[float]:
    """The unit vector of a query."""
    found: Sequence[float] = _embedded([text[:TEXT_CHARACTERS]], embed)[0].tolist()
    return found


def _keyed(row: store.Row) -> tuple[bytes, str]:
    text = f"{row.title}: {row.text}" if row.title and row.title != row.text else row.text
    text = text[:TEXT_CHARACTERS]
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=KEY_BYTES).digest(), text


def _embedded(texts: Sequence[str], embed: Embed) -> Any:
    """A numpy matrix of unit vectors. What comes back is foreign: it is checked before it is used."""
    import numpy

    parts: list[Any] = []
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        made = embed(part)
        try:
            matrix = numpy.asarray(made, numpy.float32)
        except (ValueError, TypeError, OverflowError):
            matrix = numpy.zeros((0, 0), numpy.float32)
        if matrix.ndim != 2 or len(matrix) != len(part) or matrix.shape[1] == 0 or not numpy.isfinite(matrix).all():
            raise KnowledgeError(
                "bad-vectors", "the embedder answered with something that is not a vector for each text"
            )
        if parts and parts[0].shape[1] != matrix.shape[1]:
            raise KnowledgeError("bad-vectors", "the embedder answered with vectors of different lengths")
        lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        parts.append(matrix / numpy.where(lengths > 0, lengths, 1))
    return numpy.concatenate(parts) if parts else numpy.zeros((0, 0), numpy.float32)


# --- the file: a line of JSON, then keys, numbers and vectors, each in one block -------------------------------------


def _read(path: Path, name: str) -> tuple[str, Vectors] | None:
    """The state of the index that a file was made for, and its vectors; None when it is not whole or another's."""
    import numpy

    try:
        data = files.read_or_empty(path)
        line, _, body = data.partition(b"\n")
        head = json.loads(line)
        count, width = head["count"], head["width"]
        if (head["version"], head["name"]) != (VERSION, name) or zlib.crc32(body) != head["crc32"]:
            return None
        ids = numpy.frombuffer(body, numpy.int64, count, 0)
        keys = body[8 * count : (8 + KEY_BYTES) * count]
        matrix = numpy.frombuffer(body, numpy.float16, count * width, (8 + KEY_BYTES) * count).reshape(count, width)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return str(head["state"]), Vectors(
        [keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)], ids, matrix, int(head["waiting"])
    )


def _write(path: Path, name: str, state: str, vectors: Vectors) -> None:
    body = vectors.ids.tobytes() + b"".join(vectors.keys) + vectors.matrix.tobytes()
    head = {
        "version": VERSION,
        "name": name,
        "state": state,
        "count": len(vectors.keys),
        "width": vectors.matrix.shape[1],
        "waiting": vectors.waiting,
        "crc32": zlib.crc32(body),
    }
    files.write_cache(path, json.dumps(head).encode("ascii") + b"\n" + body)
