"""How long the big table takes, as figures to compare: `python tests/bench/bench_gui_table.py`.

Absolute times depend on the machine; ratios should not: filling the table again costs the same for a hundred rows and
for half a million, and scrolling draws as many frames as a window in which nothing moves can draw at the most.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui_window import HEIGHT, WIDTH, Desk, open_desk

FRAMES = 30
ROUNDS = 5
BAR, GRIP = 6, 6  # where the grip of the bar is at first, from the right and from the top


def milliseconds(call: Callable[[], object], times: int = 1) -> float:
    """How long one call takes."""
    begun = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begun) * 1000 / times


def table_of(desk: Desk, count: int) -> tuple[Any, float, float]:
    """A table with so many rows, and what building and filling it took."""
    from gui.toolkit.columns import Column
    from gui.toolkit.table import BigTable

    columns = [Column("a", "", 24), Column("b", "File"), Column("c", "Folder"), Column("d", "Size", 80, role="mono")]
    columns += [Column(key, key, 60) for key in "efg"]
    table = BigTable(desk.look, columns, lambda row, column: (f"{row}.{column}", "text"))
    built = milliseconds(lambda: table.build(desk.page))
    shown = milliseconds(lambda: table.set_rows(range(count)))
    desk.frames(5)
    return table, built, shown


def filling(desk: Desk) -> None:
    """What it takes to fill a table, for three sizes of it."""
    figures: dict[int, float] = {}
    for count in (100, 100_000, 500_000):
        desk.fresh()
        table, built, shown = table_of(desk, count)
        place = iter(range(0, 10**9, 37))

        def again(table: Any = table, count: int = count, place: Iterator[int] = place) -> None:
            table.first = next(place) % count
            table.refresh()

        figures[count] = milliseconds(again, 50)
        same = milliseconds(table.refresh, 50)
        frame = milliseconds(lambda: desk.frames(1), 20)
        print(
            f"{count:>7,} rows: build {built:.1f} ms, first fill {shown:.2f} ms, "
            f"all cells new {figures[count]:.2f} ms, nothing new {same:.2f} ms, frame {frame:.1f} ms"
        )
        desk.clear()
    print(f"500,000 rows cost {figures[500_000] / figures[100]:.1f} times what 100 rows cost")


def frames_of(desk: Desk, act: Callable[[int], object]) -> tuple[float, float]:
    """Frames a second while something is done before each, and seconds of the processor for one frame."""
    begun, cpu = time.perf_counter(), time.process_time()
    for number in range(FRAMES):
        act(number)
        desk.frames(1)
    return FRAMES / (time.perf_counter() - begun), (time.process_time() - cpu) / FRAMES


def scrolling(desk: Desk) -> None:
    """A hundred thousand rows by the wheel and by the bar, in turns with an empty window, so that all see the same
    neighbours; medians."""
    found: dict[str, list[tuple[float, float]]] = {"empty window": [], "resting": [], "wheel": [], "bar": []}
    for _ in range(ROUNDS):
        desk.fresh()
        found["empty window"].append(frames_of(desk, lambda _: None))
        table, _, _ = table_of(desk, 100_000)
        found["resting"].append(frames_of(desk, lambda _: None))
        desk.point(table._pool[8].texts[1])
        seen = {table.first}

        def wheel(number: int, table: Any = table, seen: set[int] = seen) -> None:
            for down in (True, False):
                desk.hand.button(5 if number % 40 < 30 else 4, down)
            seen.add(table.first)

        found["wheel"].append(frames_of(desk, wheel))
        desk.dpg.set_y_scroll(table.item, 0.0)
        desk.frames(3)
        x, y = (int(part) for part in desk.dpg.get_viewport_pos())
        desk.move(x + WIDTH - BAR, y + GRIP)
        desk.button(1, True)

        def drag(number: int, x: int = x, y: int = y, table: Any = table, seen: set[int] = seen) -> None:
            desk.hand.move(x + WIDTH - BAR, y + GRIP + (HEIGHT - 2 * GRIP) * number // FRAMES)
            seen.add(table.first)

        found["bar"].append(frames_of(desk, drag))
        desk.button(1, False)
        print(f"  rows came by at {len(seen)} places, at the end the table was at row {table.first:,}")
        desk.clear()
    rates = {name: statistics.median(row[0] for row in rows) for name, rows in found.items()}
    costs = {name: statistics.median(row[1] for row in rows) for name, rows in found.items()}
    for name, rate in rates.items():
        print(
            f"{name:>13}: {rate:.0f} frames a second, {rate / rates['empty window']:.2f} of the empty window's; "
            f"{costs[name] * 1000:.2f} ms of the processor a frame"
        )


def main() -> None:
    """Print the figures."""
    begun = time.perf_counter()
    desk = open_desk()
    print(f"window open: {(time.perf_counter() - begun) * 1000:.0f} ms")
    if "scroll" not in sys.argv:
        filling(desk)
    scrolling(desk)
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
