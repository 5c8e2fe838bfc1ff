"""The Knowledge panel as a part that any Dear PyGui program can put into its window.

    panel = KnowledgePanel(workspace, wake=loop.wake)
    root = panel.build(parent)
    ... before each frame: panel.tick()
    panel.dispose()

It makes no context and no viewport, binds nothing globally, uses generated ids only, and takes everything with it when
it goes. All disk and network work runs on workers; the interface thread only sets values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast
from weakref import WeakSet

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.workspace import Workspace
from gui.actions import SHORTCUTS, KeysDialog, add_actions
from gui.gather import LATE, Gathered, Gatherer, Homes, Reader
from gui.harvest_run import HarvestRun
from gui.shell import Reading, Shell
from gui.state import NOTHING, Selection, State
from gui.toolkit.jobs import Jobs, no_wake
from gui.toolkit.keyboard import Keyboard
from gui.toolkit.keys import MODIFIERS, KeyGate
from gui.toolkit.layout import Columns, box
from gui.toolkit.styles import PALETTES
from gui.toolkit.theme import Look
from gui.views.editing import UNSAVED
from gui.views.first_start import FirstStart, is_first_start
from gui.views.harvest_dialog import HarvestDialog
from gui.views.header import HEADER_HEIGHT, Header
from gui.views.inspector.view import Inspector
from gui.views.looks import STATUSES
from gui.views.reader import ConversationReader
from gui.views.start import CARD, FOOT, Brief, StartColumn
from gui.views.state_line import STATE_HEIGHT, StateLine
from gui.workbench import LIBRARY, TABS, VIEWS, Workbench

GAP = 8
SCALE_STEP = 0.125
SIDE, SIDE_LEAST, SIDE_MOST, WORK_LEAST = 320, 264, 440, 340
SIDE_SHARE = 0.22  # of the width is the left column's, where that is more than it is elsewhere
EVIDENCE, MARGIN = 424, 14  # unscaled pixels
BANNER = 84
"""The height of an error in a low window; in a higher one it has half of what the fixed lines leave."""
COMPACT = 640
"""In a panel narrower than this, in unscaled pixels, there is one column."""
LOW = 540
"""In one lower than this, too, its card and foot make room for *Wants a look* and for an edit, whose buttons would be
out of reach."""
AGES_SECONDS = 60  # how often times like "5 min" are counted again, and the store is read while somebody is there
_living: WeakSet[KnowledgePanel] = WeakSet()  # for whoever measures them


class KnowledgePanel:
    """One panel on one home. See the top of this file.

    `workspace` is the home with its settings; `wake` is called from other threads when a frame is wanted; `palette` is
    dark or light. `choices` is what was remembered (`gui/geometry.py`); read `choices()` and `shell.scale` at the end
    to remember it again. `own` is the home to come back to where `workspace` is the demo's. `compact`: one column,
    however much room there is; `project` is the folder whose knowledge comes first; `on_harvest(report)` hears of every
    harvest that this panel has applied.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        scale: float = 1.0,
        wake: Callable[[], None] = no_wake,
        palette: str = "dark",
        choices: Mapping[str, str] | None = None,
        own: Workspace | None = None,
        compact: bool = False,
        project: str = "",
        on_harvest: Callable[[Any], object] = lambda _report: None,
    ) -> None:
        self.jobs = Jobs(wake, self._fault)
        self.look = Look(self.jobs, PALETTES.get(palette, PALETTES["dark"]), scale)
        self.usual_scale = scale
        self.shell = Shell(self.look, workspace)
        self.shell.choices.update(choices or {})
        self._compact, self._on_harvest = compact, on_harvest
        if project:
            self.shell.choices["project"] = project
        self._own = own or workspace
        self._left = ""
        self._minute, self._mouse = int(time.time() // AGES_SECONDS), list[float]()
        self._came_back = False
        self._first: bool | None = None
        self._evident = False
        self._past_first = False
        self.root = 0
        self._inside = (0.0, 0.0)

    # --- the host's three calls ---

    def build(self, parent: int) -> int:
        """Make everything inside `parent` and begin to read the store. Returns the root's item."""
        look, shell = self.look, self.shell
        self.root = int(dpg.add_child_window(parent=parent, border=False, width=0, height=0, no_scrollbar=True))
        look.bind(self.root)
        page = look.theme(int(dpg.add_group(parent=self.root)), "no-gap")
        look.corner = int(dpg.add_drawlist(1, 0, parent=page))
        inside = box(look, page, "root")
        self.header = Header(look, shell, TABS, SHORTCUTS, self._compact)
        self.header.build(inside)
        self.run = HarvestRun(shell)
        self.run.on_end = self._on_harvest
        self.status = StateLine(look, shell, SHORTCUTS, self.run.cancel, self.run.finish)
        self.status.build(inside)
        self.workbench = Workbench(look, shell)
        self._start = cast(StartColumn, self.workbench.sides[VIEWS[0].name])
        self.brief = Brief(look, shell, self._start)
        self.brief.build_card(inside)
        self._middle = box(look, inside, "gutter")
        look.follow(inside, self._fit)
        self.columns = Columns(look, self._middle, lambda wide: max(SIDE, min(SIDE_MOST, SIDE_SHARE * wide)),
                               SIDE_LEAST, WORK_LEAST, good=460, left=True)  # fmt: skip
        self.workbench.build(box(look, self.columns.main, "clear"), self.columns.side)
        self.inspector = Inspector(look, shell)
        self.first_start = FirstStart(look, shell)
        self.first_start.build(inside)
        self.reading = ConversationReader(look, shell, self._stand)
        self.reading.build(inside)
        shell.on_read = self._read
        # Right behind what it lies over: a child window paints its ground over the one before it alone.
        self.evidence = box(look, inside, "evidence", width=EVIDENCE, height=100, show=False)
        self.inspector.build(self.evidence)
        self.brief.build_foot(inside)
        self.workbench.build_banner(inside, self._banner_changed)
        # What lies over the rest, and takes the keys before it: the last one first.
        shell.layers.insert(0, self._view_key)
        self.harvest = HarvestDialog(look, shell, self.run)
        self.harvest.build()
        self.first_start.on_harvest = self.workbench.on_harvest = self.harvest.open
        self.keys = KeysDialog(look, shell)
        parts = {row.label: self.workbench.views[row.name].keys for row in VIEWS}
        self.keys.build({**parts, "Evidence": self.inspector.keys, "Conversation": self.reading.keys})
        shell.build(self._at_foot)
        gatherers: dict[str, Gatherer] = {
            name: view.gather for name, view in self.workbench.views.items() if view.gather is not None
        }
        self.reader = Reader(shell, gatherers, self._gathered, self._not_gathered)
        self.homes = Homes(
            shell, self._own, lambda: self.jobs.post(self.reader.ask), lambda: self.reader.ask(soon=True)
        )
        shell.use_home = self._use_home
        shell.on_banner = self.workbench.show_error
        shell.on_success = lambda _name: self.workbench.banner.outlive()
        self.keyboard = Keyboard(look, SHORTCUTS, shell.run, look.focus.mine, lambda: shell.settling)
        self.keyboard.layers = shell.layers
        shell.on_refused = self.keyboard.forget
        add_actions(shell, self._acts(), self._open_view, self.harvest.open)
        for name, (action, wanted) in SHOWS.items():
            shell.add_action(f"show.{name}", "", "eye", partial(self._show_only, action, wanted))
        if shell.choice("view") not in self.workbench.views:
            shell.choices["view"] = VIEWS[0].name
        shell.change(view=shell.choices["view"], away=self.homes.away)
        shell.on_refresh = lambda: self.reader.ask(soon=True)
        self.reader.ask(soon=True)
        _living.add(self)
        return self.root

    def hear(self, gate: KeyGate) -> None:
        """Take the keys from a window of one's own, after `build`: nothing that is typed is lost then."""
        self.look.gate = gate
        self.keyboard.hear(gate)
        self.look.focus.alone = True
        self.focus()

    def focus(self) -> None:
        """Give the panel the keyboard, as a click into it does; what is typed elsewhere is never the panel's."""
        self.look.focus.take()

    def returned(self) -> None:
        """The user comes back to the window, or wants all read again: what tools have written since, and what was
        committed, stands nowhere in the store."""
        self._came_back = True
        self.reader.ask()

    def tick(self) -> float | None:
        """Before each frame: do what was posted, show what came of it. 0.0: another frame is wanted; None: idle."""
        worked = self.jobs.run()
        worked += bool(self.reader.tick())
        minute = int(time.time() // AGES_SECONDS)
        if minute != self._minute and ((mouse := dpg.get_mouse_pos(local=False)) != self._mouse or self.keyboard.heard):
            self._mouse, self.keyboard.heard = mouse, False
            self.reader.ask()  # somebody is here: what tools have written since waits nowhere in the store
        if self.shell.dirty or minute != self._minute:  # an age that is shown may be another one
            self._minute = minute
            worked += 1
            self.shell.dirty = False
            self.jobs.attempt(self._refresh, self.shell.state)
        moved = self.look.tick()
        return 0.0 if worked or moved or self.shell.dirty or self.jobs.waiting() else None

    def choices(self) -> dict[str, str]:
        """What is remembered for the next start: theme, view, and a bullet that is written and not saved."""
        knowledge: Any = self.workbench.views[VIEWS[0].name]
        unsaved = knowledge.session.unsaved
        return {**self.shell.choices, **({UNSAVED: unsaved} if unsaved else {})}

    def dispose(self) -> None:
        """Cancel what runs and wait for it (a harvest ends after its current step), delete every item."""
        _living.discard(self)
        self.keyboard.dispose()
        self.homes.stop()
        self.shell.dispose()
        if dpg.does_item_exist(self.root):
            dpg.delete_item(self.root)
        self.look.dispose()

    # --- state to items ---

    def _refresh(self, state: State) -> None:
        first = state.snapshot is not None and is_first_start(state.snapshot) and not self._past_first
        if first != self._first:
            self._first = first
            self.status.first = first  # one filled button at a time
            self._stand()
        if (
            state.snapshot is not None and state.problem is None
        ):  # the page of the first start tells by itself of a loss
            self.workbench.show_problems(tuple(
                one for one in state.snapshot.problems if not (first and one.code == LATE)))  # fmt: skip
        self.status.told = self.workbench.banner.shown
        self._give_room(state)
        library = state.view == LIBRARY or self.shell.workspace.paths.library.exists()
        tabs = tuple(row.name for row in TABS if row.name != LIBRARY or library)  # the library's once there is one
        self.jobs.attempt(self.header.refresh, state, tabs)
        parts: list[Any] = [self.status]
        parts += [self.first_start] if first else [self.workbench, self.inspector]
        for part in (*parts, self.harvest, self.reading):
            self.jobs.attempt(part.refresh, state)

    def _not_gathered(self, error: ErrorInfo) -> None:
        self.shell.change(problem=error)
        self.workbench.show_error(error, "Try again", self.shell.refresh, stays=True)

    def _gathered(self, found: Gathered) -> None:
        state = self.shell.state
        if state.problem is not None and self.workbench.banner.shown == state.problem:
            self.workbench.banner.hide()  # it is no more so
        self.shell.workspace = found.workspace
        same_data = all(state.data.get(name) is value for name, value in found.data.items())
        came_back, self._came_back = self._came_back, False
        if came_back or found.snapshot is not state.snapshot or not same_data or state.problem is not None:
            self.shell.change(
                snapshot=found.snapshot,
                first_counts=None,
                first_rows=None,
                data={**state.data, **found.data},
                problem=None,
                returns=state.returns + came_back,
            )
        self.homes.also([found.snapshot.settings.writable])

    def _fault(self, error: ErrorInfo) -> None:
        if self.root and dpg.does_item_exist(self.root):
            self.workbench.show_error(error)

    def _fit(self, width: float, height: float) -> None:
        if self._inside[0] != width:
            self.shell.change()
        self._inside = (width, height)
        self._place_evidence()
        tall = int(height) - self.look.px(HEADER_HEIGHT) - self.look.px(STATE_HEIGHT) - 3 * self.look.px(GAP)
        if self.brief.shown:
            tall -= self.look.px(CARD) + self.look.px(FOOT) + 2 * self.look.px(GAP)
        margin = self.look.px(MARGIN)
        most = max(tall // 2, min(tall - margin - self.look.px(GAP), self.look.px(BANNER)))
        self.workbench.banner.fit(max(int(width) - 2 * margin, 50), most, width < self.look.px(COMPACT))
        dpg.configure_item(self.workbench.banner.item, indent=margin)
        tall -= self._at_foot()
        for item in (self._middle, self.first_start.item, self.reading.item):
            dpg.configure_item(item, height=max(tall, margin))

    def _banner_changed(self, _high: int) -> None:
        self._fit(*self._inside)
        self.shell.change()

    def _at_foot(self) -> int:
        """How much room the banner takes at the foot, with the distance to what stands above it."""
        high = self.workbench.banner.height
        return high + self.look.px(GAP) if high else 0

    # --- keys and actions ---

    def _acts(self) -> dict[str, Callable[[], object]]:
        """What of `ACTIONS` the panel does itself."""
        scale = self.set_scale
        return {
            "harvest": self.harvest.open,
            "refresh": self.returned,
            "search": lambda: self._open_view("search"),
            "search.leave": lambda: self._open_view(self._left or VIEWS[0].name),
            "digest.toggle": self._switch_digest,
            "pane.side": self.toggle_side,
            "theme": self.switch_theme,
            "scale.up": lambda: scale(self.look.scale + SCALE_STEP),
            "scale.down": lambda: scale(self.look.scale - SCALE_STEP),
            "scale.reset": lambda: scale(self.usual_scale),
            "keys": self.keys.open,
            "cancel": self.run.cancel,
            "home.own": self.homes.back,
        }

    def _read(self, wanted: Reading) -> None:
        """Show a conversation over the whole width."""
        self.reading.open(wanted)
        self._stand()

    def _use_home(self, workspace: Workspace) -> None:
        self.reading.close()  # it is of the home that is left, and so is a dry run
        if self.harvest.dialog.is_open:
            self.harvest.dialog.cancel()
        self.homes.use(workspace)

    def _stand(self) -> None:
        """What stands between header and foot: a conversation, the page of the first start, or the columns."""
        reads, first = self.reading.is_open, self._first is True
        self.shell.dirty = True
        self.first_start.show(first and not reads)
        dpg.configure_item(self._middle, show=not first and not reads)

    def _open_view(self, name: str) -> None:
        """Open a view, and remember that it was the last one. The page of the first start gives way, also while there
        is nothing yet, and so does a conversation that is read."""
        self.reading.close()
        self._past_first = self._past_first or self._first is True
        if name == "search":
            self._left = self.shell.state.view if self.shell.state.view != "search" else self._left
        else:
            self.shell.choices["view"] = name
        self.shell.show(name)
        self.workbench.open(name)  # at once: the next key is for this view already
        self.workbench.refresh(self.shell.state)

    def _switch_digest(self) -> None:
        """The other state of the digest, in the view that shows what that means."""
        if self.shell.state.view != VIEWS[0].name:
            self._open_view(VIEWS[0].name)
        self._start.digest.press()

    def _show_only(self, view: str, wanted: Selection) -> None:
        """Open a view that shows some of its rows alone."""
        self.shell.put({"wanted": wanted})
        self._open_view(view)

    def show(self, path: str, line: int = 0) -> None:
        """Show the notes of a source file, at a line where one is meant: for a host that has the file open."""
        self._open_view("files")
        self.shell.select("source", path, line)

    def _view_key(self, key: str, modifiers: frozenset[str], typing: bool) -> bool:
        if self._first and not self.reading.is_open:
            return self.first_start.press(key)
        label = "+".join([*(name for name in MODIFIERS if name in modifiers), key])
        if self.reading.is_open:
            return self.reading.press(label, typing)
        if label == "Esc" and not typing and self.shell.state.selected != NOTHING and self._evident:
            self.shell.select()
            return True
        return self.workbench.press(label, typing) or self.inspector.press(label, typing)

    def switch_theme(self) -> None:
        """Dark to light, or back."""
        other = "light" if self.look.palette.name == "dark" else "dark"
        self.look.change(palette=PALETTES[other])
        self.shell.choices["theme"] = other
        self.shell.change()

    def set_scale(self, scale: float) -> None:
        """Another size of everything, at once."""
        self.look.change(scale=scale)
        self.shell.scale = self.look.scale
        self.shell.change()

    def toggle_side(self) -> None:
        """Hide the left column, or show it again; remembered."""
        on = self.shell.choice("pane.side") == "hidden"
        if self.columns.crowded:
            words = "Too narrow for this column: widen the window"
            self.shell.toast(words, icon="info", color="accent", seconds=4.0)
            return
        self.shell.choices["pane.side"] = "shown" if on else "hidden"
        self._give_room(self.shell.state)

    def _give_room(self, state: State) -> None:
        """The left column is there where the view has one; the evidence lies over the list while something is
        selected, but where the view itself shows it."""
        side = state.view in self.workbench.sides and self.shell.choice("pane.side") != "hidden"
        side = side and not self._compact
        if side != self.columns.shown:
            self.columns.show(side)
        folded = self._compact or 0 < self._inside[0] < self.look.px(COMPACT)
        folded = folded and state.view == VIEWS[0].name and not self._first and not self.reading.is_open
        view = self.workbench.views[state.view]
        if self.brief.show(folded and not (view.is_asking and self._inside[1] < self.look.px(LOW))):
            self._fit(*self._inside)
        self.brief.refresh(state)
        kind = state.selected.kind
        on = bool(kind) and not self._first and not self.reading.is_open and not view.is_editing
        on = on and not (state.view == "files" and (kind == "source" or state.selected.key.startswith("files/")))
        if self._evident != on:
            self._evident = on
            dpg.configure_item(self.evidence, show=on)
            self._place_evidence()

    def _place_evidence(self) -> None:
        """At the right, below the line of state and above what stands at the foot, whose buttons it must not hide; over
        the whole column where there is only one."""
        look, (width, height) = self.look, self._inside
        wide = min(look.px(EVIDENCE), int(width) - 2 * look.px(MARGIN))
        top = look.px(HEADER_HEIGHT + STATE_HEIGHT + GAP)
        place = [int(width) - wide - look.px(MARGIN), top]
        tall = int(height) - top - look.px(GAP) - self._at_foot()
        tall -= look.px(FOOT + GAP) if self.brief.shown else 0
        least = look.px(CARD + 3 * GAP)  # so far that it lies over the list, however low the window is
        dpg.configure_item(self.evidence, pos=place, width=wide, height=max(tall, least))


SHOWS = {
    "all": ("knowledge", Selection("category", "all")),
    **{name: ("conversations", Selection("status", name)) for name in STATUSES},
}
"""What the figures of the line of state lead to."""
