"""The first view: a year of conversations and what they taught, a strip of days that zooms, what is known by project,
and the day at hand. A click on anything filters all of it; Esc shows everything again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import count, dollars, tokens
from core.base.result import Ok, Result
from core.commands.panel.timeline import Line, RunCost, Talk, Timeline, costs, lines_now, timeline
from core.commands.workspace import Workspace
from gui.shell import GATHER, Shell
from gui.state import State
from gui.toolkit.charts import Bars, SegmentBar
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.drawing import Drawing
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.layout import box
from gui.toolkit.letters import LETTERS
from gui.toolkit.messages import EmptyState
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text
from gui.views.list_view import the_same
from gui.views.looks import CATEGORIES, category_parts
from gui.views.timeline import rows as year
from gui.views.timeline.treemap import TreeMap

SIDE, NARROW = 296, 800
"""The width of the column with the day, and below which width of the view it stands under the drawings."""
YEAR, YEAR_HEAD, STRIP, MAP, MAP_LEAST = 178, 56, 250, 170, 120
MENU_ROWS = 14
FILTERS = {
    "tool": ("All tools", "terminal", "Only one tool"),
    "project": ("All projects", "folder", "Only one project"),
    "category": ("All categories", "shapes", "Only bullets of one category"),
}


class TimelineView:
    """Conversations and lines by day."""

    name = "timeline"
    keys = (
        ("Left, Right", "The day before, the day after"),
        ("Up, Down", "A conversation of the day"),
        ("Plus, Minus", "Zoom the strip"),
        ("Enter", "Show the conversation"),
        ("Esc", "Show everything again"),
    )

    @staticmethod
    def gather(workspace: Workspace, before: tuple[Line, ...] | None) -> tuple[Line, ...]:
        """Every line of the files with its day; on a worker."""
        return lines_now(workspace, before)

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.wish = year.Wish()
        self.time = Timeline()
        self.runs: Sequence[RunCost] = ()
        self._harvests: Sequence[str] = ()
        self.talks: list[Talk] = []
        self.days: dict[date, year.Sum] = {}
        self.day: tuple[date, date] | None = None  # the days that the list is of, as they were chosen
        self._seen: tuple[Any, ...] = ()
        self._ticket = 0
        self._under: tuple[str, Any] | None = None  # what is under the mouse: "day" and its days, or a part of the map
        self._places: list[tuple[float, float, float, float, str, Any]] = []  # what a click on the strip or map means
        self._bars: list[year.Bar] = []
        self._empty: bool | None = None
        self._narrow: bool | None = None
        self._room = 9999.0  # the width of the view in unscaled pixels
        self._cards: dict[int, int] = {}  # the card that each drawing stands in

    # --- items ---

    def build(self, parent: int) -> None:
        """Make the drawings, the column of the day, and the page for a home without a conversation."""
        look = self._look
        line = look.theme(int(dpg.add_group(horizontal=True, parent=parent)), "chips")
        self._line = line
        self.filters = {kind: Button(look, line, every, partial(self._choose, kind), icon=picture, tip=tip)
                        for kind, (every, picture, tip) in FILTERS.items()}  # fmt: skip
        self.clear = Button(look, line, "Show everything", self.reset, icon="x", kind="link")
        self.ranges = {
            name: Button(look, line, name, partial(self._range, days), kind="tab", tip=f"The strip shows {name}")
            for name, days in year.RANGES.items()
        }
        self._menu = Menu(look, most=MENU_ROWS)
        self._shell.layers.append(self._menu.key)
        self._page = look.window(int(dpg.add_child_window(parent=parent, border=False, width=-1, height=-1)))
        look.theme(self._page, "clear")
        self._row = int(dpg.add_group(horizontal=True, parent=self._page))
        self._drawings = box(look, self._row, "clear", width=600, height=0)
        self.year = self._card(YEAR, self._draw_year)
        self.strip = self._card(STRIP, self._draw_strip)
        self._tiles = TreeMap(look)
        self.map = self._card(MAP, self._draw_map)
        self._side = box(look, self._row, "card", width=SIDE)
        self._title = text(look, self._side, "", "heading", wrap=True)
        self._sums = text(look, self._side, "", "small", "muted", wrap=True)
        self._bar = SegmentBar(look, self._side, self._side, height=8)
        self._categories = text(look, self._side, "", "small", "muted", wrap=True)
        self._list_holder = box(look, self._side, "clear", height=200)
        self.list = FlowList(look, on_select=self._follow, on_open=self._open)
        self.list.build(self._list_holder)
        text(look, self._side, "What harvests cost", "strong", "muted")
        self._cost = text(look, self._side, "", "number")
        self._cost_words = text(look, self._side, "", "small", "muted", wrap=True)
        self._cost_bars = Bars(look, self._side, self._side, count=30, height=34)
        self._models = text(look, self._side, "", "small", "hint", wrap=True)
        handlers = look.own(int(dpg.add_handler_registry()))
        dpg.add_mouse_move_handler(parent=handlers, callback=lambda: look.jobs.post(self._moved))
        dpg.add_mouse_click_handler(dpg.mvMouseButton_Left, parent=handlers, callback=lambda: look.jobs.post(self._hit))
        dpg.add_mouse_wheel_handler(parent=handlers, callback=lambda _s, turn: look.jobs.post(self._wheel, turn))
        self._teach = EmptyState(
            look, parent, parent, icon="calendar", title="No conversation has been read yet",
            words="Every conversation that a harvest reads gets its day here,\nwith the bullets that it taught.",
            command="knowledge harvest --apply", action="Harvest…", on_action=lambda: self._shell.run("harvest"),
        )  # fmt: skip
        look.follow(parent, self._fit)

    def _card(self, height: float, draw: Callable[[Drawing], object]) -> Drawing:
        holder = box(self._look, self._drawings, "card", height=height + 18)
        drawing = Drawing(self._look, holder, height, draw)
        self._cards[drawing.holder] = holder
        return drawing

    def _fit(self, width: float, height: float) -> None:
        """The day stands beside the drawings, or in a narrow view below them."""
        look = self._look
        narrow = width < look.px(NARROW)
        side = int(width) - look.px(14) if narrow else look.px(SIDE)
        self._room = width / look.scale
        self._show_ranges()
        if narrow != self._narrow:
            self._narrow = narrow
            dpg.configure_item(self._row, horizontal=not narrow)
        wide = side if narrow else int(width) - side - look.px(8)
        dpg.configure_item(self._drawings, width=wide)
        room = height - look.px(44)
        calendar = YEAR_HEAD + 7 * min(22.0, (wide / look.scale - 26 - 34) / year.WEEKS)
        spare = room - look.px(calendar + STRIP + 3 * 18 + 2 * 8 + 4)
        tall = max(look.px(MAP_LEAST), spare) if not narrow else look.px(MAP)
        strip = STRIP if spare >= look.px(MAP_LEAST) or narrow else max(170, STRIP - (MAP_LEAST - spare / look.scale))
        for drawing, length in ((self.year, calendar), (self.strip, strip), (self.map, tall / look.scale)):
            drawing.set_height(length)
            look.size(self._cards[drawing.holder], height=length + 18)
        dpg.configure_item(self._side, width=side, height=look.px(420) if narrow else int(max(room, look.px(360))))
        around = 150 + 150  # the day's head, and what harvests cost
        look.size(self._list_holder, height=max(120.0, (420 if narrow else room / look.scale) - around))

    def _show_ranges(self) -> None:
        """The lengths of the strip, where there is room for them: the wheel, Plus and Minus do the same."""
        for button in self.ranges.values():
            button.show(self._room >= (720 if self.wish.filters else 560))

    # --- state ---

    def waits(self, state: State) -> bool:
        """Until the days are counted."""
        return state.snapshot is None or self._empty is None

    def refresh(self, state: State) -> None:
        """Count again when ledger, titles or files are others."""
        found = state.snapshot
        if found is None:
            return
        seen = (found.ledger, found.titles, state.of(self.name))
        if the_same(seen, self._seen):
            self._shell.rows_shown(len(self.talks), len(self.time.talks), self.name)
            return
        self._seen = seen
        self._ticket += 1
        ticket, lines, config = self._ticket, state.of(self.name) or (), self._shell.workspace.config
        trash = self._shell.workspace.paths.trash
        self._harvests = [run.run for run in found.overview.runs if run.kind == "harvest"]
        override = (config.price_input_per_million, config.price_output_per_million)

        def work(_job: object) -> tuple[Timeline, list[RunCost]]:
            return timeline(found.ledger, found.titles, lines, trash), costs(found.ledger, override)

        def done(result: Result[Any]) -> None:
            if ticket != self._ticket:
                return
            if isinstance(result, Ok):
                self.time, self.runs = result.value
                self._count()
                self._shell.change()
            else:
                self._shell.error(result.error)

        self._shell.submit("Counting the days", work, done, lane=GATHER)

    def _count(self) -> None:
        """What the filter leaves, and everything that shows it."""
        self.talks = year.wanted(self.time.talks, self.wish)
        self.days = year.with_own(self.talks, self.time.own_days, self.wish, self.today)
        self._shell.rows_shown(len(self.talks), len(self.time.talks), self.name)
        empty = not self.time.talks and not self.time.own
        if empty != self._empty:
            self._empty = empty
            for item in (self._line, self._page):
                dpg.configure_item(item, show=not empty)
            self._teach.show(empty)
        wish = self.wish
        for kind, button in self.filters.items():
            now = getattr(wish, kind)
            button.set_label((CATEGORIES[now].name if now and kind == "category" else now) or FILTERS[kind][0])
            button.set_kind("tab-on" if now else "secondary")
        self.clear.show(wish.filters)
        self._show_ranges()
        (first, last), begin = year.span(wish, self.today), year.first_day(self.today)
        for name, days in year.RANGES.items():
            self.ranges[name].set_kind("tab-on" if first == max(begin, last - timedelta(days=days - 1)) else "tab")
        self._under = None
        self._tiles.set(year.known(self.talks, self.time.own, self.wish))
        self._show_day()
        self._show_cost()
        for drawing in (self.year, self.strip, self.map):
            drawing.redraw()

    @property
    def today(self) -> date:
        """By the user's clock."""
        return date.today()

    def shown_day(self) -> tuple[date, date]:
        """The days that the list is of: those under the mouse, else those that were chosen, else the newest."""
        if self._under is not None and self._under[0] == "day":
            first, last = self._under[1]
            return first, last
        if self.day is not None:
            return self.day
        newest = max((day for day in self.days if day <= self.today), default=self.today)
        return newest, newest

    def _show_day(self) -> None:
        first, last = self.shown_day()
        talks = [talk for talk in self.talks if first <= talk.day <= last]
        sums = year.sum_of(self.days, first, last)
        dpg.set_value(self._title, year.day_title(first, last))
        lost = f"  ·  {sums.lost:,} lost unread" if sums.lost else ""
        dpg.set_value(self._sums, f"{count(sums.talks, 'conversation')}  ·  {count(sums.kept, 'bullet')} kept{lost}")
        parts = category_parts(sums.lines)
        self._bar.set(parts, sums.kept)
        dpg.set_value(self._categories, "   ".join(f"{part.label} {part.words}" for part in parts))
        self.list.set_rows(year.talk_rows(talks))

    def _show_cost(self) -> None:
        kept = sum(talk.kept for talk in self.time.talks)
        found = year.spending(self.runs, kept, self._harvests)
        free = found.dollars == 0
        told = f"{tokens(found.sent)} tokens" if found.sent else "not known"
        amount = "free" if free else dollars(found.dollars) if found.dollars else told
        dpg.set_value(self._cost, amount if found.runs else "–")
        parts = [count(found.runs, "harvest")]
        if found.a_line:
            parts.append(f"${found.a_line:.4f} a bullet kept")
        if found.sent or found.received:
            parts.append(f"{tokens(found.sent)} tokens in, {tokens(found.received)} out")
        cap = self._shell.workspace.config.max_run_tokens
        parts += [f"cap {tokens(cap)} tokens a harvest"] if cap else []
        dpg.set_value(self._cost_words, "  ·  ".join(parts))
        there = any(found.prices)
        self._cost_bars.show(there)
        if there:
            self._cost_bars.set(found.prices, "Price of each harvest, the newest at the right")
        dpg.set_value(self._models, "\n".join(f"{name}   {cost}" for name, cost in found.models))

    # --- what is drawn ---

    def _cell(self, drawing: Drawing) -> tuple[float, float, float]:
        """Where the calendar begins, and how far its days are apart."""
        left = self._look.px(34)
        return left, self._look.px(44), min(self._look.px(22), (drawing.width - left) / year.WEEKS)

    def _draw_year(self, drawing: Drawing) -> None:
        look, layer, px = self._look, drawing.below, self._look.px
        begin = year.first_day(self.today)
        wide = layer.words(0, 0, "A year", "text", "strong")
        room, long = max(drawing.width - wide - px(150), px(40)), LETTERS.wide(look.font_id("small")) or len
        words = year.year_words(self.talks, self.time.own, begin, self.wish, lambda line: long(line) <= room)
        layer.words(wide + px(12), px(2), words, "hint", "small", room=room)
        x = float(drawing.width)
        x -= layer.words(x, px(2), "more", "hint", "small", right=True) + px(8)
        for step in reversed(range(5)):
            x -= px(13)
            layer.rect(x, px(4), px(10), px(10), year.LEVELS[step], px(2))
        layer.words(x - px(6), px(2), "less", "hint", "small", right=True)
        left, top, pitch = self._cell(drawing)
        size = pitch - max(1.0, px(2))
        most = max((sums.kept or sums.talks for sums in self.days.values()), default=0)
        month = 0
        for week in range(year.WEEKS):
            monday = begin + timedelta(days=7 * week)
            if monday.month != month and (week or monday.day < 8):
                month = monday.month
                layer.words(left + week * pitch, top - px(18), f"{monday:%b}", "hint", "small")
            month = month or monday.month
        for at, name in ((0, "Mon"), (2, "Wed"), (4, "Fri")):
            layer.words(left - px(6), top + at * pitch - px(2), name, "hint", "small", right=True)
        for back in range((self.today - begin).days + 1):
            day = begin + timedelta(days=back)
            sums = self.days.get(day)
            amount = (sums.kept or 1) if sums is not None else 0
            lost = sums is not None and sums.lost == sums.talks and not sums.kept
            x, y = left + back // 7 * pitch, top + back % 7 * pitch
            color = "deleted@35" if lost else year.LEVELS[year.level(amount, most)]
            layer.rect(x, y, size, size, color, px(2) if size > px(9) else 0)
        start, end = (column * pitch for column in year.reach(self.wish, self.today))
        y = top + 7 * pitch + px(5)
        layer.rect(left, y, year.WEEKS * pitch, px(3), "field", px(1))
        layer.rect(left + start, y, max(end - start, px(4)), px(3), "accent", px(1))
        self._mark_day(drawing)

    def _mark_day(self, drawing: Drawing) -> None:
        """A ring around the day at hand, and the words beside the mouse."""
        look, layer = self._look, drawing.over
        left, top, pitch = self._cell(drawing)
        begin = year.first_day(self.today)
        for first, last, color in self._lit():
            for back in range((first - begin).days, (last - begin).days + 1):
                if 0 <= back <= (self.today - begin).days:
                    x, y = left + back // 7 * pitch, top + back % 7 * pitch
                    layer.rect(x - 1, y - 1, pitch, pitch, "", look.px(3), edge=color)
        if self._under is not None and self._under[0] == "day" and drawing.mouse() is not None:
            drawing.bubble(year.words_at(self.days, *self._under[1]))

    def _lit(self) -> list[tuple[date, date, str]]:
        found = [(*self.day, "text")] if self.day is not None else []
        if self._under is not None and self._under[0] == "day":
            found.append((*self._under[1], "accent"))
        return found

    def _draw_strip(self, drawing: Drawing) -> None:
        layer, px = drawing.below, self._look.px
        first, last = year.span(self.wish, self.today)
        self._bars = year.bars(self.days, first, last)
        self._places = []
        shown = year.Sum()
        for bar in self._bars:
            shown.add(bar.sum)
        x = layer.words(0, 0, "Bullets kept", "text", "strong") + px(14)
        wide = LETTERS.wide(self._look.font_id("small")) or len
        parts = [(name, row.name, shown.lines[name]) for name, row in CATEGORIES.items() if shown.lines.get(name)]
        for name, label, amount in year.fitting(parts, drawing.width - x, wide, px(26)):
            layer.rect(x, px(4), px(9), px(9), CATEGORIES[name].color if name in CATEGORIES else "handle", px(2))
            begin, x = x, x + px(14)
            x += layer.words(x, px(1), f"{label} {amount:,}", "muted", "small") + px(12)
            if name in CATEGORIES:
                self._places.append((begin, 0, x - begin, px(18), "category", name))
        left, top, foot = px(30), px(28), px(22)
        axis_room = px(20)
        room = drawing.tall - top - foot - axis_room
        up, down = room * 0.64, room * 0.36
        axis = top + up
        most = max((bar.sum.kept for bar in self._bars), default=0)
        crowd = max((bar.sum.talks for bar in self._bars), default=0)
        step = (drawing.width - left) / max(len(self._bars), 1)
        gap = 1.0 if step < px(8) else px(2)
        for share in (0.5, 1.0):
            if most:
                y = axis - up * share
                layer.line(left, y, drawing.width, y, "line")
                layer.words(left - px(6), y - px(8), f"{round(most * share):,}", "hint", "small", right=True)
        layer.line(left, axis, drawing.width, axis, "handle")
        groups = year.groups_of([bar.sum for bar in self._bars])
        for at, bar in enumerate(self._bars):
            x, y = left + at * step, axis
            for name in CATEGORIES:
                amount = bar.sum.lines.get(name, 0)
                if amount:
                    tall = up * amount / most
                    layer.rect(x, y - tall, max(step - gap, 1), max(tall - (1 if tall > 3 else 0), 1),
                               CATEGORIES[name].color)  # fmt: skip
                    y -= tall
            y = axis + axis_room
            for name, amount in year.grouped(bar.sum, groups):
                tall = down * amount / max(crowd, 1)
                color = year.group_color([one for one, _ in groups].index(name), name)
                layer.rect(x, y, max(step - gap, 1), max(tall - (1 if tall > 3 else 0), 1), color)
                y += tall
        every = max(1, round(px(92) / max(step, 0.01)))
        for at in range(every // 2, len(self._bars), every):
            day = self._bars[at].first
            if left + (at + 0.5) * step > drawing.width - px(28):
                break
            layer.words(left + (at + 0.5) * step, axis + px(2), f"{day.day} {day:%b}", "hint", "small", middle=True)
        x, y = 0.0, drawing.tall - px(17)
        x += layer.words(0, y, "Conversations", "text", "small") + px(12)
        turn = "by tool" if self.wish.by_project else "by project"
        ordered = sorted(groups, key=lambda row: row[0] != "lost")  # what went unread is always told
        parts = [(name, "lost unread" if name == "lost" else name, amount) for name, amount in ordered]
        colors = {name: year.group_color(at, name) for at, (name, _) in enumerate(groups)}
        for name, label, amount in year.fitting(parts, drawing.width - x - wide(turn) - px(12), wide, px(26)):
            layer.rect(x, y + px(4), px(9), px(9), colors.get(name, year.TOOL_COLORS[-1]), px(2))
            begin, x = x, x + px(14)
            x += layer.words(x, y, f"{label} {amount:,}", "muted", "small") + px(12)
            kind = "project" if self.wish.by_project else "tool"
            if name not in ("lost", "more"):
                self._places.append((begin, y, x - begin, px(18), kind, name))
        long = layer.words(drawing.width, y, turn, "accent", right=True)
        self._places.append((drawing.width - long, y, long, px(18), "turn", None))
        self._mark_bar(drawing)

    def _mark_bar(self, drawing: Drawing) -> None:
        px = self._look.px
        left, step = px(30), (drawing.width - px(30)) / max(len(self._bars), 1)
        for first, last, color in self._lit():
            for at, bar in enumerate(self._bars):
                if bar.first <= last and first <= bar.last:
                    drawing.over.rect(left + at * step, px(24), step, drawing.tall - px(46), f"{color}@12", px(2))
        if self._under is not None and self._under[0] == "day":
            drawing.bubble(year.words_at(self.days, *self._under[1]))

    # --- the mouse ---

    def _is_open(self) -> bool:
        return self._shell.state.view == self.name and not self._empty and dpg.is_item_shown(self._page)

    def _what(self) -> tuple[str, Any] | None:
        """What is under the mouse."""
        if not self._is_open():
            return None
        if (place := self.year.mouse()) is not None:
            left, top, pitch = self._cell(self.year)
            week, row = int((place[0] - left) // pitch), int((place[1] - top) // pitch)
            day = year.first_day(self.today) + timedelta(days=7 * week + row)
            return ("day", (day, day)) if 0 <= row < 7 and 0 <= week < year.WEEKS and day <= self.today else None
        if (place := self.strip.mouse()) is not None:
            px = self._look.px
            for x, y, w, h, kind, what in self._places:
                if x <= place[0] < x + w and y <= place[1] < y + h:
                    return kind, what
            left = px(30)
            step = (self.strip.width - left) / max(len(self._bars), 1)
            at = int((place[0] - left) // step) if place[0] >= left else -1
            if 0 <= at < len(self._bars) and px(24) <= place[1] <= self.strip.tall - px(20):
                return "day", (self._bars[at].first, self._bars[at].last)
            return None
        place = self.map.mouse()
        tile = self._tiles.at(place) if place is not None else None
        return ("map", tile) if tile is not None else None

    def _draw_map(self, drawing: Drawing) -> None:
        self._tiles.draw(drawing)
        self._mark_tile(drawing)

    def _mark_tile(self, drawing: Drawing) -> None:
        if self._under is not None and self._under[0] == "map":
            x, y, w, h = self._under[1].place
            drawing.over.rect(x, y, w, h, "", self._look.px(3), edge="text")
            drawing.bubble(TreeMap.words(self._under[1]))

    def _moved(self) -> None:
        """The mouse moved: only what is under it is drawn again, and only when that is something else."""
        now = self._what()
        if now == self._under:
            return
        before, self._under = self._under, now
        shows_day = "day" in ((before or ("",))[0], (now or ("",))[0])
        marks = ((self.year, self._mark_day), (self.strip, self._mark_bar), (self.map, self._mark_tile))
        for drawing, draw in marks:
            drawing.over.begin()
            draw(drawing)
            drawing.over.end()
        if shows_day:
            self._show_day()

    def _hit(self) -> None:
        """A click: a day for the list, a filter, or another way to divide the strip."""
        found = self._what()
        if found is None:
            return
        kind, what = found
        if kind == "day":
            self.choose(None if what == self.day else what)
        elif kind == "turn":
            self.filter(by_project=not self.wish.by_project)
        elif kind == "map":
            project, category = what.project, what.category
            same = (self.wish.project, self.wish.category) == (project, category)
            if project != "you":
                self.filter(project="" if same else project, category="" if same else category)
        else:
            self.filter(**{kind: "" if getattr(self.wish, kind) == what else what})

    def _wheel(self, turn: float) -> None:
        place = self.strip.mouse() if self._is_open() else None
        if place is not None and turn:
            left = self._look.px(30)
            at = min(max((place[0] - left) / max(self.strip.width - left, 1), 0.0), 1.0)
            self.wish = year.zoomed(self.wish, self.today, at, 1 if turn > 0 else -1)
            self._count()

    # --- what the user does ---

    def choose(self, days: tuple[date, date] | None) -> None:
        """The list is of these days; None: of the newest."""
        self.day = days
        self._under = None
        self._show_day()
        self.year.redraw()
        self.strip.redraw()

    def filter(self, **parts: Any) -> None:
        """Another wish."""
        self.wish = replace(self.wish, **parts)
        self._count()

    def reset(self) -> None:
        """Show everything."""
        self.day = None
        self.wish = year.Wish(first=self.wish.first, last=self.wish.last, by_project=self.wish.by_project)
        self._count()

    def _range(self, days: int) -> None:
        self.filter(first=self.today - timedelta(days=days - 1), last=self.today)

    def _choose(self, kind: str) -> None:
        """Open the menu of a filter, what comes most often first."""
        named = {name: look.name for name, look in CATEGORIES.items() if name != "quarantine"}
        if kind != "category":
            of = year.tool_of if kind == "tool" else year.project_of
            named = {name: name for name, _ in Counter(map(of, self.time.talks)).most_common()}
        now, rows = getattr(self.wish, kind), {"": FILTERS[kind][0], **named}
        left, top = dpg.get_item_rect_min(self.filters[kind].item)
        self._menu.open(
            [MenuRow(words, "check" if now == name else "circle", partial(self.filter, **{kind: name}))
             for name, words in [*rows.items()][:MENU_ROWS]],
            (left, top + dpg.get_item_rect_size(self.filters[kind].item)[1] + 4),
        )  # fmt: skip

    def _follow(self, row: FlowRow) -> None:
        key = row.key[0] if isinstance(row.key, tuple) else ""
        if any(talk.key == key for talk in self.talks if key):
            self._shell.select("conversation", str(key))

    def _open(self, row: FlowRow) -> None:
        self._follow(row)
        self._shell.show("ledger")

    def press(self, key: str, typing: bool) -> bool:
        """Arrows: a day or a conversation; plus and minus zoom; Esc shows everything."""
        if typing or self._empty:
            return False
        if key in ("Left", "Right"):
            first, last = self.shown_day()
            day = (first if key == "Left" else last) + timedelta(days=-1 if key == "Left" else 1)
            day = min(max(day, year.first_day(self.today)), self.today)
            self.choose((day, day))
            return True
        if key in ("Plus", "Minus", "=", "-", "+"):
            self.wish = year.zoomed(self.wish, self.today, 1.0, -1 if key in ("Minus", "-") else 1)
            self._count()
            return True
        if key == "Esc" and (self.wish.filters or self.day is not None):
            self.reset()
            return True
        return self.list.press(key)

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""
