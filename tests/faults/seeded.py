"""The test of the tests: bugs of the kind that lose knowledge, sown into the running code. Each must be caught."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base import files
from core.base.paths import Paths
from core.harvest import committer, reclaim, recovery
from core.harvest.committer import Committer
from core.knowledge import digest, journal, lines, swap
from core.knowledge.confirmed import write_confirmed
from tests.faults.errors import errors
from tests.faults.meddling import meddling
from tests.faults.pairs import singles
from tests.faults.power import power
from tests.faults.scenarios import SCENARIO
from tests.faults.server import Campaign, Tried, on_scenario

Seed = Callable[[], contextlib.AbstractContextManager[Any]]
TRIED_ON = ("edited files", "tasks", "twice", "said before")
LOOKED_FOR: dict[str, tuple[Campaign, int]] = {
    "kills": (singles, 2),
    "meddling": (meddling, 3),
    "errors": (errors, 17),
    "power": (power, 5),
}
"""Each campaign with the stride of its sample. What a kill leaves is taken down in passing, as `pairs` does."""


@dataclass
class Caught:
    """Points tried with one bug in the code, and how many of them showed it, by campaign."""

    tried: dict[str, int] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    words: str = ""


@contextlib.contextmanager
def unlink_first() -> Iterator[None]:
    """The conversation is taken away before its lines are written."""
    real, move = Committer.stage, Committer._reclaim

    def stage(self: Committer, step: Any, harvest: Any, meter: Any) -> bool:
        self.entries.setdefault(step.sha256, {})
        move(self, step)
        return real(self, step, harvest, meter)

    with patch.object(Committer, "stage", stage), patch.object(Committer, "_reclaim", lambda self, step: True):
        yield


@contextlib.contextmanager
def no_journal() -> Iterator[None]:
    """The next run throws the journal away instead of replaying it."""

    def forget(paths: Paths, *_: Any, **__: Any) -> None:
        files.remove_file(paths.journal)

    with patch.object(recovery, "_replay", forget):
        yield


@contextlib.contextmanager
def no_idempotence() -> Iterator[None]:
    """Lines are written without a look whether they stand there."""
    with patch.object(lines, "_to_write", lambda data, planned: (list(planned.lines), list(planned.done))):
        yield


@contextlib.contextmanager
def only_exact() -> Iterator[None]:
    """A statement that stands in other letters is written once more."""

    def exact(data: bytes, planned: Any) -> tuple[list[str], list[str]]:
        gone = {line.decode() for line in lines.missing_lines(data, planned.all_lines)}
        return [line for line in planned.lines if line in gone], [line for line in planned.done if line in gone]

    with patch.object(lines, "_to_write", exact):
        yield


@contextlib.contextmanager
def torn_is_said() -> Iterator[None]:
    """A line that was torn behind its last word is taken for the whole one."""
    with patch.object(lines, "_begins", lambda line, torn: False):
        yield


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """What a run confirms is not written down."""
    with patch.object(recovery, "tell_confirmed", lambda paths, plans: write_confirmed(paths, {})):
        yield


@contextlib.contextmanager
def no_sync() -> Iterator[None]:
    """Nothing but folders is synced."""
    with patch.object(files, "sync", lambda fd, data_only=False: None):
        yield


@contextlib.contextmanager
def no_folder_sync() -> Iterator[None]:
    """No folder is synced."""
    with patch.object(files, "sync_folder", lambda path: None):
        yield


@contextlib.contextmanager
def done_before_read_back() -> Iterator[None]:
    """The ledger's record DONE comes before the lines are written and read back."""
    real, waiting = committer.write_together, []
    move = Committer._reclaim

    def later(*arguments: Any, **named: Any) -> tuple[dict[str, OSError], list[Any]]:
        waiting.append((arguments, named))
        return {}, []

    def _reclaim(self: Committer, step: Any) -> bool:
        while waiting:
            arguments, named = waiting.pop()
            real(*arguments, **named)
        return move(self, step)

    with patch.object(committer, "write_together", later), patch.object(Committer, "_reclaim", _reclaim):
        yield


@contextlib.contextmanager
def no_second_hash() -> Iterator[None]:
    """A conversation is moved into the trash without a look whether it is still what was harvested."""

    def blind(fd: int, paths: Paths, path: str, sha256: str, days: int, now: Any) -> Any:
        files.make_folder(paths.trash)
        held = reclaim._rename_into(paths.trash, Path(path), sha256)
        return reclaim.Reclaimed(path, sha256, 0, held.name, (now + timedelta(days=days)).isoformat())

    with patch.object(reclaim, "_move", blind):
        yield


@contextlib.contextmanager
def digest_before_gate() -> Iterator[None]:
    """The digest tells of items before they are proven to stand in the files."""
    real = committer.write_together

    def early(paths: Paths, plans: Any, **named: Any) -> Any:
        planned = [one for _, plan in plans for one in plan.files]
        text = digest.HEADER + "".join(f"{line}\n" for row in planned for line in row.all_lines)
        files.write_atomic(paths.digest, text.encode())
        return real(paths, plans, **named)

    with patch.object(committer, "write_together", early):
        yield


