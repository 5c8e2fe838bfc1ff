"""The command palette: one field that finds actions, files, runs and every bullet, by keyboard alone."""

from __future__ import annotations

from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import Ok, Result
from core.commands.view import all_bullets
from gui.shell import Shell
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, space, spread, trailing_row
from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look
from gui.toolkit.widgets import floating, text, text_field
from gui.views.palette_rows import Entry, action_entries, bullet_entries, file_entries, run_entries, search
from gui.views.search_rows import Asked

ROWS = 12
WIDTH = 680
TITLE, ASIDE = 430, 170
"""How wide the words of a row may be."""
HIDDEN = frozenset({"palette"})


class CommandPalette:
    """A window over the panel. Up and Down move, Enter does it, Esc or a click beside it closes."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self._entries: list[Entry] = []
        self._bullets: list[Entry] = []
        self._bullets_of: object = None
        self.found: list[Entry] = []
        self.at = 0
        self.is_open = False
        self._placing = 0

    def build(self) -> None:
        """Make the window, hidden."""
        look = self._look
        self.item, body = floating(look, "palette", WIDTH, modal=True)
        self.field = text_field(
            look, body, placeholder="Search bullets, files, views and commands", on_change=self._typed
        )
        look.theme(self.field, "search")
        self._list = look.theme(box(look, body, "clear", height=0), "clear")
        group = look.theme(int(dpg.add_group(parent=self._list)), "loose")
        space(look, group, 0.1)
        self._rows = [self._row(group, number) for number in range(ROWS)]
        space(look, group, 0.1)
        left, right = spread(look, body)
        self._count = text(look, left, "", "small", "hint")
        text(look, right, "Up Down  choose     Enter  do it     Esc  close", "small", "hint")
        self._shell.layers.append(self._key)
        look.every_tick(self.tick)

    def _row(self, parent: int, number: int) -> tuple[int, ...]:
        look = self._look
        holder = int(dpg.add_group(parent=parent, show=False))
        row = int(dpg.add_group(horizontal=True, parent=holder, horizontal_spacing=0.01))
        button = int(dpg.add_selectable(parent=row, callback=self._clicked, user_data=number))
        look.theme(button, "pick")
        left, right = trailing_row(look, row, 2, 1)
        return holder, button, text(look, left, ""), text(look, left, ""), text(look, right, "", "small", "hint")

    # --- opening and closing ---

    def open(self) -> None:
        """Show it with an empty field."""
        if self.is_open:
            return
        self.is_open = True
        dpg.set_value(self.field, "")
        self._entries = self._gather()
        self._typed("")
        dpg.configure_item(self.item, show=True)
        self._place()
        self._placing = 3
        self._look.keys_to(self.field)
        self._read_bullets()

    def close(self) -> None:
        """Hide it."""
        self.is_open = False
        dpg.configure_item(self.item, show=False)

    def _gather(self) -> list[Entry]:
        shell = self._shell
        rows = action_entries(action for action in shell.actions.values() if action.name not in HIDDEN)
        if shell.state.snapshot is not None:
            rows += file_entries(shell.state.snapshot.overview.files) + run_entries(shell.state.snapshot.overview.runs)
        return rows + self._bullets

    def _read_bullets(self) -> None:
        """Read all bullets on the worker, unless nothing has changed since the last time."""
        snapshot, workspace = self._shell.state.snapshot, self._shell.workspace
        if snapshot is self._bullets_of:
            return

        def done(result: Result[Any]) -> None:
            if isinstance(result, Ok):
                self._bullets, self._bullets_of = result.value, snapshot
                self._entries = self._gather()
                if self.is_open:
                    self._typed(str(dpg.get_value(self.field)))

        self._shell.submit("The bullets", lambda _job: bullet_entries(all_bullets(workspace)), done)

    # --- finding ---

    def _typed(self, words: str) -> None:
        self.found = search(self._entries, words, ROWS)
        if words.strip():
            everywhere = Entry("search", words.strip(), f"Search everything for “{words.strip()}”", "search", "accent")
            self.found = [*self.found[: ROWS - 1], everywhere]
        self.at = 0
        self._show()

    def _show(self) -> None:
        for number, (holder, button, sign, title, aside) in enumerate(self._rows):
            entry = self.found[number] if number < len(self.found) else None
            dpg.configure_item(holder, show=entry is not None)
            if entry is None:
                continue
            dpg.set_value(button, number == self.at)
            dpg.set_value(sign, icon(entry.icon))
            self._look.tint(sign, entry.color)
            told = self._cut(entry.aside, "small", self._look.px(ASIDE))
            dpg.set_value(aside, told)
            dpg.set_value(title, self._cut(entry.title, "text", self._look.px(TITLE if told else TITLE + ASIDE)))
        total = len(self._entries)
        named = [entry for entry in self.found if entry.kind != "search"]
        dpg.set_value(self._count, f"{total:,} things to find" if named else "Nothing like that")

    def _cut(self, words: str, role: str, room: float) -> str:
        wide = LETTERS.wide(self._look.font_id(role))
        words = " ".join(words.split("\n"))
        return words if wide is None else cut(words, room, wide)

    # --- choosing ---

    def _key(self, name: str, _modifiers: frozenset[str], _typing: bool) -> bool:
        """Takes every key while it is open."""
        if not self.is_open:
            return False
        if name == "Esc":
            self.close()
        elif name in ("Up", "Down") and self.found:
            self.at = (self.at + (1 if name == "Down" else -1)) % len(self.found)
            self._show()
        elif name in ("Enter", "Keypad Enter"):
            self._do(self.at)
        return True

    def _clicked(self, _sender: int, _on: bool, number: int) -> None:
        self._look.jobs.post(self._do, number)

    def _do(self, number: int) -> None:
        entry = self.found[number] if number < len(self.found) else None
        if entry is None:
            return
        self.close()
        shell = self._shell
        if entry.kind == "action":
            shell.run(entry.key)
        elif entry.kind == "search":
            shell.put({"search": Asked(entry.key)})
            shell.run("view.search")
        elif entry.kind == "file":
            found = shell.state.snapshot.overview.file(entry.key) if shell.state.snapshot is not None else None
            if found is not None:
                shell.open_path(found.path)
        elif entry.kind == "run":
            shell.ask(
                "Undo this run?",
                f"{entry.title[5:]}\n\nIts lines leave the files and its conversations come back from the trash. What "
                "you changed since stays.",
                "Undo it",
                lambda: shell.undo(entry.key),
                kind="danger",
            )
        else:
            shell.select("bullet", entry.key, entry.line, entry.raw)
            shell.show("files" if entry.key.startswith("files/") else "knowledge")

    # --- its place ---

    def tick(self) -> bool:
        """Keep it in its place while it opens; close after a click beside it."""
        if not self.is_open:
            return False
        if not dpg.is_item_shown(self.item):  # another modal window closed in the same frame took it along
            dpg.configure_item(self.item, show=True)
            self._placing = 3
            self._look.keys_to(self.field)
            return True
        if self._placing:
            self._placing -= 1
            self._place()
            return True
        if dpg.is_mouse_button_clicked(dpg.mvMouseButton_Left) and not self._under_mouse():
            self.close()
        return False

    def _under_mouse(self) -> bool:
        x, y = dpg.get_mouse_pos(local=False)
        left, top = dpg.get_item_pos(self.item)
        width, height = dpg.get_item_rect_size(self.item)
        return bool(left <= x <= left + width and top <= y <= top + height)

    def _place(self) -> None:
        width = max(int(dpg.get_item_rect_size(self.item)[0]), self._look.px(WIDTH))
        left = max(0, (dpg.get_viewport_client_width() - width) // 2)
        dpg.configure_item(self.item, pos=[left, self._look.px(62)])
