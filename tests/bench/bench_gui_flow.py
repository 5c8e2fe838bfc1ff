"""How long the list of wrapped texts takes, as figures to compare: `python tests/bench/bench_gui_flow.py`.

Absolute times depend on the machine; what should not grow with the number of rows is a jump to another place.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui_window import open_desk

WORDS = "Retry only idempotent requests; POST is retried only with an Idempotency-Key. "


def main() -> None:
    """Print the figures."""
    desk = open_desk()
    desk.fresh()
    from gui.toolkit.flow import FlowList
    from gui.toolkit.flow_rows import FlowRow
    from gui.toolkit.layout import box

    flow = FlowList(desk.look)
    flow.build(box(desk.look, desk.page, width=640))
    desk.frames(3)
    for count in (100, 10_000, 100_000):
        rows = [FlowRow(at, f"{at} {WORDS * (at % 5)}", f"line {at}", "tag") for at in range(count)]
        begun = time.perf_counter()
        flow.set_rows(rows)
        shown = (time.perf_counter() - begun) * 1000
        desk.frames(3)
        items, begun = desk.items(), time.perf_counter()
        for jump in range(50):
            flow.bring(jump * 7919 % count)
            flow.tick()
        jumped = (time.perf_counter() - begun) * 20
        print(f"{count:>7} rows: shown in {shown:.1f} ms, a jump {jumped:.2f} ms, items made {desk.items() - items}")


if __name__ == "__main__":
    main()