@contextlib.contextmanager
def torn_tail_kept() -> Iterator[None]:
    """The next run appends behind a line that a crash tore, instead of completing it."""
    real = lines.with_lines

    def with_lines(data: bytes, planned: Any, *, recovering: bool = False) -> bytes:
        return real(data, planned, recovering=False)

    with patch.object(lines, "with_lines", with_lines):
        yield


@contextlib.contextmanager
def written_in_place() -> Iterator[None]:
    """Whole files are truncated and written again under their own name."""

    def write_atomic(path: Path, data: bytes, mode: int | None = None, *, lasting: bool = True) -> None:
        fd = files.disk.open_file(path, os.O_RDWR | os.O_CREAT)
        files.empty(fd)
        files.write_all(fd, data)
        files.sync(fd)
        os.close(fd)

    def exchange(path: Path, new: bytes, expected: bytes, mode: int, spent: list[Path]) -> bytes:
        write_atomic(path, new)
        return expected

    with patch.object(files, "write_atomic", write_atomic), patch.object(swap, "_exchange", exchange):
        yield


@contextlib.contextmanager
def journal_goes_first() -> Iterator[None]:
    """At the end of a run the journal is removed before its records are archived."""
    real = journal.archive

    def archive(place: Path, plans: Path, run: str, records: Any, unfinished: Any, *, whole: bool) -> None:
        files.remove_file(place)
        real(place, plans, run, records, unfinished)

    with patch.object(recovery, "archive", archive):
        yield


@contextlib.contextmanager
def sync_errors_ignored() -> Iterator[None]:
    """A disk that does not confirm a write is believed."""
    real = files.sync

    def sync(fd: int, *, data_only: bool = False) -> None:
        with contextlib.suppress(files.SyncError):
            real(fd, data_only=data_only)

    with patch.object(files, "sync", sync):
        yield


@contextlib.contextmanager
def place_before_trash() -> Iterator[None]:
    """The folder that a conversation leaves is synced before the trash that it comes to."""

    def sync_reclaimed(paths: Paths) -> None:
        if paths.trash.is_dir():
            files.sync_folder(paths.conversations)
            files.sync_folder(paths.trash)

    with (
        patch.object(recovery, "sync_reclaimed", sync_reclaimed),
        patch.object(committer, "sync_reclaimed", sync_reclaimed),
    ):
        yield


SEEDS: dict[str, Seed] = {
    "unlink first": unlink_first,
    "no journal": no_journal,
    "no idempotence": no_idempotence,
    "statements not seen": only_exact,
    "torn line counts": torn_is_said,
    "not counted": uncounted,
    "no fsync": no_sync,
    "no folder sync": no_folder_sync,
    "ledger before read-back": done_before_read_back,
    "reclaim without re-hash": no_second_hash,
    "digest before gate": digest_before_gate,
    "torn tail kept": torn_tail_kept,
    "written in place": written_in_place,
    "journal goes first": journal_goes_first,
    "sync errors ignored": sync_errors_ignored,
    "place before trash": place_before_trash,
}


def catch(
    seed: Seed, campaigns: tuple[str, ...] = (*LOOKED_FOR,), scenarios: tuple[str, ...] = TRIED_ON, sparser: int = 1
) -> Caught:
    """Sow one bug and look for it with samples of the campaigns; `sparser` times fewer points. What ends in a traceback
    counts for nothing: then the bug no longer fits the code it is sown into."""
    caught = Caught()
    with seed():
        for name in campaigns:
            campaign, stride = LOOKED_FOR[name]
            for number, scenario in enumerate(scenarios):
                _look(caught, name, on_scenario(campaign, SCENARIO[scenario], stride * sparser, number))
                if caught.shown[name]:
                    break  # the campaign has proven that it sees this bug
        for scenario in scenarios if "power" in campaigns and sparser == 1 else ():
            if not any(caught.shown.values()):  # its moment is one operation long: every one is tried
                _look(caught, "power", on_scenario(power, SCENARIO[scenario], 1, 0))
    return caught


def _look(caught: Caught, name: str, tried: Tried) -> None:
    words = [found.wrong[0].split("\n")[0][:90] for found in tried.findings]
    shown = [row for row in words if not row.startswith("Traceback")]
    caught.tried[name] = caught.tried.get(name, 0) + tried.points
    caught.shown[name] = caught.shown.get(name, 0) + len(shown)
    caught.words = next(iter(shown), "") if not caught.words or caught.words.startswith("Traceback") else caught.words
    caught.words = caught.words or next(iter(words), "")


def table() -> list[str]:
    """Sow every bug, print what caught it; the names of those that nothing caught."""
    began, tried, missed = time.monotonic(), 0, []
    print("\nseeded: bugs sown into the code, and at how many of the points tried each campaign shows them")
    print(f"    {'bug':<26}" + "".join(f"{name:>14}" for name in LOOKED_FOR))
    for name, seed in SEEDS.items():
        caught = catch(seed)
        tried += sum(caught.tried.values())
        cells = [f"{caught.shown[each]} of {caught.tried[each]}" for each in LOOKED_FOR]
        print(f"    {name:<26}" + "".join(f"{cell:>14}" for cell in cells) + f"   {caught.words}", flush=True)
        missed += [] if any(caught.shown.values()) else [name]
    seconds = time.monotonic() - began
    print(f"  {len(SEEDS) - len(missed)} of {len(SEEDS)} bugs caught, {tried} points in {seconds:.0f} s")
    return missed
