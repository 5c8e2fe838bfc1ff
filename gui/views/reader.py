"""The reader: one conversation over the whole width, with what was harvested from it in the margin.

What is shown is made as data on a worker (`reader_rows.py`); `reader_sheet.py` lays out and draws what is in sight of
it, and all of it in small. Here is the page around them: opening, finding, moving, keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from functools import partial

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.result import ErrorInfo
from core.commands.panel.bullets import local_day
from core.commands.transcript import read as read_named
from core.commands.transcript import read_entry
from core.commands.workspace import Workspace
from core.conversations.readable import ReadableConversation
from gui.shell import READ, Reading, Shell
from gui.state import State
from gui.toolkit.canvas import Canvas
from gui.toolkit.icons import icon
from gui.toolkit.jobs import Job
from gui.toolkit.layout import box, gap, lowered, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.typeset import Style, colours_of
from gui.toolkit.widgets import Button, say, text, text_field
from gui.views.knowledge_rows import Knowledge
from gui.views.list_view import the_same
from gui.views.looks import CATEGORIES, short_folder
from gui.views.reader_rows import CALL, HEAD, Piece, Place, Script, clock, one_line_of, places_of, script_of
from gui.views.reader_sheet import TOP_SHARE, ReaderMap, Sheet

STRIP_WIDE, STRIP, STRIP_THIN = 96, 64, 30
STEP = 66
ITEM = 300
"""This many letters of an item stand above the words where the margin has no room."""
BELOW = 80
"""This many unscaled pixels stay empty below the end."""


class ConversationReader:
    """The page over the middle of the panel. `on_close()` is called when it is left."""

    keys = (
        ("Esc", "Back"),
        ("Ctrl+F, /", "Find in the conversation"),
        ("Enter, Shift+Enter", "The next place that was found, the one before"),
        ("N, Shift+N", "The next harvested bullet, the one before"),
        ("Left, Right", "What you said before, what you said next"),
        ("F", "Unfold or fold all calls"),
        ("G", "Go to the bullet that you are at"),
        ("O", "Open the original file"),
        ("R", "Copy the command that goes on with it in its tool"),
        ("Ctrl+C", "Copy the turn that is at the top"),
        ("Up, Down, Page up, Page down, Home, End", "Move"),
    )

    def __init__(self, look: Look, shell: Shell, on_close: Callable[[], object]) -> None:
        self._look, self._shell, self._on_close = look, shell, on_close
        self.is_open = False
        self.talk: ReadableConversation | None = None
        self.sought = ""
        self._wanted = Reading()
        self._seen: tuple[object, ...] = ()  # the ledger and the bullets that its margin was made of
        self._ticket = 0
        self._job: Job | None = None
        self._turns: list[int] = []  # the piece at which each thing that the user said begins
        self.sheet = Sheet(look, on_fold=self.toggle, on_copy=self.copy_code, on_item=self.show_item,
                           on_code=self._colour)  # fmt: skip
        self.canvas = Canvas(
            look, settle=self._settle, paint=self.sheet.paint, on_click=self._clicked, on_size=self._sized,
            on_moved=lambda: self.map.renew(),
        )  # fmt: skip
        self.map = ReaderMap(look, self.sheet, self.canvas, self.go_share)

    @property
    def script(self) -> Script:
        """What is shown."""
        return self.sheet.script

    # --- items ---

    def build(self, parent: int) -> None:
        """Make everything once; hidden."""
        look = self._look
        self.item = box(look, parent, "gutter", show=False)
        page = box(look, self.item, "reader")
        left, right = spread(look, page)
        self.back = Button(look, left, "", self.close, icon="arrow-left", kind="ghost", tip="Back", shortcut="Esc")
        self._title = text(look, lowered(look, left, 4), "", "heading", fit=END)
        gap(look, right, 1)
        self.resume = Button(look, right, "", self.copy_resume, icon="play", kind="secondary", shortcut="R",
                             tip="Copy the command that goes on with it in its own tool")  # fmt: skip
        Button(look, right, "", self.open_original, icon="external-link", kind="ghost", tip="Open the original file",
               shortcut="O")  # fmt: skip
        line = int(dpg.add_group(horizontal=True, parent=page))
        gap(look, line, 34)
        self._about = text(look, line, "", "small", "muted", fit=END)
        left, right = spread(look, page)
        self.field = text_field(look, left, placeholder=f"{icon('search')}  Find in it   /", width=210,
                                on_change=self._typed, anew=True)  # fmt: skip
        self._found = text(look, lowered(look, left, 7), "", "small", "hint")
        self._walk = (
            Button(look, left, "", lambda: self.go_place(-1), icon="chevron-up", kind="ghost", tip="The place before",
                   shortcut="Shift+Enter"),
            Button(look, left, "", lambda: self.go_place(1), icon="chevron-down", kind="ghost", tip="The next place",
                   shortcut="Enter"),
        )  # fmt: skip
        gap(look, left, 4)
        self._marks = text(look, lowered(look, left, 7), "", "small", "muted", fit=END)
        self._next = Button(look, right, "Next bullet", lambda: self.go_mark(1), icon="arrow-down", kind="ghost",
                            tip="The next harvested bullet", shortcut="N")  # fmt: skip
        self._unfold = Button(look, right, "Unfold", self.fold_all, icon="chevrons-up-down", kind="ghost",
                              tip="Unfold or fold all calls", shortcut="F")  # fmt: skip
        self._says = text(look, page, "", "text", "hint", wrap=True)
        row = look.theme(int(dpg.add_group(horizontal=True, parent=page)), "no-gap")
        self._side, self._strip = box(look, row, "clear"), box(look, row, "clear")
        self.canvas.build(self._side)
        self.map.build(self._strip)
        look.follow(page, self._fit)

    def _fit(self, width: float, _height: float) -> None:
        px = self._look.px
        strip = px(STRIP_WIDE if width > px(1000) else STRIP if width > px(620) else STRIP_THIN)
        dpg.configure_item(self._side, width=max(1, int(width) - strip))
        dpg.configure_item(self._strip, width=strip)
        narrow = width < px(760)
        self._next.words(not narrow)
        self._unfold.words(not narrow)
        self.resume.words(width > px(620))
        self._look.size(self.field, width=210 if width > px(560) else 130)

    # --- opening and closing ---

    def open(self, wanted: Reading) -> None:
        """Show a conversation; it is read on a worker, and the page stands at once."""
        self.is_open, self._wanted = True, wanted
        self._show_script(None, Script())
        dpg.set_value(self.field, "")
        self.sought = ""
        dpg.set_value(self._title, "Reading…")
        dpg.set_value(self._about, "")
        dpg.configure_item(self.item, show=True)

        def done(read: tuple[ReadableConversation, Script]) -> None:
            self._show_script(*read)
            if wanted.turn:
                self.go_turn(wanted.turn)
            if wanted.words:
                dpg.set_value(self.field, wanted.words)
                self._typed(wanted.words, stay=bool(wanted.turn))

        self._read(done)

    def refresh(self, state: State) -> None:
        """After a harvest, an edit or an undo other lines stand in the margin: read it again, in its place."""
        seen = (state.snapshot and state.snapshot.ledger, state.of("knowledge"))
        if the_same(seen, self._seen):
            return
        known, self._seen = None not in (self._seen or (None,)), seen
        if known and self.is_open and None not in seen:
            if self.talk is None:
                self.open(self._wanted)
            else:
                self._read(self._show_again)

    def _show_again(self, read: tuple[ReadableConversation, Script]) -> None:
        (at, inside), folds, sought = self._top(), self.sheet.open_folds, self.sought
        self._show_script(*read)
        self.sheet.open_folds |= folds
        self._folded(min(at, len(self.script.pieces) - 1), inside)
        self._typed(sought, stay=True)

    def _read(self, done: Callable[[tuple[ReadableConversation, Script]], object]) -> None:
        self._ticket += 1
        ticket, workspace, wanted = self._ticket, self._shell.workspace, self._wanted

        def failed(error: ErrorInfo) -> None:
            self._show_script(None, Script())
            dpg.set_value(self._title, "This conversation cannot be shown")
            dpg.set_value(self._about, "")
            say(self._says, str(error))

        if self._job is not None:
            self._job.cancel()
        self._job = self._shell.submit("The conversation", lambda _: read_script(workspace, wanted), done,
                                       failed=failed, lane=READ, wanted=lambda: ticket == self._ticket)  # fmt: skip

    def close(self) -> None:
        """Back to where it was opened."""
        if self.is_open:
            self.is_open = False
            self._ticket += 1
            dpg.configure_item(self.item, show=False)
            self._show_script(None, Script())
            self._on_close()

    def _show_script(self, talk: ReadableConversation | None, script: Script) -> None:
        self.talk = talk
        self.sheet.set(script)
        self._turns = [at for at, piece in enumerate(script.pieces) if piece.kind == HEAD and piece.state == "user"]
        self._changed()
        self.canvas.go(0.0)
        say(self._says, "")
        self._tell()
        self._name_places()

    def _tell(self) -> None:
        """What the page says above the words."""
        talk, script = self.talk, self.script
        found, other = Counter(mark.category for mark in script.marks), len(script.elsewhere)
        said = [count(found[name], looks.noun) for name, looks in CATEGORIES.items() if found[name]]
        said += [f"{other:,} more without a known place"] if other and found else []
        none = f"{count(other, 'bullet')} without a known place" if other else "nothing was harvested here"
        dpg.set_value(self._marks, "  ·  ".join(said) or (none if talk is not None else ""))
        self._next.enable(bool(found))
        self._unfold.enable(any(piece.kind == CALL for piece in script.pieces))
        self.resume.show(talk is not None and bool(talk.resume))
        if talk is None:
            return
        dpg.set_value(self._title, one_line_of(talk.title) or one_line_of(talk.name))
        dpg.set_value(self._about, about(talk, script))
        self.resume.set_label(f"Resume in {one_line_of(talk.tool)}")

    # --- the sheet ---

    def _changed(self) -> None:
        self._unfold.set_label("Fold" if self.sheet.open_folds else "Unfold")
        self.canvas.renew()
        self.map.renew()

    def _settle(self, scroll: float, tall: float) -> tuple[float, float]:
        total, at = self.sheet.settle(scroll, tall)
        total += self._look.px(BELOW)
        return total, min(at, max(0.0, total - tall))

    def _sized(self, before: tuple[int, int]) -> None:
        if before[0] == self.canvas.width:
            return
        at, inside = self._top()
        self.sheet.fit(self.canvas.width)
        self._changed()
        if self.script.pieces and (at or inside):
            self.canvas.go(self.sheet.heights.tops[at] + inside)

    def _top(self) -> tuple[int, float]:
        """The first piece in sight, and how much of it is above the edge."""
        if not self.script.pieces or not self.canvas.item:
            return 0, 0.0
        scroll, heights = self.canvas.scroll, self.sheet.heights
        at = heights.at(scroll)
        return at, scroll - heights.tops[at]

    def _colour(self, at: int, piece: Piece) -> None:
        ticket = self._ticket

        def done(colours: tuple[Style, ...]) -> None:
            self.sheet.colours[at] = colours
            self.canvas.renew()

        self._shell.submit("Colours of code", lambda _job: colours_of(piece.text, piece.language), done, lane=READ,
                           wanted=lambda: ticket == self._ticket)  # fmt: skip

    # --- moving ---

    def go_piece(self, at: int, begin: int = 0) -> None:
        """Bring a letter of a piece into sight; what is folded around it is unfolded."""
        sheet = self.sheet
        if sheet.hidden(at):
            sheet.open_folds.add(self.script.pieces[at].fold)
            sheet.arrange()
        sheet.heights.measure(at, at + 1)
        sheet.goal = (at, sheet.line_top(at, begin))
        self._say_item()
        self._changed()
        self.canvas.go(max(0.0, sheet.heights.tops[at] - self.canvas.tall * TOP_SHARE))

    def go_turn(self, number: int) -> None:
        """Bring a turn into sight, at its first item where it has one; of a turn that nothing is shown of, its
        neighbour."""
        first, marks = self.script.first, self.script.marks
        here = [at for at, mark in enumerate(marks) if self.script.pieces[mark.piece].turn == number]
        if here:
            self.sheet.mark = here[0]
            self.go_piece(marks[here[0]].piece, marks[here[0]].begin)
        elif first:
            self.go_piece(first.get(number, first[min(first, key=lambda one: (abs(one - number), one))]))

    def _say_item(self) -> None:
        """Where there is no room for notes, the item that is looked at stands above the words."""
        marks, at = self.script.marks, self.sheet.mark
        words = ""
        if not self.sheet.shape.notes and 0 <= at < len(marks):
            item, looks = marks[at].item, CATEGORIES[marks[at].category]
            where = f"   {item.file.rpartition('/')[2]}:{item.line}" if item.line else ""
            shown = one_line_of(item.text).replace("`", "").replace("**", "")[:ITEM]
            words = f"{looks.noun.capitalize()}: {shown}{where}"
        say(self._says, words)

    def go_mark(self, by: int) -> None:
        """The next harvested item, or the one before."""
        marks, sheet = self.script.marks, self.sheet
        if not marks:
            self._shell.toast("Nothing was harvested here", icon="info", color="accent", seconds=2.5)
            return
        if sheet.mark < 0:
            here = self._top()[0]
            after = next((at for at, mark in enumerate(marks) if mark.piece >= here), 0)
            sheet.mark = after if by > 0 else (after - 1) % len(marks)
        else:
            sheet.mark = (sheet.mark + by) % len(marks)
        self.go_piece(marks[sheet.mark].piece, marks[sheet.mark].begin)

    def go_said(self, by: int) -> None:
        """What the user said next, or before."""
        if self._turns:
            here = self.sheet.heights.at(self.canvas.scroll + self.canvas.tall * TOP_SHARE + 2)
            at = bisect_left(self._turns, here + (by > 0)) - (by < 0)
            self.go_piece(self._turns[max(0, min(len(self._turns) - 1, at))])

    def go_place(self, by: int) -> None:
        """The next place that was found, or the one before."""
        places = self.sheet.places
        if places:
            self.sheet.place = (self.sheet.place + by) % len(places)
            place = places[self.sheet.place]
            self.go_piece(place.piece, place.begin)
            self._name_places()

    def go_share(self, share: float) -> None:
        """Bring a share (0.0 to 1.0) of the whole into the middle."""
        self._go(share * self.sheet.heights.total - self.canvas.tall / 2)

    def scroll_by(self, pixels: float) -> None:
        """Move by some pixels of the screen."""
        self._go(self.canvas.scroll + pixels)

    def _go(self, y: float) -> None:
        self.sheet.goal = None
        last = max(0.0, self.sheet.heights.total + self._look.px(BELOW) - self.canvas.tall)
        self.canvas.go(min(last, max(0.0, y)))

    # --- finding ---

    def _typed(self, words: str, stay: bool = False) -> None:
        """Other words stand in the field: look for them on a worker. With `stay` the place is kept."""
        self.sought = words
        script, ticket = self.script, self._ticket

        def done(places: tuple[Place, ...]) -> None:
            sheet = self.sheet
            sheet.places = places
            here = self._top()[0]
            sheet.place = next((at for at, one in enumerate(sheet.places) if one.piece >= here), 0) - 1
            self._changed()
            if sheet.places and not stay:
                self.go_place(1)
            self._name_places()

        self._shell.submit("Finding words", lambda _job: places_of(script, words), done, lane=READ,
                           wanted=lambda: ticket == self._ticket and self.sought == words)  # fmt: skip

    def _name_places(self) -> None:
        words, places = self.sought.strip(), self.sheet.places
        at = f"{max(0, self.sheet.place) + 1:,} of {len(places):,}" if places else ""
        dpg.set_value(self._found, at or ("not found" if words and self.talk is not None else ""))
        for button in self._walk:
            button.show(len(places) > 1)

    # --- acts ---

    def _clicked(self, x: float, y: float, _when: float) -> None:
        spot = self.sheet.spot_at(x, y) if self.is_open else None
        if spot is not None:
            spot.act()

    def toggle(self, fold: int) -> None:
        """Unfold a call, or fold it again; what is at the top stays there."""
        at, inside = self._top()
        self.sheet.open_folds ^= {fold}
        self._folded(at, inside)

    def fold_all(self) -> None:
        """Unfold all calls, or fold all of them."""
        at, inside = self._top()
        folds = {piece.fold for piece in self.script.pieces if piece.kind == CALL}
        self.sheet.open_folds = set() if self.sheet.open_folds else folds
        self._folded(at, inside)

    def _folded(self, at: int, inside: float) -> None:
        self.sheet.arrange()
        while at > 0 and self.sheet.hidden(at):
            at, inside = at - 1, 0.0
        self._changed()
        if self.script.pieces:
            self.canvas.go(self.sheet.heights.tops[at] + inside)

    def copy_code(self, at: int) -> None:
        """Copy the whole block of code that begins with a piece."""
        pieces, end = self.script.pieces, at
        while not pieces[end].closes:
            end += 1
        self._shell.copy("\n".join(piece.text for piece in pieces[at : end + 1]), "Copied the code")

    def copy_turn(self) -> None:
        """Copy what is said in the turn at the top."""
        if self.talk is None or not self.script.pieces:
            return
        number = self.script.pieces[self.sheet.heights.at(self.canvas.scroll + self._look.px(40))].turn
        turn = next((turn for turn in self.talk.turns if turn.number == number), None)
        if turn is not None:
            self._shell.copy(turn.text, f"Copied turn {number:,}")

    def copy_resume(self) -> None:
        """Copy the command that goes on with it; nothing is run here."""
        if self.talk is None:
            return
        if self.talk.resume:
            self._shell.copy(self.talk.resume, "Copied the command that goes on with it: paste it into a terminal")
        else:
            self._shell.toast(self.talk.why_not or "Nothing goes on with it", icon="info", color="accent")

    def open_original(self) -> None:
        """Open the file."""
        if self.talk is not None:
            self._shell.open_path(self.talk.path.partition("#")[0])

    def show_item(self, number: int) -> None:
        """A click on an item brings its words into sight, one on the chosen item goes to its line."""
        if number == self.sheet.mark:
            self.go_line()
            return
        self.sheet.mark = number
        mark = self.script.marks[number]
        self.go_piece(mark.piece, mark.begin)

    def go_line(self) -> None:
        """Leave for the line of the item that is looked at."""
        if not 0 <= self.sheet.mark < len(self.script.marks):
            return
        item = self.script.marks[self.sheet.mark].item
        if not item.line:
            self._shell.toast("Its line is not there any more", icon="info", color="accent")
            return
        book = self._shell.state.of("knowledge")
        said = book.said.values() if isinstance(book, Knowledge) else ()
        found = (one.found for one in said)
        raws = (one.bullet.raw for one in found if (one.file, one.bullet.line) == (item.file, item.line))
        self.close()
        self._shell.run("view.files" if item.file.startswith("files/") else "view.knowledge")
        self._shell.select("bullet", item.file, item.line, next(raws, ""))

    # --- keys ---

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the page; while somebody types, those of the field."""
        if key == "Esc":
            if typing or self.sought:
                dpg.set_value(self.field, "")
                self._typed("")
                dpg.focus_item(self.back.item)  # the field must not keep the keys
            else:
                self.close()
        elif key in ("Enter", "Keypad Enter", "F3"):
            self.go_place(1)
        elif key in ("Shift+Enter", "Shift+F3"):
            self.go_place(-1)
        elif key == "Ctrl+F" or (key == "/" and not typing):
            self._look.keys_to(self.field)
        else:
            act = None if typing else self._acts().get(key)
            if act is not None:
                act()
            return act is not None
        return True

    def _acts(self) -> dict[str, Callable[[], object]]:
        page, step = self.canvas.tall * 0.9, float(self._look.px(STEP))
        return {
            "Down": partial(self.scroll_by, step), "Up": partial(self.scroll_by, -step),
            "Page down": partial(self.scroll_by, page), "Page up": partial(self.scroll_by, -page),
            "Space": partial(self.scroll_by, page), "Shift+Space": partial(self.scroll_by, -page),
            "Home": partial(self._go, 0.0), "End": partial(self._go, 1e12),
            "Left": partial(self.go_said, -1), "Right": partial(self.go_said, 1),
            "N": partial(self.go_mark, 1), "Shift+N": partial(self.go_mark, -1),
            "F": self.fold_all, "G": self.go_line, "O": self.open_original, "R": self.copy_resume,
            "Ctrl+C": self.copy_turn,
        }  # fmt: skip


def about(talk: ReadableConversation, script: Script) -> str:
    """Tool, folder, branch, when, how long: the line below the title."""
    day, last = local_day(talk.started or talk.day), local_day(talk.ended or talk.day)
    begun, ended = clock(talk.started), clock(talk.ended)
    span = day if last in ("", day) else f"{day} – {last}"
    if begun and ended and last == day:
        span = f"{day}, {begun} – {ended}"
    calls = f"{count(script.calls, 'call')}, {script.failed:,} failed" if script.calls else ""
    trash = "in the trash" if talk.in_trash else ""
    hidden = f"{count(talk.secrets, 'secret')} hidden" if talk.secrets else ""
    parts = (talk.tool, short_folder(talk.folder), talk.branch, span, count(talk.count, "turn"), calls, trash, hidden)
    return "   ·   ".join(one_line_of(part) for part in parts if part)


def read_script(workspace: Workspace, wanted: Reading) -> tuple[ReadableConversation, Script]:
    """Read a conversation and make its pieces; on a worker."""
    read = read_entry(workspace, wanted.key) if wanted.key else read_named(workspace, wanted.name, seconds=0.0)
    return read, script_of(read)
