"""What the panel costs beside what it cannot do without: an empty window, a plain list in Python, a frame a second."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.knowledge.ledger import write_ledger
from tests.bench import Row, seconds_of, tell
from tests.gui_window import Desk, open_desk
from tests.panel_desk import Seat, harvested_at, workspace_at
from tests.panel_endurance import LONG_FRAME, converse, model_home, watched_frames
from tests.test_gui_app import ROOT, environment

STARTS = 5
ENTRIES = 100_000
REFRESHES = 1000
WARM_UP = 400
HARVESTS = 100
STARTING = 6  # the frames in which a panel is built, with its letters
VIEWS = ("conversations", "knowledge", "files", "settings")


def figures() -> Iterator[Row]:
    desk = open_desk()
    for part in (start_figures, table_figures, idle_figures, refresh_figures, ledger_figures, harvest_figures):
        with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as folder:
            yield from part(desk, Path(folder))


# --- the program -----------------------------------------------------------------------------------------------------


def probe(folder: Path, kind: str, **more: str) -> dict[str, float]:
    """One start of the program on the demo home, harvested; what it told, and `took`: seconds from its start."""
    words = ["--home", str(folder / "home")] if kind not in ("floor", "resting") else []
    command = [sys.executable, "-m", "tests.bench.panel_probe", kind, *words]
    # As an installed program starts: compiled, also where this run keeps nothing compiled beside the source.
    more = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled"), **more}
    begun = time.monotonic()
    done = subprocess.run(
        command, env=environment(folder, **more), cwd=ROOT, capture_output=True, text=True, check=True, timeout=90
    )
    told: dict[str, float] = json.loads(done.stdout)
    return {**told, "took": told.get("at", begun) - begun}


def start_figures(_desk: Desk, folder: Path) -> Iterator[Row]:
    """A new process each time; the three kinds take turns and see the same neighbours."""
    harvested_at(folder)
    took: dict[str, list[float]] = {"floor": [], "first": [], "shown": []}
    for kind in took:
        probe(folder, kind)  # compiles what is not compiled yet
    for _ in range(STARTS):
        for kind, seconds in took.items():
            seconds.append(probe(folder, kind)["took"])
    floor, first, shown = (statistics.median(seconds) for seconds in took.values())
    tell([floor, first, shown])
    yield "start to first frame / to that of a window with one text", first / floor, 6
    yield "start to the demo home on the screen / to that of a window with one text", shown / floor, 9


def idle_figures(_desk: Desk, folder: Path) -> Iterator[Row]:
    harvested_at(folder)
    floor, hidden = probe(folder, "resting"), probe(folder, "idle", PROBE_HIDE="1")
    found = {view: probe(folder, "idle", PROBE_VIEW=view) for view in VIEWS}
    tell([floor["cpu"], *(row["cpu"] for row in found.values()), hidden["cpu"]])
    for view, row in found.items():
        yield f"frames a second while idle, {view}", row["frames"], 0.2
        yield f"per cent of a core while idle, {view}", 100 * row["cpu"], 0.3
        yield "the same / a window with one text that draws a frame a second", row["cpu"] / floor["cpu"], 3
    yield "frames a second while hidden", hidden["frames"], 0
    yield "per cent of a core while hidden", 100 * hidden["cpu"], 1


def table_figures(_desk: Desk, folder: Path) -> Iterator[Row]:
    """From the start of the program to the rows of a large ledger, in seconds of the processor; a new process each
    time, in turns."""
    write_ledger(workspace_at(folder).paths, entries())
    took: dict[str, list[float]] = {"floor": [], "figures": [], "rows": [], "table": []}
    for kind in took:
        probe(folder, kind)  # compiles what is not compiled yet, and reads titles of files that are not there
    most = 0.0
    for _ in range(STARTS):
        for kind, seconds in took.items():
            told = probe(folder, kind)
            seconds.append(told["cpu"])
            most = max(most, told["most"])
    floor, told, rows, whole = (statistics.median(seconds) for seconds in took.values())
    tell([floor, told, rows, whole, most])
    yield f"start to the figures of {ENTRIES:,} entries / to a window with one text, processor", told / floor, 10
    yield f"start to the rows of {ENTRIES:,} entries / to a window with one text, processor", rows / floor, 10
    yield f"start to {ENTRIES:,} entries read whole / to a window with one text, processor", whole / floor, 25
    yield f"MB of memory at most, {ENTRIES:,} entries", most, 250


# --- refreshing ------------------------------------------------------------------------------------------------------


def refresh_figures(desk: Desk, folder: Path) -> Iterator[Row]:
    """All views in turns, each with a new reading of the store."""
    desk.fresh()
    seat = Seat(desk, harvested_at(folder))
    seat.settle()

    def refresh(times: int) -> None:
        for number in range(times):
            seat.panel.shell.run(f"view.{VIEWS[number % len(VIEWS)]}")
            seat.panel.shell.refresh()
            desk.frames(1)
            if number % 10 == 9:
                seat.until(seat.settled)
        seat.settle()

    refresh(WARM_UP)
    items, before = desk.items(), held()
    refresh(REFRESHES)
    after = held()
    yield f"items made in {REFRESHES} refreshes", desk.items() - items, 0
    yield f"KB of memory a refresh, over {REFRESHES}", (after["memory"] - before["memory"]) / REFRESHES, 0.5
    yield "descriptors and threads more afterwards", more(before, after), 0
    seat.leave()
    desk.clear()


def held() -> dict[str, int]:
    """What this process holds on to: memory (KB, after everything that can be given back was), descriptors, threads."""
    gc.collect()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGESIZE") // 1024,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
    }


def more(before: dict[str, int], after: dict[str, int]) -> int:
    return sum(max(0, after[name] - before[name]) for name in ("descriptors", "threads"))


def harvest_once(seat: Seat, number: int) -> None:
    """One conversation, from its dry run to its result."""
    converse(seat.workspace, 1, begin=100_000 + number)
    run = seat.panel.run
    seat.panel.shell.run("harvest")
    seat.until(lambda: run.now.phase == "planned")
    seat.panel.harvest.dialog.confirm()
    seat.until(lambda: run.now.phase == "ended")
    assert run.now.report is not None and run.now.report.harvested == 1
    seat.panel.harvest.dialog.confirm()
    seat.settle()


def harvest_figures(desk: Desk, folder: Path) -> Iterator[Row]:
    """One conversation each, from the dry run to its result."""
    desk.fresh()
    with model_home(folder, jobs=1) as (workspace, _model):
        seat = Seat(desk, workspace)
        seat.settle()
        for number in range(WARM_UP // 10):
            harvest_once(seat, number)
        items, before = desk.items(), held()
        for number in range(HARVESTS):
            harvest_once(seat, HARVESTS + number)
        after = held()
        yield f"items made in {HARVESTS} harvests", desk.items() - items, 0
        yield f"KB of memory a harvest, over {HARVESTS}", (after["memory"] - before["memory"]) / HARVESTS, 60
        yield "descriptors and threads more afterwards", more(before, after), 0
        seat.leave()
    desk.clear()


# --- a large ledger --------------------------------------------------------------------------------------------------


def entries() -> dict[str, dict[str, Any]]:
    """Entries with what a harvest leaves in one: 1.1 KB each."""
    chance = random.Random(1)
    names, statuses = ["会議", "retry", "заметки", "release"], ["harvested"] * 14 + ["harvest-failed", "too-large"]
    kinds = ("decisions", "facts", "files", "playbooks", "questions", "tasks_done", "tasks_open")
    made = {}
    for number in range(ENTRIES):
        day = f"2026-{chance.randrange(1, 13):02d}-{chance.randrange(1, 28):02d}"
        project, unique = f"/home/someone/src/shop-{chance.randrange(320)}", f"{chance.getrandbits(256):064x}"
        made[f"{number:064x}"] = {
            "path": f"/home/someone/.claude/projects/{project[1:].replace('/', '-')}/{unique[:36]}-{number:06d}.jsonl",
            "status": chance.choice(statuses),
            "at": f"{day}T12:{number % 60:02d}:00.{chance.randrange(10**6):06d}+00:00",
            "items": {kind: chance.randrange(0, 3) for kind in kinds},
            "model": "qwen3:8b", "provider": "ollama", "format": "claude_code", "source": "claude_code",
            "run": f"202611{number // 4000:02d}T143436-abc123", "date": day, "deleted": False,
            "bytes": chance.randrange(500, 900_000), "turns": chance.randrange(2, 300),
            "project": project, "project_root": project, "project_key": f"remote:github.com/someone/{project[18:]}",
            "title": f"{chance.choice(names)}: what became of order {unique[:30]} in the queue of the shop",
            "turns_sha256": unique, "words_sha256": unique[::-1],
        } | ({"end": f"not answered: {unique * 2}"} if number % 5 < 2 else {})  # fmt: skip
    return made


def ledger_figures(desk: Desk, folder: Path) -> Iterator[Row]:
    """A hundred thousand entries: everything a user does with them."""
    workspace, made = workspace_at(folder), entries()
    write_ledger(workspace.paths, made)
    desk.fresh()
    frames: list[float] = []
    with watched_frames(desk, frames):
        desk.frames(3)
        frames.clear()
        items = desk.items()
        begun = time.perf_counter()
        seat = Seat(desk, workspace)
        view: Any = seat.panel.workbench.views["conversations"]
        seat.until(lambda: hasattr(view, "table") and len(view.table.rows) == ENTRIES)
        opened = time.perf_counter() - begun
        seat.settle()
        reading = frames[STARTING:]
        begun = time.perf_counter()
        parsed = json.loads(workspace.paths.ledger.read_bytes())["entries"]
        plain = [(key, row["path"], row["at"]) for key, row in parsed.items()]
        plain.sort(key=lambda row: row[2], reverse=True)
        floor = time.perf_counter() - begun
        tell([opened, floor])
        name = f"{ENTRIES:,} entries"
        yield f"{name}: its rows in the table / json.loads and one sort of them", opened / floor, 8
        yield f"{name}: items more than an empty window", desk.items() - items, 6000
        usual = frame_of(desk, frames)
        yield f"{name}: longest frame while they are read / usual", max(reading) / usual, 6
        made_before = desk.items()

        def until_shown(act: Callable[[], object]) -> float:
            before, begun = view.table.rows, time.perf_counter()
            act()
            seat.until(lambda: view.table.rows is not before)
            return time.perf_counter() - begun

        filtered = [
            until_shown(lambda wanted=wanted: view._only(*wanted)) for wanted in (["too-large"], [], ["harvested"], [])
        ]
        states = [row["status"] for row in parsed.values()]
        plain_filter = seconds_of(lambda: [at for at, state in enumerate(states) if state == "too-large"])
        tell([filtered, [plain_filter, usual]])
        # Five frames belong to it in any case: one to ask, one to show, three that the test draws.
        yield f"{name}: filter / plain list and 5 frames", statistics.median(filtered) / (plain_filter + 5 * usual), 4
        scrolled = scroll(desk, view, frames)
        yield f"{name}: a frame while scrolling / while resting", scrolled / usual, 2
        frames.clear()
        desk.press("F5")
        desk.press("Down")
        seat.settle()
        long = sum(took > LONG_FRAME * usual for took in frames)
        yield f"{name}: stutters in reading again and selecting, of {len(frames)} frames", long, 0
        frames.clear()
        write_ledger(workspace.paths, {**made, "f" * 64: made[f"{1:064x}"]})
        seat.panel.shell.refresh()
        seat.until(lambda: len(view.table.rows) == ENTRIES + 1)
        seat.settle()
        yield f"{name}: longest frame while one more is read / usual", max(frames) / usual, 6
        yield f"{name}: items made meanwhile", desk.items() - made_before, 60
    seat.leave()
    desk.clear()


def frame_of(desk: Desk, frames: list[float]) -> float:
    """What a frame costs in which nothing happens."""
    frames.clear()
    desk.frames(30)
    return statistics.median(frames)


def scroll(desk: Desk, view: Any, frames: list[float]) -> float:
    """The usual frame while all rows are new in each."""
    frames.clear()
    for step in range(60):
        desk.dpg.set_y_scroll(view.table.item, step * 50_021 % 2_700_000)
        desk.frames(1)
    return statistics.median(frames)
