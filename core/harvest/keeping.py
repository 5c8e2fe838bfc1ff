"""The archive, as a harvest keeps it: what its tool will delete is written down, what the user does not want goes.

In this order, so that a kill at any step costs nothing: the file is written and durable, read back and compared, and
only then told to the journal. A file that nobody was told of counts at the next run, if it is whole. What the user has
removed goes from the ledger first; a file that is left of that goes at the next run.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.figures import count, size
from core.base.homes import advice
from core.base.paths import Paths
from core.base.project import project_root
from core.base.result import ErrorInfo
from core.conversations import archived
from core.conversations.conversation import Conversation
from core.conversations.read import read_conversation
from core.harvest.committer import Committer
from core.harvest.report import Progress, Report
from core.harvest.steps import FORGOTTEN_BY_YOU, KEEP_DAYS, Archiving, HarvestOptions, HarvestPlan, expires
from core.knowledge.ledger import FORGOTTEN, Entries, Entry
from core.knowledge.purge import Purge
from core.sources import archive
from core.sources.archive import ARCHIVED, LEFT_OUT, LET_GO, UNREAD, file_of, held, key_of
from core.sources.artifact import Artifact
from core.sources.sessions import StoreCache
from core.sources.tools import SOURCE

UNATTENDED_SECONDS = 60.0
"""How long a run that nobody waits for writes conversations down, the oldest first; the next one goes on."""


def keep(
    committer: Committer,
    options: HarvestOptions,
    plan: HarvestPlan,
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Bring the archive up to date with what the run has found. A failure is told in the report and ends this alone."""
    paths, report, now = committer.paths, committer.report, committer.now()
    try:
        _adopt(committer)
        wanted = sorted(_wanted(paths, options, plan, committer.entries, now), key=lambda item: item.mtime_ns)
        kept = bytes_kept = 0
        until = time.monotonic() + (UNATTENDED_SECONDS if options.unattended else math.inf)
        with StoreCache(options.copies) as opened:
            for number, item in enumerate(wanted):
                if cancelled() or not committer.trusted or time.monotonic() > until:
                    break
                progress(Progress(number, len(wanted), item.name, "archived"))
                if (row := _keep_one(committer, item, opened, options.archive)) is not None:
                    kept, bytes_kept = kept + 1, bytes_kept + int(row["bytes"])
        if kept:
            report.notes.append(f"kept in the archive: {count(kept, 'conversation')}, {size(bytes_kept)}")
    except OSError as error:
        message = f"the archive cannot be kept: {error.strerror or error}"
        where = str(error.filename or paths.archive)
        report.errors.append(ErrorInfo("archive-failed", message, where, advice(error)))


def _wanted(
    paths: Paths, options: HarvestOptions, plan: HarvestPlan, entries: Mapping[str, Entry], now: datetime
) -> Iterator[Artifact]:
    """What is to be written down, or written anew, of what the run has found."""
    settings, limits = options.archive, options.limits
    if settings.which == "off" or limits.limit == 0 or not limits.harvest:
        return
    there = held(paths.archive, entries)
    for item, _, reason in plan.classified:
        if item.source not in SOURCE or item.kept or item.kind not in ("conversation", "session"):
            continue
        if reason == FORGOTTEN_BY_YOU or item.source in settings.left_out:
            continue
        if settings.which == "expiring" and not expires(item, options.days_kept, now, KEEP_DAYS):
            continue
        key = key_of(item.path, item.source)
        if not _is_settled(entries.get(key), item, settings, is_there=key in there):
            yield item


def _is_settled(row: Mapping[str, Any] | None, item: Artifact, settings: Archiving, *, is_there: bool) -> bool:
    if row is None:
        return False
    same = (row.get("size"), row.get("mtime_ns")) == (item.size, item.mtime_ns)
    if row.get("status") == ARCHIVED:
        return same and is_there
    match row.get("why"):
        case "left-out":
            return same and _is_left_out(str(row.get("project", "")), settings)
        case "unread":
            return same
    return True  # removed, forgotten


def _is_left_out(folder: str, settings: Archiving) -> bool:
    return any(folder == one or folder.startswith(one.rstrip(os.sep) + os.sep) for one in settings.left_out)


def _about(file: Path) -> dict[str, Any]:
    """What a file of the archive says about its conversation; {} where there is none, or a damaged one. Raises
    OSError."""
    try:
        return archived.about_of(archive.content(file))
    except (archive.DamagedError, FileNotFoundError):
        return {}


