"""The first start, with nothing harvested yet: what is on this computer, who could read it, and one button to begin.

What `knowledge setup` finds out is shown here and asked with one click: the tools that are ticked, the model that is
chosen. The dry run that follows says what would be done; nothing is read or sent before the person says so there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import dearpygui.dearpygui as dpg

from core.base.figures import count, dollars, size, tokens
from core.base.result import Err, ErrorInfo, Ok, Result
from core.commands.daily.setup import OFFLINE, ModelChoice, SetupReport, apply_answers, default_model, survey
from core.commands.demo import demo_home
from core.commands.panel.bullets import local_day
from core.commands.sources import HOME, SourceFound
from core.commands.workspace import Workspace
from gui.shell import READ, RUN, Shell
from gui.state import Snapshot, State
from gui.toolkit.icons import icon
from gui.toolkit.layout import Line, Lines, box, card, lowered, space, spread, trailing_row
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Toggle, text
from gui.views.looks import short_folder

WIDTH, FOUND_WIDTH, BESIDE = 1060, 630, 920
"""The page, its left part, and the width of the window from which on the parts stand side by side."""
MOST_TOOLS, MOST_MODELS = 7, 5
LOOKING = "Looking at this computer…"
NONE = "No conversations were found on this computer"
NOTHING_SENT = (
    "A harvest turns them into plain text files that are yours, and that new conversations can begin with. "
    "Nothing has been read or sent yet."
)
GIVES = (
    Line("lightbulb", "harvested", "Facts and decisions: what is true, what was chosen and why"),
    Line("book-open", "accent", "Playbooks: the steps that worked, in their order"),
    Line("list-checks", "muted", "Tasks and questions: what is left to do, what is still open"),
    Line("file-text", "muted", "Notes on files: what somebody should know who opens one"),
)
SAFE = "Passwords and keys are replaced before anyone reads"
NO_TOOLS = (
    "Put an export of ChatGPT or Claude.ai, or any file with a UUID at the end of its name, into the folder below."
)


def is_first_start(snapshot: Snapshot) -> bool:
    """Nothing harvested, nothing written, no conversation that waits."""
    found = snapshot.overview
    if snapshot.ledger or found.status.pending.get("conversations") or found.runs:
        return False
    return not any(row.exists for row in found.files)


@dataclass(frozen=True)
class ToolLine:
    """One tool as the page shows it."""

    name: str
    title: str
    place: str
    size: str
    number: int
    warning: str = ""


@dataclass(frozen=True)
class ModelLine:
    """One way to have conversations read: `at` is its place among those that setup found."""

    at: int
    title: str
    state: str
    ready: bool
    words: str


def tool_line(row: SourceFound) -> ToolLine:
    """A source in words; what its tool will delete is told with the day."""
    warning = ""
    if row.next_expiry:
        day = local_day(row.next_expiry)
        warning = f"{row.title} deletes the first one on {day}. What was harvested from it stays."
    place = short_folder(row.places[0]) if row.places else ""
    return ToolLine(row.name, row.title, place, size(row.bytes), row.conversations, warning)


def model_line(at: int, row: ModelChoice) -> ModelLine:
    """A model in words: where the text goes, what it costs, how much it is."""
    much = f"about {tokens(row.estimate.input_tokens + row.estimate.output_tokens)} tokens"
    if row.provider == OFFLINE:
        return ModelLine(at, "Rules, no model", "always there", True, "Stays on this computer · free · finds less")
    price = row.estimate.price
    cost = "free" if row.free else "price not known" if price is None else f"about {dollars(price)}"
    goes = "Stays on this computer" if row.free else f"Sent to {row.where or row.provider}"
    title = f"{row.provider} {row.model}".strip()
    return ModelLine(at, title, "ready" if row.ready else row.problem, row.ready, f"{goes} · {cost} · {much}")


def waiting_words(rows: Sequence[ToolLine]) -> str:
    """The heading: how many conversations there are."""
    number = sum(row.number for row in rows)
    return f"{count(number, 'conversation')} {'is' if number == 1 else 'are'} waiting on this computer"


class FirstStart:
    """A page over the whole middle. `on_harvest` opens a dry run of some sources."""

    name = "first"

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.on_harvest: Callable[[tuple[str, ...]], object] = lambda _sources: None
        self.report: SetupReport | None = None
        self.tools: tuple[ToolLine, ...] = ()
        self.models: tuple[ModelLine, ...] = ()
        self.chosen = -1
        self._looked = ""
        self._shown = False

    # --- what it is made of ---

    def build(self, parent: int) -> int:
        """Make the page inside `parent`, hidden."""
        look = self._look
        self.item = box(look, parent, "gutter")
        dpg.configure_item(self.item, show=False)
        page = box(look, self.item, "pane", scroll=True)
        self._top = int(dpg.add_spacer(parent=page, height=1))
        self._column = int(dpg.add_group(parent=page))
        head = int(dpg.add_group(horizontal=True, parent=self._column))
        text(look, head, icon("library"), "heading", "accent")
        self._title = text(look, head, LOOKING, "heading")
        self._words = text(look, self._column, NOTHING_SENT, "text", "muted", wrap=True)
        space(look, self._column, 4)
        self._parts = int(dpg.add_group(horizontal=True, parent=self._column))
        self._left = box(look, self._parts, "clear", width=FOUND_WIDTH, height=0)
        self._right = box(look, self._parts, "clear", width=WIDTH - FOUND_WIDTH - 12, height=0)
        self._build_found(self._left)
        self._build_models(self._right)
        space(look, self._column, 2)
        row = int(dpg.add_group(horizontal=True, parent=self._column))
        self.demo = Button(look, row, "Try the demo", self.try_demo, icon="circle-play", kind="ghost",
                           tip="A temporary home with sample conversations; yours is not touched")  # fmt: skip
        self.sources = Button(look, row, "Look at your other tools", lambda: self._shell.run("view.sources"),
                              icon="layers", kind="ghost",
                              tip="Each tool with its folders and a switch; exports of ChatGPT")  # fmt: skip
        Button(look, row, "Open settings", self._shell.open_settings, icon="settings", kind="ghost",
               tip="The settings file in the system's editor")  # fmt: skip
        self._busy = text(look, lowered(look, row, 7), "", "small", "hint")
        look.follow(page, self._fit)
        return self.item

    def _build_found(self, parent: int) -> None:
        look = self._look
        self._found = card(look, parent, "Found on this computer", " ")
        self._rows: list[tuple[int, Toggle, int, int, int, int]] = []
        for number in range(MOST_TOOLS):
            holder = int(dpg.add_group(parent=self._found.item, show=False))
            left, right = trailing_row(look, holder, 2, 3)
            toggle = Toggle(look, left, "", partial(self._ticked, number), on=True, tip="Whether it is harvested")
            place = text(look, lowered(look, left, 7), "", "small", "hint", fit=END)
            bytes_ = text(look, lowered(look, right, 4), "", "small", "hint")
            number_item = text(look, right, "", "heading")
            warning = text(look, holder, "", "small", "edited", wrap=True)
            self._rows.append((holder, toggle, place, bytes_, number_item, warning))
        self._more = text(look, self._found.item, "", "small", "hint", wrap=True)
        space(look, parent, 2)
        self._gives = card(look, parent, "What you get", " ")
        Lines(look, self._gives.item, len(GIVES)).set(GIVES)

    def _build_models(self, parent: int) -> None:
        look = self._look
        made = card(look, parent, "Who reads them", "estimated")
        self._readers = made.item
        self._models: list[tuple[int, Button, int, int]] = []
        for number in range(MOST_MODELS):
            item = box(look, made.item, "card", height=0)
            dpg.configure_item(item, show=False)
            left, right = spread(look, item, lower=7)
            button = Button(look, left, "", partial(self.choose, number), icon="circle", kind="ghost",
                            tip="Take this one")  # fmt: skip
            state = text(look, right, "", "small", "hint")
            self._models.append((item, button, state, text(look, item, "", "small", "muted", wrap=True)))
        self._safe = text(look, made.item, f"{icon('shield-check')}  {SAFE}", "small", "hint", wrap=True)
        space(look, parent, 4)
        self.begin = Button(look, parent, "Harvest…", self.start, icon="wheat", kind="primary", width=-1,
                            tip="A dry run first: it says what it would do, and asks", shortcut="Enter")  # fmt: skip
        self._after = text(look, parent, "Shows first what it would do, and asks", "small", "hint")

    # --- what it shows ---

    def show(self, on: bool) -> None:
        """Whether the page is there."""
        dpg.configure_item(self.item, show=on)
        self._shown = on

    def refresh(self, state: State) -> None:
        """Look around once for each home."""
        if state.home != self._looked:
            self._looked = state.home
            self.look_around()

    def look_around(self) -> None:
        """Ask what `knowledge setup` asks, on a worker: it reads a part of what was found for the estimates."""
        workspace = self._shell.workspace
        self.report = None
        self._put((), ())
        dpg.set_value(self._title, LOOKING)

        def finish(result: Result[SetupReport]) -> None:
            if workspace.paths != self._shell.workspace.paths:
                return
            if isinstance(result, Err):
                self._shell.error(result.error)
                self._put((), ())
            else:
                self.take(result.value)

        self._shell.submit("The look at this computer", lambda _job: survey(workspace), finish, lane=READ)

    def take(self, report: SetupReport) -> None:
        """Show what was found; the model that sends nothing is chosen, as `knowledge setup --yes` would."""
        self.report = report
        first = max(0, default_model(self._shell.workspace, report))
        order = [first, *(at for at in range(len(report.models)) if at != first)]
        order = [*order[: MOST_MODELS - 1], *(order[MOST_MODELS - 1 :] and [order[MOST_MODELS - 1]])]
        models = tuple(model_line(at, report.models[at]) for at in order)
        self.chosen = first
        self._put(tuple(tool_line(row) for row in report.found if row.name != HOME), models)

    def _put(self, tools: tuple[ToolLine, ...], models: tuple[ModelLine, ...]) -> None:
        self.tools, self.models = tools, models
        for number, (holder, toggle, place, bytes_, number_item, warning) in enumerate(self._rows):
            row = tools[number] if number < len(tools) else None
            dpg.configure_item(holder, show=row is not None)
            if row is None:
                continue
            toggle.set_label(row.title)
            toggle.set_on(True)
            for item, words in ((place, row.place), (bytes_, row.size), (number_item, f"{row.number:,}")):
                dpg.set_value(item, words)
            dpg.set_value(warning, f"{icon('clock')}  {row.warning}" if row.warning else "")
            dpg.configure_item(warning, show=bool(row.warning))
        rest = tools[MOST_TOOLS:]
        dpg.set_value(self._gives.aside, f"plain text in {short_folder(str(self._shell.workspace.paths.knowledge))}")
        folder = short_folder(str(self._shell.workspace.paths.conversations))
        more = f"and {', '.join(f'{row.number} of {row.title}' for row in rest)}" if rest else ""
        more = more or ("" if tools else f"{NO_TOOLS}\n{folder}")
        dpg.set_value(self._more, more)
        dpg.configure_item(self._more, show=bool(more))
        for number, (item, _, _, _) in enumerate(self._models):
            dpg.configure_item(item, show=number < len(models))
        self._say()

    def _say(self) -> None:
        """Heading, chosen model and the one button, as they stand now."""
        wanted = self.wanted()
        if self.report is not None:
            dpg.set_value(self._title, waiting_words(self.tools) if self.tools else NONE)
        for (item, button, state, words), row in zip(self._models, self.models, strict=False):
            on = row.at == self.chosen
            button.set_label(row.title, "circle-dot" if on else "circle")
            dpg.set_value(state, row.state)
            self._look.tint(state, "harvested" if row.ready else "edited")
            dpg.set_value(words, row.words)
            self._look.theme(item, "card-on" if on else "card")
        number = sum(row.number for row in wanted)
        self.begin.set_label(f"Harvest {count(number, 'conversation')}…" if number else "Harvest…")
        self.begin.enable(bool(number))

    def _fit(self, width: float, height: float) -> None:
        look = self._look
        room = width - look.px(24)
        beside = room >= look.px(BESIDE)
        whole = int(min(room, look.px(WIDTH)))
        left = int(whole * FOUND_WIDTH / WIDTH) if beside else whole
        dpg.configure_item(self._parts, horizontal=beside)
        dpg.configure_item(self._left, width=left)
        dpg.configure_item(self._right, width=whole - left - look.px(12) if beside else whole)
        dpg.configure_item(self._column, indent=max(1, int((width - whole) / 2)))
        dpg.configure_item(self._top, height=max(1, int((height - look.px(560)) * 0.3)))

    # --- what can be done ---

    def wanted(self) -> tuple[ToolLine, ...]:
        """The tools whose conversations are to be harvested."""
        ticked = [toggle.on for _, toggle, *_ in self._rows]
        return tuple(row for at, row in enumerate(self.tools) if at >= len(ticked) or ticked[at])

    def _ticked(self, _number: int, _on: bool) -> None:
        self._say()

    def choose(self, number: int) -> None:
        """Have another model read them; one that is not ready says why instead."""
        row = self.models[number]
        if not row.ready:
            self._shell.toast(f"{row.title}: {row.state}", icon="circle-alert", color="edited")
            return
        self.chosen = row.at
        self._say()

    def start(self) -> None:
        """Write what was chosen, as `knowledge setup` does, and open the dry run."""
        report, wanted, chosen = self.report, self.wanted(), self.chosen
        if report is None or not wanted:
            return
        names = {row.name for row in wanted}
        asked = SetupReport(report.home, [row for row in report.sources if row.name in names], report.models)
        self.begin.enable(False)

        def done(answered: SetupReport) -> None:
            self._say()
            if answered.errors:
                self._shell.error(answered.errors[0])
                return
            # The dry run is that of the settings as they are now: they are read before it begins.
            self._shell.on_next_reading.append(lambda: self.on_harvest(()))

        def failed(error: ErrorInfo) -> None:
            self._say()
            self._shell.error(error)

        self._shell.write(
            "Your choice",
            lambda workspace: apply_answers(workspace, asked, chosen, True),
            done=done,
            failed=failed,
            remember=False,
        )

    def press(self, key: str, typing: bool) -> bool:
        """Enter begins the harvest, of the demo where there is nothing else."""
        if key != "Enter" or typing:
            return False
        if self.wanted():
            self.start()
        else:
            self.try_demo()
        return True

    def try_demo(self) -> None:
        """Make a demo home, harvest it, and open it in this window."""
        dpg.set_value(self._busy, "Making the demo…")
        self.demo.enable(False)
        open_demo(self._shell, self._ended)

    def _ended(self) -> None:
        dpg.set_value(self._busy, "")
        self.demo.enable(True)


def open_demo(shell: Shell, ended: Callable[[], object] = lambda: None) -> None:
    """Show a new demo home in this window; on failure say why."""
    workspace = shell.workspace

    def finish(result: Result[Workspace]) -> None:
        ended()
        if isinstance(result, Ok):
            shell.use_home(result.value)
            home = result.value.paths.home
            shell.toast(f"This is the demo, in {home}; your own home is untouched", icon="circle-play", color="accent")
        else:
            shell.error(result.error)

    shell.submit("The demo", lambda _job: demo_home(workspace), finish, lane=RUN)
