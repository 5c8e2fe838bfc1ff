"""What reading a long conversation costs in the window: `python tests/bench/bench_gui_reader.py`.

Processor time of the interface thread. What a jump and a turn of the wheel cost should not grow with the conversation.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.base.result import Ok
from core.conversations.readable import HarvestedItem, ReadableConversation, ReadableTurn
from tests.gui_window import open_desk
from tests.made_home import make_home
from tests.panel_desk import Seat

WORDS = (
    "the session takes its clock when it is made",
    "a test hands in one that stands still",
    "`now()`",
    "時計",
    "часы",
)
CODE = "\n```python\ndef now(clock: Clock) -> float:\n    return clock.time()  # one clock\n```\n"


def made(turns: int, chance: random.Random) -> ReadableConversation:
    """A conversation of so many turns with code and items."""
    rows = []
    for number in range(1, turns + 1):
        words = " ".join(chance.choices(WORDS, k=chance.randrange(1, 20)))
        code = CODE if number % 5 == 0 else ""
        rows.append(ReadableTurn(number, "assistant" if number % 2 else "user", f"{words}\n{code}"))
    items = tuple(HarvestedItem("facts", "one clock", "facts.md", at, "", at) for at in range(1, turns, 40))
    return ReadableConversation("n", "Long", "Tool", "home", "/n", count=turns, turns=tuple(rows), items=items)


def main() -> None:
    """Print the figures."""
    from gui.views import reader as page
    from gui.views.reader_rows import places_of, script_of

    desk = open_desk(paints=False)
    desk.fresh()
    seat = Seat(desk, make_home(Path(tempfile.mkdtemp())))
    seat.settle()
    reader, chance = seat.panel.reading, random.Random(5)
    picture, took = reader.canvas._picture, list[float]()

    def timed() -> None:
        begun = time.thread_time()
        picture()
        took.append(1000 * (time.thread_time() - begun))

    reader.canvas._picture = timed  # type: ignore[method-assign]
    for turns in (100, 1_000, 10_000):
        talk = made(turns, chance)
        begun = time.thread_time()
        script = script_of(talk)
        cut = 1000 * (time.thread_time() - begun)
        page.read_script = lambda *_, talk=talk, script=script: Ok((talk, script))  # type: ignore[assignment]
        seat.panel.shell.read(name="n")
        seat.until(lambda: reader.talk is not None and not seat.panel.shell.busy())
        took.clear()
        desk.move(500, 450)
        for _ in range(200):
            desk.hand.button(5, True)
            desk.hand.button(5, False)
            desk.frames(1)
        wheel, pictures = median(took), len(took)
        took.clear()
        items = desk.items()
        for _ in range(40):
            reader.go_share(chance.random())
            desk.frames(2)
        jump, items = median(took), desk.items() - items
        begun = time.thread_time()
        found = len(places_of(script, "clock"))
        sought = 1000 * (time.thread_time() - begun)
        print(
            f"{turns:>7,} turns, {reader.sheet.heights.total:>9,} px: pieces {cut:7.1f} ms (on a worker), "
            f"wheel {wheel:.1f} ms a picture, {pictures} pictures in 200 turns of it, jump {jump:.1f} ms, "
            f"{items} items made, {found:,} places found in {sought:.1f} ms (on a worker)"
        )
    seat.leave()
    desk.clear()


if __name__ == "__main__":
    main()
