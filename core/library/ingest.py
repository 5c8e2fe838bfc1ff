"""Files, folders and addresses into the library: look, read, prepare, store.

Each document is one transaction, and what is done needs not be done again: a run that was stopped or killed is gone on
with by running it again. What cannot be read is reported and stops nothing. One process stores; preparing is done
wherever the workers are.

What the library knows of files is brought up to date here too: changed ones are read again, moved ones keep what was
learned of them, and those that are gone are told.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, or_
from sqlalchemy.exc import SQLAlchemyError

from core.base import files
from core.base.figures import count
from core.base.result import ErrorInfo, KnowledgeError, Result, attempt, disk_errors
from core.base.secrets.redact import redact
from core.library import rows, schema
from core.library.database import Library, cause_of
from core.library.extract_process import end_idle
from core.library.fetch import fetch, is_address, shown, stored_name
from core.library.places import Known, known_files, leave, move, moved_to, state_of
from core.library.prepare import Item, Prepare, Prepared, Way, prepare
from core.library.records import Location
from core.library.shelve import KnownNames, Shelved, in_turn, shelve
from core.library.workers import LostError, Workers

_FOLDERS = "node_modules __pycache__ site-packages venv env build dist target vendor bower_components coverage htmlcov"
PASSED_OVER = frozenset(_FOLDERS.split())
"""Folders that hold what others wrote or a machine made. Hidden folders are passed over too."""
_SUFFIXES = (
    "png jpg jpeg gif webp bmp ico tif tiff svg mp3 mp4 wav ogg flac avi mov mkv webm woff woff2 ttf otf eot zip gz "
    "bz2 xz zst tar 7z rar whl egg jar class pyc pyo so dll dylib exe o a lib bin dat db sqlite sqlite3 npy npz pkl pt "
    "onnx gguf safetensors parquet feather pack idx wasm map lock"
)
_NO_TEXT = frozenset(_SUFFIXES.split())
"""Suffixes that are passed over in a folder; named by the user, such a file is looked at like any other."""
MAX_FILE_BYTES = 64 << 20
"""A larger file is reported and left alone."""
Progress = Callable[[int, int, str, str], None]
"""(sources done, sources in all, the one that is done, what became of it)."""


@dataclass
class IngestReport:
    """What a run did. `documents` are those of this run with what became of them, `skipped` counts what was passed
    over, by reason; `redacted` counts secrets by kind. `stopped` is why it ended early, "" when it did not; `backup` is
    the copy that was made of the library before it was migrated, "" for none."""

    documents: list[Shelved] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    stopped: str = ""
    backup: str = ""

    @property
    def counts(self) -> Counter[str]:
        """Documents by what became of them."""
        return Counter(row.status for row in self.documents)

    def to_json(self) -> dict[str, Any]:
        """As `--json` tells it."""
        errors = [{"path": one.path, "code": one.code, "error": one.message} for one in self.errors]
        return {
            "documents": [row.to_json() for row in self.documents], "counts": self.counts, "unchanged": self.unchanged,
            "skipped": self.skipped, "redacted": self.redacted.total(), "errors": errors, "warnings": self.warnings,
            "stopped": self.stopped, "backup": self.backup,
        }  # fmt: skip


@dataclass(frozen=True)
class Engine:
    """Who prepares: an executor that `open` opens, `at_once` items at a time, which is begun from `worth` sources on;
    without one this process. `work` is what is done with an item."""

    open: Callable[[], Executor] | None = None
    at_once: int = 4
    worth: int = 1
    work: Prepare = prepare


HERE = Engine()
"""This process."""


@dataclass(frozen=True)
class Source:
    """One file or address to be looked at; `stored` is its name as it is stored and told. `named` are those that the
    person named, not found in a folder."""

    name: str
    stored: str
    origin: str = ""
    named: bool = True


@dataclass(frozen=True)
class Wanted:
    """What is to be taken in: files, folders and addresses, and what relative names are relative to. `content_type` is
    what the documents are, "" to have it told; with `again` also what has not changed is prepared again."""

    names: Sequence[str | Source]
    folder: Path
    content_type: str = ""
    again: bool = False


# --- looking ----------------------------------------------------------------------------------------------------------


def sources_of(
    names: Sequence[str | Source], report: IngestReport, folder: Path, stored: Callable[[str], str] = stored_name
) -> list[Source]:
    """The files and addresses behind what a user named, folders looked through, each once and in order; a source
    stands for itself. `stored` says how one is named in the library."""
    found: dict[str, Source] = {}

    def taken(path: Path, otherwise: Path, *, named: bool) -> None:
        name = str(path)
        found.setdefault(name, Source(name, stored(name), redact(project_of(path, otherwise)).text, named))

    for name in names:
        if isinstance(name, Source):
            found.setdefault(name.name, name)
            continue
        if is_address(name):
            found.setdefault(shown(name), Source(name, stored(name), "", True))
            continue
        path = Path(os.path.abspath(folder / os.path.expanduser(name)))
        if path.is_dir():
            for inside in _files_below(path, report):
                taken(inside, path, named=False)
        elif files.exists(path):
            taken(path, path.parent, named=True)
        else:
            report.errors.append(ErrorInfo("no-file", "there is no such file or folder", stored(str(path))))
    return list(found.values())


def _files_below(folder: Path, report: IngestReport) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, onerror=lambda error: _unreadable(error, report)):
        keep = []
        for name in sorted(folders):
            inner = os.path.join(place, name)
            packages = name.startswith(".") or name in PASSED_OVER or name.endswith(".egg-info")
            if not packages and os.path.islink(inner):
                report.skipped["symbolic links"] += 1
            elif packages or os.path.exists(os.path.join(inner, "pyvenv.cfg")):
                report.skipped["folders of packages and hidden ones"] += 1
            else:
                keep.append(name)
        folders[:] = keep
        for name in sorted(names):
            lowered = name.lower()
            if name.startswith("."):
                report.skipped["hidden files"] += 1
            elif os.path.islink(os.path.join(place, name)):
                report.skipped["symbolic links"] += 1
            elif lowered.rpartition(".")[2] in _NO_TEXT and "." in lowered:
                report.skipped["pictures, packed and other files without text"] += 1
            else:
                yield Path(place, name)


def _unreadable(error: OSError, report: IngestReport) -> None:
    why = f"the folder cannot be read: {error.strerror}"
    report.errors.append(ErrorInfo("unreadable", why, str(error.filename or "")))


_ROOTS = (".git", ".hg", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", ".obsidian")


def project_of(path: Path, otherwise: Path) -> str:
    """The name of the project that a file lies in; that of the folder which the user named where there is none."""
    for folder in (path.parent, *path.parent.parents):
        if any(files.exists(folder / name) for name in _ROOTS):
            return folder.name or str(folder)
        if folder == folder.parent or folder == Path.home():
            break
    return otherwise.name or str(otherwise)


# --- reading ----------------------------------------------------------------------------------------------------------


def places_of(library: Library, name: str) -> list[Location]:
    """What the library knows of a file or address: itself, or the conversations inside it."""
    c = schema.location.c
    inside = c.source.startswith(f"{name}#", autoescape=True)
    with library.reading() as connection:
        return rows.read(connection, schema.location, Location, or_(c.source == name, inside))


def read_source(source: Source, known: Sequence[Location], content_type: str) -> Item | None:
    """The bytes of a file or address, None where nothing changed since it was taken in. Raises KnowledgeError in one
    sentence."""
    if is_address(source.name):
        page = fetch(source.name)
        sha256 = hashlib.sha256(page.data).hexdigest()
        if known and all(row.sha256 == sha256 and row.state for row in known):
            return None
        name = source.stored if page.address == shown(source.name) else stored_name(page.address)
        return Item(name, page.data, sha256, "seen", page.written_at, "", content_type, page.name)
    return _read_file(source, known, content_type)


def _read_file(source: Source, known: Sequence[Location], content_type: str) -> Item | None:
    path = Path(source.name)
    with disk_errors("unreadable", "the file cannot be read", source.stored):
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode) and source.named:
            path = Path(os.path.realpath(path))  # the user named it, so they mean where it leads
            found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise KnowledgeError("no-file", "this is neither a file nor a folder", source.stored)
        if found.st_size > MAX_FILE_BYTES:
            size = f"{found.st_size >> 20} MB, {MAX_FILE_BYTES >> 20} MB at the most"
            raise KnowledgeError("too-large", f"the file is too large ({size})", source.stored)
        state = state_of(str(path))
        if known and all(row.state == state for row in known):
            return None
        read = files.read_file(path, MAX_FILE_BYTES)
    written = datetime.fromtimestamp(found.st_mtime_ns / 1e9, UTC)
    return Item(source.stored, read.data, read.sha256, state, written, source.origin, content_type, named=source.named)


# --- the run ----------------------------------------------------------------------------------------------------------


def ingest(
    library: Library,
    wanted: Wanted,
    way: Way,
    engine: Engine = HERE,
    *,
    now: Callable[[], datetime],
    progress: Progress = lambda *_told: None,
    stopped: Callable[[], bool] = lambda: False,
) -> IngestReport:
    """Take in what is wanted. `stopped` is asked between documents.

    Raises what the database raises when it cannot be written to at all; all that was stored before stays.
    """
    report = IngestReport()
    sources = sources_of(wanted.names, report, wanted.folder, stored_name if way.redact else _as_it_is)
    run = _Run(library, wanted, report, now, progress, len(sources))
    opened = engine.open if len(sources) >= engine.worth else None
    workers: Workers[Item, Result[list[Prepared]]]
    workers = Workers(partial(_prepared, engine.work, way), opened, engine.at_once, run.told)
    items = run.items(sources, stopped)
    try:
        for item, prepared in workers.results(items, _given_up, stopped):
            run.store(item, prepared)
            if stopped():
                break
    except KeyboardInterrupt:
        report.stopped = "interrupted"
    except LostError as error:
        report.stopped = "the workers are gone"
        hint = "see that the scheduler and its workers run, then go on"
        report.errors.append(ErrorInfo("no-cluster", f"the workers cannot be reached any more: {error}", "", hint))
    finally:
        workers.close()
        end_idle()
    if not report.stopped and stopped():
        report.stopped = "cancelled"
    return report


def _as_it_is(name: str) -> str:
    return shown(name) if is_address(name) else name


def _prepared(work: Prepare, way: Way, item: Item) -> Result[list[Prepared]]:
    """`work` may call its parameters what it likes; partial() alone could only give the second one by its name."""
    return attempt(work, item, way)


def _given_up(item: Item, why: str) -> Result[list[Prepared]]:
    return KnowledgeError("worker-lost", f"whoever read the file was lost each time ({why})", item.source)


@dataclass
class _Run:
    """One run: which items come, and what becomes of each."""

    library: Library
    wanted: Wanted
    report: IngestReport
    now: Callable[[], datetime]
    progress: Progress
    number: int
    done: int = 0
    names: KnownNames = field(default_factory=KnownNames)

    def items(self, sources: Sequence[Source], stopped: Callable[[], bool]) -> Iterator[Item]:
        """What has to be prepared, read when there is a place for it."""
        for source in sources:
            if stopped():
                return
            self._renamed(_as_it_is(source.name), source.stored)
            known = [] if self.wanted.again else places_of(self.library, source.stored)
            read = attempt(read_source, source, known, self.wanted.content_type)
            if isinstance(read, KnowledgeError):
                self._failed(replace(read.error, path=stored_name(str(read.error.path))), source.named)
                self._progressed(source.stored, read.error.message)
                continue
            item = read.value
            if item is not None and not (known and all(row.sha256 == item.sha256 for row in known)):
                yield item
                continue
            if item is not None:
                self._touched(known, item)
            self.report.unchanged += 1
            self._progressed(source.stored, "unchanged")

    def store(self, item: Item, prepared: Result[list[Prepared]]) -> None:
        """Put the documents of an item into the library. The state of its file is told with the last of them: a run
        that is killed between two documents reads the file again."""
        if isinstance(prepared, KnowledgeError):
            self._failed(prepared.error, item.named)
            self._progressed(item.source, prepared.error.message)
            return
        for number, document in enumerate(prepared.value, start=1):
            state = item.state if number == len(prepared.value) else ""
            try:
                row = shelve(self.library, document, item.sha256, state, self.now(), self.names)
            except SQLAlchemyError as error:
                message = f"the document cannot be stored: {cause_of(error)}"
                self.report.errors.append(ErrorInfo("not-stored", message, document.source))
                continue
            self.report.documents.append(row)
            self.report.warnings += map(str, document.warnings)
            if row.left:
                uses = count(row.left, "usage record stays", "usage records stay")
                why = f"the new text has no more what was used of the old one; {uses} with the former version"
                self.report.warnings.append(str(ErrorInfo("left-behind", why, document.source)))
            self.report.redacted.update(document.redacted)
        if len(prepared.value) > 1:
            known = places_of(self.library, item.source)
            self._touched([row for row in known if row.sha256 == item.sha256], item)
        became = [row.status for row in self.report.documents[-len(prepared.value) :]]
        self._progressed(item.source, became[-1] if len(became) == 1 else f"{len(became)} documents")

    def _touched(self, known: Sequence[Location], item: Item) -> None:
        """The content is what it was; the next run need not read it to see that."""

        def work(connection: Connection) -> None:
            for row in known:
                rows.put(connection, schema.location, replace(row, state=item.state, seen_at=self.now()))

        in_turn(self.library, work)

    def _renamed(self, name: str, stored: str) -> None:
        """A secret in a name that was stored before names were cleared goes out of the library too."""
        if name == stored:
            return

        def work(connection: Connection) -> None:
            for table in (schema.location, schema.document):
                inside = table.c.source.startswith(f"{name}#", autoescape=True)
                changed = table.update().where(or_(table.c.source == name, inside))
                connection.execute(changed.values(source=func.replace(table.c.source, name, stored)))

        in_turn(self.library, work)

    def _failed(self, error: ErrorInfo, named: bool) -> None:
        if not named and error.code in ("no-text", "empty"):
            self.report.skipped["files without text" if error.code == "no-text" else "empty files"] += 1
        else:
            self.report.errors.append(error)

    def told(self, words: str) -> None:
        """Something about the whole run is told while it goes on."""
        self.progress(0, self.number, words, "start one, or stop here and go on later")

    def _progressed(self, name: str, became: str) -> None:
        self.done += 1
        self.progress(self.done, self.number, name, became)


# --- what is known of files is brought up to date ---------------------------------------------------------------------


@dataclass(frozen=True)
class Refreshed:
    """What a refresh found: the report on changed files, old path -> new one, paths that are gone with the ids of
    their documents, and how many files are as they were."""

    changed: IngestReport
    moved: dict[str, str] = field(default_factory=dict)
    gone: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0


def refresh(
    library: Library,
    way: Way,
    *,
    now: Callable[[], datetime],
    progress: Progress = lambda *_told: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Refreshed:
    """Look at every file that the library has read. Nothing new is taken in, and nothing taken out: who deleted a file
    may still want what it said."""
    with library.reading() as connection:
        known = known_files(connection)
    states = {file.path: state_of(file.path) for file in known}
    away = [file for file in known if not states[file.path]]
    moved = moved_to(away, known) if away else {}

    def settle(connection: Connection) -> list[Known]:
        for file in away:
            if file.path in moved:
                move(connection, file, moved[file.path])
        return [file for file in away if file.path not in moved and not leave(connection, file)]

    gone = in_turn(library, settle) if away else []
    changed = [file for file in known if states[file.path] not in ("", file.state)]
    sources = [Source(file.path, file.path, file.domain, named=False) for file in changed]
    report = ingest(library, Wanted(sources, Path()), way, now=now, progress=progress, stopped=stopped)
    told = {file.path: tuple(sorted(set(file.documents.values()))) for file in gone}
    return Refreshed(report, moved, told, len(known) - len(changed) - len(away) + report.unchanged)
