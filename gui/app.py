"""`knowledge-panel`: the panel as a program of its own."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.base.result import ErrorInfo, KnowledgeError
from core.commands.workspace import Workspace, open_workspace
from gui import NAME
from gui.geometry import SMALLEST, Geometry, grown, on_screen, read_geometry, remembered, write_geometry
from gui.toolkit.keys import KeyGate
from gui.toolkit.window import FrameLoop, Glfw, display_problem, find_glfw, monitor_scale, window_context

if TYPE_CHECKING:
    from gui.panel import KnowledgePanel


def arguments() -> argparse.ArgumentParser:
    """What can be said on the command line."""
    parser = argparse.ArgumentParser(
        prog="knowledge-panel",
        description="The Knowledge panel: what your AI conversations taught, in a window.",
        epilog="Example: knowledge-panel --demo",
    )
    parser.add_argument("--home", default="", metavar="DIR", help="the home folder (usual: ~/.manual_slop)")
    parser.add_argument("--config", type=Path, default=None, metavar="FILE", help="the settings file")
    demo = "make a temporary home with sample conversations, open it; with DIR, open the one that 'knowledge demo' made"
    parser.add_argument("--demo", nargs="?", const="", metavar="DIR", help=demo)
    parser.add_argument("--scale", type=float, default=0.0, metavar="S", help="size of everything, 0.5 to 4")
    return parser


def run(words: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed. Returns the exit status: 0, or 1 with a sentence on stderr; 130 when
    Ctrl-C came before there was a window."""
    try:
        return begin(words)
    except KeyboardInterrupt:
        return 130


def begin(words: Sequence[str] | None) -> int:
    """The same, without an answer to Ctrl-C until the window is there."""
    asked = arguments().parse_args(words)
    if asked.scale and not 0.5 <= asked.scale <= 4:
        return refuse(ErrorInfo("usage", "--scale is a number from 0.5 to 4"), 2)
    # Without a display Dear PyGui aborts the process, so this question comes before it is imported at all.
    problem = display_problem()
    if problem is not None:
        return refuse(problem)
    try:
        own = opened = open_workspace(asked.home, asked.config)
        if asked.demo is not None:
            from core.commands.demo import demo_home, opened_demo

            opened = opened_demo(own, os.path.abspath(asked.demo)) if asked.demo else demo_home(own)
    except KnowledgeError as failed:
        return refuse(failed.error)
    geometry, warning = read_geometry()
    if warning:
        print(f"knowledge-panel: {warning}", file=sys.stderr)
    return show(opened, geometry, asked.scale, own)


def refuse(error: ErrorInfo, status: int = 1) -> int:
    """Say why there is no window."""
    print(f"knowledge-panel: {error}", file=sys.stderr)
    return status


def show(workspace: Workspace, geometry: Geometry, scale: float = 0.0, own: Workspace | None = None) -> int:
    """One window with the panel in it; remembers its place at the end. `own` is the user's home beside a demo's."""
    from gui.panel import KnowledgePanel

    wakes: list[FrameLoop] = []
    interrupted: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        """Ctrl-C in the terminal closes the window like its button, in whatever moment it comes."""
        interrupted.append(number)
        for loop in wakes:
            loop.stop()

    signal.signal(signal.SIGINT, interrupt)
    glfw = find_glfw()
    natural = monitor_scale(glfw)
    usual = scale or natural
    screens = glfw.screens() if glfw is not None else []
    begun = scale or geometry.scale or usual
    place = on_screen(grown(geometry, begun), screens)
    with window_context(NAME, place.width, place.height, place.x, place.y, SMALLEST) as dpg:
        window = int(
            dpg.add_window(
                no_scrollbar=True, no_scroll_with_mouse=True, no_title_bar=True, no_move=True, no_resize=True,
                no_bring_to_front_on_focus=True,
            )
        )  # fmt: skip
        with dpg.theme() as bare, dpg.theme_component(dpg.mvAll):
            dpg.add_theme_style(dpg.mvStyleVar_WindowPadding, 0, 0)
            dpg.add_theme_style(dpg.mvStyleVar_WindowBorderSize, 0)
        dpg.bind_item_theme(window, bare)
        panel = KnowledgePanel(
            workspace,
            scale=begun,
            wake=lambda: wakes[0].wake() if wakes else None,
            palette=place.choices.get("theme", "dark"),
            choices=place.choices,
            own=own,
        )
        panel.usual_scale = usual
        panel.build(window)
        dpg.set_primary_window(window, True)
        dpg.show_viewport(maximized=place.maximized)
        gate = KeyGate()
        gate.listen(glfw)
        panel.hear(gate)
        wakes.append(FrameLoop(panel.jobs, panel.tick, glfw=glfw, drawn=gate.drawn, returned=panel.returned))
        try:
            if not interrupted:
                wakes[0].run()
        finally:
            keep(panel, geometry, glfw, natural)
            panel.dispose()
            gate.close()
    return 0


def keep(panel: KnowledgePanel, before: Geometry, glfw: Glfw | None, natural: float) -> None:
    """Remember where the window stood."""
    import dearpygui.dearpygui as dpg

    x, y = dpg.get_viewport_pos()
    width, height = dpg.get_viewport_width(), dpg.get_viewport_height()
    screens = glfw.screens() if glfw is not None else []
    # A window as large as its screen is a maximised one: Dear PyGui does not tell.
    full = any(width >= screen[2] and height >= screen[3] - 80 for screen in screens)
    chosen = panel.shell.scale or before.scale
    now = Geometry(round(x), round(y), width, height, full, 0.0 if chosen == natural else chosen, panel.choices())
    try:
        write_geometry(remembered(before, now))
    except KnowledgeError as failed:
        print(f"knowledge-panel: {failed.error}", file=sys.stderr)
