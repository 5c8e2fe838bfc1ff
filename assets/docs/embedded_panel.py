"""A program of its own with a dockable chat and the Knowledge panel beside it: `python embedded_panel.py [PROJECT]`.

The chat's field is the host's: what is typed there is never the panel's. Drag a window by its title to dock it. See
embed.md, which this belongs to.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import KnowledgeError
from core.commands.workspace import Workspace, open_workspace
from gui.panel import KnowledgePanel
from gui.toolkit.window import FrameLoop, find_glfw

WIDE, TALL, CHAT = 1100, 760, 560


class ChatProgram:
    """The host: a chat with a field, and a panel in the window beside it."""

    def __init__(self, workspace: Workspace, project: str) -> None:
        dpg.create_context()
        dpg.configure_app(docking=True, docking_space=True, manual_callback_management=True)
        dpg.create_viewport(title="A chat with its knowledge", width=WIDE, height=TALL)
        dpg.setup_dearpygui()
        chat = dpg.add_window(label="Chat", pos=[0, 0], width=CHAT, height=TALL, no_close=True)
        self.said = int(dpg.add_text("Ask something.", parent=chat, wrap=0))
        self.field = int(
            dpg.add_input_text(parent=chat, width=-1, hint="Your words", on_enter=True, callback=self._say)
        )
        dpg.add_button(label="What is known of README.md", parent=chat, callback=self._show)
        beside = dpg.add_window(label="Knowledge", pos=[CHAT, 0], width=WIDE - CHAT, height=TALL, no_close=True)
        place = int(dpg.add_child_window(parent=beside, border=False))
        self.project = project
        self.panel = KnowledgePanel(workspace, compact=True, project=project, on_harvest=self._harvested)
        self.panel.build(place)
        self.loop = FrameLoop(self.panel.jobs, self.panel.tick, glfw=find_glfw())
        dpg.show_viewport()

    def _say(self, _sender: int, words: str) -> None:
        self._add(f"You: {words}")
        dpg.set_value(self.field, "")

    def _show(self) -> None:
        self.panel.show(os.path.join(self.project, "README.md"))  # its notes; a line number may follow

    def _harvested(self, report: Any) -> None:
        self._add(f"The panel has read {report.harvested} conversations.")

    def _add(self, words: str) -> None:
        dpg.set_value(self.said, f"{dpg.get_value(self.said)}\n{words}")

    def close(self) -> None:
        """Take the panel away, then the window."""
        self.panel.dispose()
        dpg.destroy_context()


def main() -> int:
    """Until the window is closed."""
    try:
        workspace = open_workspace()
    except KnowledgeError as error:  # settings that are wrong, a home that may not be opened: one sentence
        print(error, file=sys.stderr)
        return 1
    program = ChatProgram(workspace, os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.curdir))
    program.loop.run()
    program.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
