"""The first start, with nothing harvested yet: what is on this computer, who could read it, and one button to begin.

What `knowledge setup` finds out is shown here and asked with one click: the tools that are ticked, the model that is
chosen. The dry run that follows says what would be done; nothing is read or sent before the user says so there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import dearpygui.dearpygui as dpg

from core.base.figures import count, dollars, tokens
from core.base.result import ErrorInfo
from core.commands.daily.setup import OFFLINE, ModelChoice, SetupReport, apply_answers, default_model, survey
from core.commands.demo import demo_home
from core.commands.sources import HOME, SourceFound
from core.commands.workspace import Workspace
from core.knowledge.run_state import NEVER
from gui.shell import READ, RUN, Shell
from gui.state import Snapshot, State
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, card, lowered, space, spread
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, say, text
from gui.views.looks import CATEGORIES, NOT_HARVESTED, capital, short_folder
from gui.views.sources import SourceLine

WIDTH, FOUND_WIDTH, BESIDE = 1060, 630, 1030
"""The page, its left part, and the width of the window from which on the parts stand side by side."""
FOOT = 36
MAX_TOOLS, MAX_MODELS = 7, 5
LOOKING = "Looking at this computer…"
NONE = "No conversations were found on this computer"
TURNS = "A harvest turns conversations into plain text files that are yours, and that new ones can begin with."
NOTHING_SENT = f"{TURNS} Nothing has been read or sent yet."
GIVES = {
    "facts": "what is true here",
    "decisions": "what was chosen, why",
    "playbooks": "steps that worked",
    "questions": "what is still open",
    "tasks_open": "what is left to do",
    "files": "what a file hides",
}
GIVES_WIDTH = 190
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
class ModelLine:
    """One way to have conversations read: `at` is its place among those that setup found."""

    at: int
    title: str
    state: str
    ready: bool
    words: str


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


def begin_words(state: State) -> str:
    """What stands below the heading. While another program makes the first harvest, something is being read."""
    run = state.snapshot.overview.status.stands.run if state.snapshot is not None else None
    return NOTHING_SENT if run is None or run.state == NEVER else f"{TURNS} {capital(run.words)}."


class FirstStart:
    """A page over the whole middle. `on_harvest` opens a dry run of some sources."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.on_harvest: Callable[[tuple[str, ...]], object] = lambda _sources: None
        self.report: SetupReport | None = None
        self.tools: tuple[SourceFound, ...] = ()
        self.models: tuple[ModelLine, ...] = ()
        self.chosen = -1
        self._looked = ("", 0)
        self._shown = False

    # --- what it is made of ---

    def build(self, parent: int) -> None:
        """Make the page inside `parent`, hidden."""
        look = self._look
        self.item = box(look, parent, "gutter", show=False)
        page = self._page = box(look, self.item, "pane", scroll=True)
        self._top = int(dpg.add_spacer(parent=page, height=1))
        self._column = int(dpg.add_group(parent=page))
        head = int(dpg.add_group(horizontal=True, parent=self._column))
        text(look, head, icon("library"), "heading", "accent")
        self._title = text(look, head, LOOKING, "heading", wrap=True)
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
        Button(look, row, "Open settings", self._shell.open_settings, icon="settings", kind="ghost",
               tip="The settings file in the system's editor")  # fmt: skip
        self._busy = text(look, lowered(look, row, 7), "", "small", "hint")
        self.foot = Button(look, self.item, "Harvest…", self.start, icon="wheat", kind="primary", width=-1,
                           tip="A dry run first: it says what it would do, and asks", shortcut="Enter")  # fmt: skip
        self.foot.show(False)
        look.follow(page, self._fit)

    def _build_found(self, parent: int) -> None:
        look = self._look
        found = self._found = box(look, parent, "card", height=0)
        text(look, found, "Found on this computer", "strong", "muted")
        self.lines = [SourceLine(look, found, lambda _name, _on: self._say()) for _ in range(MAX_TOOLS)]
        self._more = text(look, found, "", "small", "hint", wrap=True)
        dpg.add_separator(parent=found)
        self.sources = Button(look, found, "Add a folder, or an export of ChatGPT",
                              lambda: self._shell.run("view.conversations"), icon="plus", kind="link",
                              tip="Each tool with its folders and a switch; exports of ChatGPT")  # fmt: skip
        space(look, parent, 2)
        gives, self._place = card(look, parent, "What you get", " ")
        for begin in (0, 3):
            row = int(dpg.add_group(horizontal=True, parent=gives))
            for name in [*GIVES][begin : begin + 3]:
                looks = CATEGORIES[name]
                part = box(look, row, "clear", width=GIVES_WIDTH, height=0)
                line = int(dpg.add_group(horizontal=True, parent=part))
                text(look, lowered(look, line, 6), icon(looks.icon), "text", looks.color)
                words = look.theme(int(dpg.add_group(parent=line)), "no-gap")
                text(look, words, looks.name, "text")
                text(look, words, GIVES[name], "small", "hint")

    def _build_models(self, parent: int) -> None:
        look = self._look
        made, _ = card(look, parent, "Who reads them", "estimated")
        self._models: list[tuple[int, Button, int, int]] = []
        for number in range(MAX_MODELS):
            item = box(look, made, "card", height=0, show=False)
            left, right = spread(look, item, lower=7)
            button = Button(look, left, "", partial(self.choose, number), icon="circle", kind="ghost",
                            tip="Take this one", shortcut="Up, Down")  # fmt: skip
            state = text(look, right, "", "small", "hint")
            self._models.append((item, button, state, text(look, item, "", "small", "muted", wrap=True)))
        text(look, made, f"{icon('shield-check')}  {SAFE}", "small", "hint", wrap=True)
        space(look, parent, 4)
        self.begin = Button(look, parent, "Harvest…", self.start, icon="wheat", kind="primary", width=-1,
                            tip="A dry run first: it says what it would do, and asks", shortcut="Enter")  # fmt: skip
        text(look, parent, "Shows first what it would do, and asks", "small", "hint")

    # --- what it shows ---

    def show(self, on: bool) -> None:
        """Whether the page is there."""
        dpg.configure_item(self.item, show=on)
        self._shown = on

    def refresh(self, state: State) -> None:
        """Look around once for each home, and while nothing was found whenever the user is back; say who is at work."""
        words = begin_words(state)
        if words != dpg.get_value(self._words):
            dpg.set_value(self._words, words)
        looked, self._looked = self._looked, (state.home, state.returns)
        found_none = self.report is not None and not self.tools
        if state.home != looked[0] or (state.returns != looked[1] and found_none):
            self.look_around()

    def look_around(self) -> None:
        """Ask what `knowledge setup` asks, on a worker: it reads a part of what was found for the estimates."""
        workspace = self._shell.workspace
        self.report = None
        self._put((), ())
        dpg.set_value(self._title, LOOKING)
        self._shell.submit("The look at this computer", lambda _job: survey(workspace), self.take, lane=READ,
                           wanted=lambda: workspace.paths == self._shell.workspace.paths)  # fmt: skip

    def take(self, report: SetupReport) -> None:
        """Show what was found; the model that sends nothing is chosen, as `knowledge setup --yes` would."""
        self.report = report
        first = max(0, default_model(self._shell.workspace, report))
        order = [first, *(at for at in range(len(report.models)) if at != first)]
        models = tuple(model_line(at, report.models[at]) for at in order[:MAX_MODELS])
        self.chosen = first
        self._put(tuple(row for row in report.found if row.name != HOME), models)

    def _put(self, tools: tuple[SourceFound, ...], models: tuple[ModelLine, ...]) -> None:
        self.tools, self.models = tools, models
        for at, line in enumerate(self.lines):
            line.show(tools[at] if at < len(tools) else None)
        rest = tools[MAX_TOOLS:]
        dpg.set_value(self._place, f"plain text in {short_folder(str(self._shell.workspace.paths.knowledge))}")
        folder = short_folder(str(self._shell.workspace.paths.conversations))
        more = f"and {', '.join(f'{row.conversations} of {row.title}' for row in rest)}" if rest else ""
        more = more or ("" if tools else f"{NO_TOOLS}\n{folder}")
        say(self._more, more)
        for number, (item, _, _, _) in enumerate(self._models):
            dpg.configure_item(item, show=number < len(models))
        self._say()

    def _say(self) -> None:
        """Heading, chosen model and the one button, as they stand now."""
        wanted = self.wanted()
        if self.report is not None:
            found = count(sum(row.conversations for row in self.tools), "conversation")
            dpg.set_value(self._title, f"{found} on this computer, {NOT_HARVESTED}" if self.tools else NONE)
        for (item, button, state, words), row in zip(self._models, self.models, strict=False):
            on = row.at == self.chosen
            button.set_label(row.title, "circle-dot" if on else "circle")
            dpg.set_value(state, row.state)
            self._look.tint(state, "harvested" if row.ready else "edited")
            dpg.set_value(words, row.words)
            self._look.theme(item, "card-on" if on else "card")
        number = sum(row.conversations for row in wanted)
        for button in (self.begin, self.foot):
            button.set_label(f"Harvest {count(number, 'conversation')}…" if number else "Harvest…")
            button.enable(bool(number))

    def _fit(self, width: float, height: float) -> None:
        look = self._look
        room = width - look.px(24)
        beside = room >= look.px(BESIDE)
        # Where the parts stand below each other the button would be out of sight: it stands below the page then.
        self.foot.show(not beside)
        self.begin.show(beside)
        dpg.configure_item(self._page, height=-1 if beside else -look.px(FOOT))
        whole = int(min(room, look.px(WIDTH)))
        left = int(whole * FOUND_WIDTH / WIDTH) if beside else whole
        dpg.configure_item(self._parts, horizontal=beside)
        dpg.configure_item(self._left, width=left)
        dpg.configure_item(self._right, width=whole - left - look.px(12) if beside else whole)
        dpg.configure_item(self._column, indent=max(1, int((width - whole) / 2)))
        dpg.configure_item(self._top, height=max(1, int((height - look.px(560)) * 0.3)))

    # --- what can be done ---

    def wanted(self) -> tuple[SourceFound, ...]:
        """The tools whose conversations are to be harvested."""
        ticked = [line.toggle.on for line in self.lines]
        return tuple(row for at, row in enumerate(self.tools) if at >= len(ticked) or ticked[at])

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
        self.foot.enable(False)

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

        self._shell.write("Your choice", lambda workspace: apply_answers(workspace, asked, chosen, True), done=done,
                          failed=failed, remember=False)  # fmt: skip

    def press(self, key: str) -> bool:
        """Enter begins the harvest, of the demo where there is nothing else; Up and Down choose who reads."""
        if key in ("Up", "Down") and self.models:
            at = next((at for at, row in enumerate(self.models) if row.at == self.chosen), 0)
            others = range(at + 1, len(self.models)) if key == "Down" else range(at - 1, -1, -1)
            # One that is not ready cannot be chosen, and must not stand in the way of those behind it.
            self.choose(next((other for other in others if self.models[other].ready), next(iter(others), at)))
            return True
        if key != "Enter":
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

    def show(demo: Workspace) -> None:
        shell.use_home(demo)
        words = f"This is the demo, in {demo.paths.home}; your own home is untouched"
        shell.toast(words, icon="circle-play", color="accent")

    shell.submit("The demo", lambda _job: demo_home(workspace), show, first=ended, lane=RUN)
