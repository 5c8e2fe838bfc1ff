"""How long the big table takes, as figures to compare: `python tests/bench/bench_gui_table.py`.

Absolute times depend on the machine; the ratio at the end should not: filling the table again costs the same for a
hundred rows and for half a million.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui_window import open_desk


def milliseconds(call: Callable[[], object], times: int = 1) -> float:
    """How long one call takes."""
    begun = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begun) * 1000 / times


def main() -> None:
    """Print the figures."""
    begun = time.perf_counter()
    desk = open_desk()
    desk.fresh()
    print(f"window open: {(time.perf_counter() - begun) * 1000:.0f} ms")
    from gui.toolkit.columns import Column
    from gui.toolkit.table import BigTable

    columns = [Column("a", "", 24), Column("b", "File"), Column("c", "Folder"), Column("d", "Size", 80, role="mono")]
    columns += [Column(key, key, 60) for key in "efg"]
    figures: dict[int, float] = {}
    for count in (100, 100_000, 500_000):
        table = BigTable(desk.look, columns, lambda row, column: (f"{row}.{column}", "text"))
        built = milliseconds(lambda table=table: table.build(desk.page))
        shown = milliseconds(lambda table=table, count=count: table.set_rows(range(count)))
        desk.frames(5)
        place = iter(range(0, 10**9, 37))

        def again(table: BigTable = table, count: int = count, place: Iterator[int] = place) -> None:
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
        desk.fresh()
    print(f"500,000 rows cost {figures[500_000] / figures[100]:.1f} times what 100 rows cost")
    desk.clear()
    settled = time.perf_counter() + 2
    while time.perf_counter() < settled:
        desk.loop.step()
    cpu, frames, begun = time.process_time(), desk.loop.frames, time.perf_counter()
    while time.perf_counter() - begun < 6:
        desk.loop.step()
    seconds = time.perf_counter() - begun
    print(
        f"idle: {(desk.loop.frames - frames) / seconds:.1f} frames/s, {(time.process_time() - cpu) / seconds:.1%} CPU"
    )
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
