"""A harvest that one can watch, and what it gained: first as words, rows and pieces, plain functions; then the two
parts of the dialog that show them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dearpygui.dearpygui as dpg

from core.base.config import Config
from core.base.figures import age, dollars, tokens
from core.base.markdown import without_emphasis
from core.harvest.report import HarvestReport
from gui.harvest_run import BROKEN, LEFT, READ, READING, WAITING, Came, Run, Talk, Watch
from gui.state import Activity
from gui.toolkit.charts import Legend, Part, SegmentBar
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.icons import icon
from gui.toolkit.layout import Figures, Fold, box, lowered, space
from gui.toolkit.messages import begun
from gui.toolkit.table import BigTable, Cell, Column
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text
from gui.views.looks import CATEGORIES, category_parts, day_words, joined, left_words, tile

TALL = 436
PIECES = 240
"""This many pieces the ribbon has at the most; of more conversations a piece stands for several."""
STATES: Mapping[str, tuple[str, str, str]] = {
    READ: ("circle-check", "harvested", "read"),
    READING: ("loader", "accent", "being read"),
    BROKEN: ("circle-x", "failed", "failed"),
    LEFT: ("hourglass", "muted", "left for another run"),
    WAITING: ("circle-dashed", "hint", "waiting"),
}
PIECE_COLORS = {READ: "accent@65", READING: "accent", BROKEN: "failed", LEFT: "edited", WAITING: "pressed"}
COLUMNS = (
    Column("icon", "", 26, sortable=False),
    Column("tool", "", 30, role="mono", sortable=False, color="hint"),
    Column("name", "Conversation", 0, 2.2, sortable=False),
    Column("project", "Project", 0, 0.8, color="hint", sortable=False, least=600),
    Column("day", "Day", 58, color="hint", sortable=False, least=460),
    Column("came", "Result", 108, sortable=False, color="muted"),
)


NO_PROJECT = "no project"


class Piece(NamedTuple):
    """One piece of the ribbon: how wide it is beside the others, and in which state."""

    weight: float
    state: str


def pieces(watch: Watch) -> list[Piece]:
    """One piece a conversation, as wide as what is to be read of it; those that are through stand first."""
    order = {READ: 0, LEFT: 0, BROKEN: 0, READING: 1, WAITING: 2}
    talks = sorted(watch.talks.values(), key=lambda talk: order[talk.state])
    step = max(1, -(-len(talks) // PIECES))
    found = []
    for at in range(0, len(talks), step):
        some = talks[at : at + step]
        state = BROKEN if any(talk.state == BROKEN for talk in some) else some[0].state
        found.append(Piece(sum(max(talk.bytes, 1) for talk in some) ** 0.5, state))  # a giant leaves room for others
    return found


def watched(watch: Watch) -> list[Talk]:
    """The conversations as they are listed: those being read, then what is through with the newest first, then those
    that wait."""
    order = {READING: 0, WAITING: 2}
    return sorted(watch.talks.values(), key=lambda talk: (order.get(talk.state, 1), -talk.order))


def talk_cell(talk: Talk, column: int) -> Cell:
    """What stands in one cell of that list."""
    sign, color, word = STATES[talk.state]
    name = COLUMNS[column].key
    if name == "icon":
        return icon(sign), color
    if name == "came":
        if talk.state == READ:
            nothing = "nothing new" if talk.outcome.endswith(("item", "items")) else talk.outcome
            return (f"+{talk.lines}", "text") if talk.lines else (nothing, "hint")
        return (f"part {talk.calls + 1}", "accent") if talk.state == READING else (word.partition(",")[0], color)
    of = talk.called
    words = {"tool": tile(of.tool), "name": talk.title, "project": of.project_name, "day": day_words(of.day)}
    return words[name], "muted" if talk.state == WAITING else "text"


def talk_tip(talk: Talk) -> str:
    """What the tooltip of a row says."""
    return "\n".join(part for part in (talk.title, talk.called.tool_title, talk.name, talk.outcome) if part)


def state_words(state: str, number: int) -> str:
    """`1 failed, stays where it is`: how many are in a state."""
    return f"{number:,} {STATES[state][2]}" + (f", {stay_words(number)}" if state == BROKEN else "")


def took_words(seconds: float) -> str:
    """`5 min 12 s`."""
    if seconds < 1:
        return "under a second"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def spending_words(watch: Watch, activity: Activity | None, run: Run, config: Config) -> tuple[str, str]:
    """What the run has cost so far, as a large figure and the line below it."""
    if config.provider == "offline":
        return "free", "read by rules on this computer; nothing is sent anywhere"
    spent = watch.sent + watch.received
    cap = f"  ·  cap {tokens(config.max_run_tokens)} tokens" if config.max_run_tokens else ""
    about = f"{tokens(watch.sent)} tokens in, {tokens(watch.received)} out{cap}"
    cost = activity.price if activity is not None else run.report.spent if run.report is not None else None
    if not cost:
        return f"{tokens(spent)} tokens", about
    planned = run.plan.price if run.plan is not None else None
    return dollars(cost), (f"of about {dollars(planned)}  ·  " if planned else "") + about


def best_rows(best: Sequence[Came], now: float) -> tuple[FlowRow, ...]:
    """The best new lines as they come, each with its conversation and why it is worth a look."""
    return tuple(
        FlowRow(
            ("came", at, came.line.text), without_emphasis(came.line.text),
            joined(came.talk.title, came.line.why, _ago(came.at, now)),
            CATEGORIES[came.line.category].icon, CATEGORIES[came.line.category].color,
        )
        for at, came in enumerate(best)
    )  # fmt: skip


def _ago(at: float, now: float) -> str:
    return "just now" if now - at < 5 else f"{age(at, now)} ago"


def gained_rows(run: Run) -> tuple[FlowRow, ...]:
    """What stands in the files since a run, the best lines first, with their conversations."""
    if run.report is None:
        return ()
    came = {row.line.text: row for row in run.watch.best} if run.watch is not None else {}
    rows = []
    for at, (category, words, number) in enumerate(run.report.lines):
        row = came.get(words)
        said = f"said in {number:,} conversations" if number > 1 else ""
        about = (row.talk.title, row.talk.called.project_name, row.line.why) if row is not None else ()
        look = CATEGORIES[category]
        meta = joined(*about, said) or look.noun
        score = (row.line.score if row is not None else 0) + 3 * (number > 1)
        rows.append((-score, FlowRow(("gained", at), without_emphasis(words), meta, look.icon, look.color)))
    return tuple(row for _, row in sorted(rows, key=lambda pair: pair[0]))


def by_project(watch: Watch | None) -> list[Part]:
    """How many new lines each project got, most first."""
    found: Counter[str] = Counter()
    for talk in watch.talks.values() if watch is not None else ():
        if talk.lines:
            found[talk.called.project_name or NO_PROJECT] += talk.lines
    return [Part(name, number, "accent", f"{number:,}") for name, number in found.most_common(8)]


def figures(run: Run, digest: int) -> list[tuple[str, str]]:
    """The numbers at the top of a result: number and words."""
    report = run.report
    if report is None:
        return []
    new, again = len(report.lines), run.watch.again if run.watch is not None else 0
    found = [
        (f"{new:,}", "new bullet" if new == 1 else "new bullets"),
        (f"{report.harvested:,}", "conversation read" if report.harvested == 1 else "conversations read"),
    ]
    if again:
        found.append((f"{again:,}", "said again, now surer"))
    if report.spent:
        planned = run.plan.price if run.plan is not None else None
        found.append((dollars(report.spent), f"spent, planned {dollars(planned)}" if planned else "spent"))
    elif report.input_tokens or report.output_tokens:
        found.append((tokens(report.input_tokens + report.output_tokens), "tokens"))
    if digest or run.digest:
        found.append((f"{run.digest:,} → {digest:,}" if digest != run.digest else f"{digest:,}", "bytes of digest"))
    return found


def nothing_words(report: HarvestReport) -> str:
    """Why a run gave no line. Of what nobody has read, nobody knows what it says."""
    if report.failed and not report.harvested:
        first = report.errors[0].message if report.errors else ""
        return "No conversation was read" + (f": {first}" if first else ".")
    return "Nothing new: what these conversations say is in your files already, or was not worth keeping."


def stay_words(number: int) -> str:
    """What so many conversations do that nobody took away."""
    return "stays where it is" if number == 1 else "stay where they are"


class Ribbon:
    """The pieces of `pieces`, as wide as `container`."""

    def __init__(self, look: Look, parent: int, container: int, height: float = 14) -> None:
        self._look, self._height, self._width = look, height, 0.0
        self._pieces: Sequence[Piece] = ()
        self.item = int(dpg.add_drawlist(10, look.px(height), parent=parent))
        self._drawn = [int(dpg.draw_rectangle((0, 0), (0, 0), parent=self.item, show=False)) for _ in range(PIECES)]
        look.follow(container, self._fit)
        look.on_change(self.draw)

    def set(self, found: Sequence[Piece]) -> None:
        """Show these."""
        self._pieces = found
        self.draw()

    def _fit(self, width: float, _height: float) -> None:
        self._width = width
        self.draw()

    def draw(self) -> None:
        """Put every piece in its place."""
        if self._width <= 0:
            return
        look, height = self._look, self._look.px(self._height)
        dpg.configure_item(self.item, width=int(self._width), height=height)
        total = sum(piece.weight for piece in self._pieces) or 1.0
        gap, x = (look.px(2) if len(self._pieces) < 120 else 1), 0.0
        for number, item in enumerate(self._drawn):
            if number >= len(self._pieces):
                dpg.configure_item(item, show=False)
                continue
            piece = self._pieces[number]
            wide = self._width * piece.weight / total
            color = look.rgba(PIECE_COLORS[piece.state])
            right = max(x + wide - gap, x + 1)
            dpg.configure_item(
                item, show=True, pmin=(x, 0), pmax=(right, height), fill=color, color=(0, 0, 0, 0),
                rounding=look.px(2) if right - x > 6 else 0,
            )  # fmt: skip
            x += wide


class TwoSides:
    """Two boxes beside each other that share the width of their parent."""

    def __init__(self, look: Look, parent: int, share: float, height: float) -> None:
        self._look, self._share, self._height = look, share, height
        holder = self._holder = box(look, parent, "clear", height=height)
        row = int(dpg.add_group(horizontal=True, parent=holder))
        self.left = box(look, row, "well", width=400, height=-1)
        self.right = box(look, row, "clear", width=300, height=-1)
        look.follow(holder, self._fit)

    def grow(self, more: float) -> None:
        """This many unscaled pixels higher than at first, in a window that has room for them."""
        self._look.size(self._holder, height=self._height + more)

    def _fit(self, width: float, _height: float) -> None:
        left = int((width - self._look.px(8)) * self._share)
        dpg.configure_item(self.left, width=left)
        dpg.configure_item(self.right, width=int(width - self._look.px(8) - left))


class WatchPart:
    """The run while it goes on."""

    def __init__(self, look: Look, part: int) -> None:
        self._look = look
        self._talks: list[Talk] = []
        self._shown: tuple[object, ...] = ()
        self._drawn_at = 0.0
        self._ribbon = Ribbon(look, part, part_width := box(look, part, "clear", height=1))
        dpg.move_item_up(part_width)
        line = int(dpg.add_group(horizontal=True, parent=part))
        self._states = {
            state: (text(look, line, "■", "small", color), text(look, line, "", "small", "muted"))
            for state, color in PIECE_COLORS.items()
        }
        self._left = text(look, line, "", "small", "muted")
        self.sides = sides = TwoSides(look, part, 0.52, TALL)
        self.table = BigTable(look, COLUMNS, lambda row, column: talk_cell(self._talks[row], column),
                              tip=lambda row: talk_tip(self._talks[row]))  # fmt: skip
        self.table.build(sides.left)
        top = box(look, sides.right, "well", height=226)
        row = int(dpg.add_group(horizontal=True, parent=top))
        self._number = text(look, row, "0", "number")
        self._number_words = text(look, lowered(look, row, 14), "", "small", "muted", wrap=True)
        self._bar = SegmentBar(look, top, top, height=8)
        self._legend = Legend(look, top, 6)
        space(look, top, 4)
        self._cost = text(look, top, "", "strong")
        self._cost_words = text(look, top, "", "small", "hint", wrap=True)
        best = box(look, sides.right, "well")
        text(look, best, "Best new bullets, as they come", "small", "hint")
        self.best = FlowList(look, role="small")
        self.best.build(best)

    def set(self, run: Run, activity: Activity | None, config: Config) -> None:
        """Show how far it is; does nothing while there is no news."""
        watch = run.watch
        if watch is None:
            return
        now = time.monotonic()
        seen = (id(watch), watch._news, int(now // 10))
        if seen == self._shown:
            return
        self._shown = seen
        stopping = activity is not None and activity.stopping
        left = "stopping after this step" if stopping else left_words(watch.left)
        self._ribbon.set(pieces(watch))
        for state, (square, words) in self._states.items():
            for item in (square, words):
                dpg.configure_item(item, show=watch.count(state) > 0)
            dpg.set_value(words, f"{state_words(state, watch.count(state))}  ")
        dpg.set_value(self._left, left)
        self._talks = watched(watch)
        self.table.set_rows(range(len(self._talks)), keep_place=True)
        new = sum(watch.counts.values())
        dpg.set_value(self._number, f"{new:,}")
        again = f", {watch.again:,} said again" if watch.again else ""
        dpg.set_value(self._number_words, f"new {'bullet' if new == 1 else 'bullets'}{again}")
        parts = category_parts(watch.counts)
        self._bar.set(parts, new)
        self._legend.set(sorted(parts, key=lambda part: -part.value)[:6])
        cost, about = spending_words(watch, activity, run, config)
        dpg.set_value(self._cost, cost)
        dpg.set_value(self._cost_words, about)
        self.best.set_rows(best_rows(watch.best[:20], now), keep_place=True)


class GainPart:
    """What a run gained."""

    def __init__(self, look: Look, part: int) -> None:
        self.figures = Figures(look, part, 5)
        self._bar_holder = box(look, part, "clear", height=10)
        self._bar = SegmentBar(look, self._bar_holder, self._bar_holder, height=10)
        self._words = text(look, part, "", "small", "muted", wrap=True)
        space(look, part, 1)
        self.sides = sides = TwoSides(look, part, 0.64, 292)
        self.best = FlowList(look)
        self._head = text(look, sides.left, "", "strong", "muted")
        self.best.build(sides.left)
        self.nothing = text(look, sides.left, "", "text", "hint", wrap=True)
        self.side = box(look, sides.right, "well", scroll=True)
        self._by_project = int(dpg.add_group(parent=self.side))
        text(look, self._by_project, "By project", "strong", "muted")
        self._projects = Legend(look, self._by_project, 8)
        space(look, self._by_project, 4)
        text(look, self.side, "The conversations", "strong", "muted")
        self.fold = Fold(look, part)

    def set(self, run: Run, digest: int) -> None:
        """Show it."""
        report = run.report
        if report is None:
            return
        self.figures.set([] if run.undone else figures(run, digest))
        counts: Counter[str] = Counter(category for category, _, _ in report.lines)
        parts = [] if run.undone else category_parts(counts)
        self._bar.set(parts, sum(counts.values()))
        dpg.set_value(self._words, "  ·  ".join(f"{part.label} {part.words}" for part in parts))
        rows = () if run.undone else gained_rows(run)
        self.best.set_rows(rows)
        dpg.configure_item(self.best.holder, show=bool(rows))
        dpg.set_value(self._head, "Best bullets first" if rows else "What happened")
        said = "Its bullets have left your files." if run.undone else nothing_words(report)
        dpg.set_value(self.nothing, "" if rows else said)
        projects = [] if run.undone else by_project(run.watch)
        self._projects.set(projects)
        dpg.configure_item(self._by_project, show=any(part.label != NO_PROJECT for part in projects))
        found = [] if run.undone else [*map(str, report.errors[:50]), *report.notes]
        known = 1 if len(found) > 1 and report.failed and not report.harvested else 0  # `nothing_words` says the first
        more = f"   and {len(found) - 1:,} more" if len(found) > 1 else ""
        self.fold.set(f"{begun(found[known])}{more}" if found else "", found)