def _keep_one(committer: Committer, item: Artifact, opened: StoreCache, settings: Archiving) -> Entry | None:
    """Write one conversation down; its row, None where there is nothing to keep. Raises OSError of the archive."""
    key = key_of(item.path, item.source)
    file = file_of(committer.paths.archive, key)
    if _about(file).get("purged"):
        return None  # what was purged from it would come back
    try:
        data = opened.content(item) if item.kind == "session" else files.read_file(item.path).data
    except FileNotFoundError:
        return None  # its tool has deleted it since
    except OSError as error:
        message = f"it is not kept in the archive, for it cannot be read: {error.strerror or error}"
        committer.report.errors.append(ErrorInfo("archive-unread", message, item.path, advice(error)))
        return None
    from core.harvest.distil import redacted_conversation  # most runs write none down

    clean, _ = redacted_conversation(read_conversation(item.name, data))
    about: Entry = {
        "path": item.path, "source": item.source, "name": item.name, "at": committer.now().isoformat(),
        "of": hashlib.sha256(data).hexdigest(), "size": item.size, "mtime_ns": item.mtime_ns,
        "project": project_root(clean.folder) or clean.folder,
    }  # fmt: skip
    why = LEFT_OUT if _is_left_out(about["project"], settings) else UNREAD if not clean.turns else ""
    if why:
        committer.record(key, {**about, "status": LET_GO, "why": why})
        return None
    row = {**about, "status": ARCHIVED, **write(file, clean, about)}
    committer.record(key, row)
    return row


def write(file: Path, clean: Conversation, about: Mapping[str, Any]) -> Entry:
    """Write a conversation without secrets to a file of the archive, durably, once what was written has been read back;
    the sha256 and size of that file. Raises OSError, also where another conversation comes back: then the file is as it
    was."""
    data = archived.packed(clean, about)
    files.make_folder(file.parent)
    if not files.exists(ignored := file.with_name(".gitignore")):
        files.write_atomic(ignored, b"*\n")  # wherever the folder is carried, these are not
    temporary = files.write_temporary(file, data, 0o600)
    try:
        inside = archive.content(temporary)
        if archived.about_of(inside) != dict(about) or archived.read(clean.id, inside) != clean:
            raise OSError(f"what was read back is not what was written ({file})")
        files.replace_file(temporary, file)
    except BaseException:
        with suppress(OSError):
            files.discard(temporary)
        raise
    files.sync_folder(file.parent)
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


# --- what a kill left, and what goes ----------------------------------------------------------------------------------


def _adopt(committer: Committer) -> None:
    """Files that the ledger does not tell of count if they are whole; those that it has let go are taken away."""
    folder = committer.paths.archive
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        path, row = folder / name, committer.entries.get(archive.KEY + name.removesuffix(archive.ENDING))
        if name.endswith(files.TEMPORARY_MARK) or (row is not None and row.get("status") in (LET_GO, FORGOTTEN)):
            files.discard(path)
        elif row is None and name.endswith(archive.ENDING):
            try:
                data = files.read_file(path).data
                about = archived.about_of(archived.unpacked(data))
            except (OSError, ValueError):
                continue  # the doctor tells of it
            if key_of(str(about.get("path", "")), str(about.get("source", ""))) == archive.KEY + path.stem:
                seal = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
                committer.record(archive.KEY + path.stem, {**about, "status": ARCHIVED, **seal})


def purge_archive(paths: Paths, entries: Entries, purge: Purge) -> tuple[list[str], list[str]]:
    """Take what a purge is about out of every copy; the names of the files that changed, with their rows of `entries`,
    and of damaged ones, of which nobody can tell. A copy of which something was purged is never written anew. Raises
    OSError."""
    changed, damaged = list[str](), list[str]()

    def without(text: str) -> str:
        text = purge.without(text)
        if text and purge.has_short:  # the lines of any other are passages too
            text = "\n".join(line for line in text.split("\n") if not purge.says(line))
        return text

    for key, row in held(paths.archive, entries).items():
        file = file_of(paths.archive, key)
        try:
            inside = archive.content(file)
        except archive.DamagedError:
            damaged.append(f"archive/{file.name} (damaged: it cannot be looked through)")
            continue
        found = archived.read(str(row.get("name", "")), inside)
        clean = archived.with_texts(found, without)
        if clean != found:
            about = {**archived.about_of(inside), "purged": True}
            entries[key] = {**row, **write(file, clean, about)}
            changed.append(f"archive/{file.name}")
    return changed, damaged
