"""One fact being edited: its words and its three small fields, and what when its file changed meanwhile."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.commands.fact_edits import FactRow, edit_fact, facts_view
from core.commands.workspace import Workspace
from gui.editing import ATTEMPTS, OTHER_WORDS, Editing
from gui.toolkit.editor import EditorKind, SmallField, Typed, broken, joined, shortened
from gui.views.facts_rows import same_words, values_of

STAYS = "Its id, its dates and its confirmations stay"
SAID = "Changed the fact"


class FactSession(Editing[FactRow]):
    """The editor of the list of facts."""

    KIND = EditorKind(
        again=("Try again on the new text", "Look the fact up in the file as it is now, and put your words there"),
        theirs=("Show theirs", "Leave the file as it is; your words can be brought back"),
        shown=broken,
        read=joined,
        small=(
            SmallField("confidence", 64, "Confidence", "0.0 to 1.0, or a percentage"),
            SmallField("tags", 190, "Tags", "lower-case letters, digits and hyphens, with spaces between"),
            SmallField("expires", 104, "Expires", "a day such as 2026-12-31, or nothing"),
        ),
    )

    def edit(self, row: FactRow) -> None:
        """Open the editor in the place of a row."""
        self.open(row, row.fact.fact, STAYS, small=small_of(row))

    def key_of(self, target: FactRow) -> Hashable:
        """The key of the row in whose place the editor stands."""
        return ("fact", target.fact.id)

    def reopen(self, target: FactRow, typed: Typed) -> None:
        """Open the editor once more, with what was typed before it was closed."""
        self.open(target, target.fact.fact, STAYS, mine=typed.words, small=typed.small)

    def save(self, target: FactRow) -> None:
        """Write what was changed into the fact as it was seen."""
        changes = self._changes(target)
        if changes is None:
            return
        if changes:
            self.write(target, lambda core: edit_fact(core, target.fact.id, changes, seen=target.sha256), said=SAID)
        else:
            self.close()

    def again(self, target: FactRow) -> None:
        """Look at the file as it is now and write at once, unless other words stand there: those are shown first."""
        changes, typed = self._changes(target), self.editor.now
        if changes is None:
            return
        wanted, looked = changes, list[FactRow]()

        def failed(now: FactRow, error: ErrorInfo) -> None:
            if error.code == OTHER_WORDS:
                there = looked[0]
                note = f"Now it says: {shortened(there.fact.fact)}"
                before, now_there = small_of(target), small_of(there)
                small = {name: mine if mine != before[name] else now_there[name] for name, mine in typed.small.items()}
                self.open(there, there.fact.fact, note, "Put mine there", mine=typed.words, small=small)
            else:
                self.refused(now, error)

        self.write(target, lambda core: written_again(core, target, wanted, looked), failed, SAID)

    def _changes(self, target: FactRow) -> dict[str, Any] | None:
        """What was changed; None when that is no fact, and the person has been told why."""
        typed = self.editor.now
        values = values_of(target, typed.words, **typed.small)
        if isinstance(values, Err):
            self.editor.refuse(str(values.error))
            return None
        return values.value


def small_of(row: FactRow) -> dict[str, str]:
    """What the small fields say of a fact."""
    return {"confidence": f"{row.stated:g}", "tags": " ".join(row.fact.tags), "expires": row.fact.expires}


def written_again(core: Workspace, target: FactRow, changes: Mapping[str, Any], looked: list[FactRow]) -> Result[Any]:
    """Write onto the file as it is now; on a worker. `looked` gets the fact as it stands there."""
    result: Result[Any] = fail("not-saved", "it was not saved")
    for _ in range(ATTEMPTS):
        view = facts_view(core)
        if isinstance(view, Err):
            return view
        looked[:] = [row for row in view.value.rows if row.fact.id == target.fact.id]
        if not looked:
            return fail("no-match", f"{target.fact.id} is gone from the files", hint="copy your words before you leave")
        if not same_words(looked[0], target):
            return fail(OTHER_WORDS, "other words stand there now")
        result = edit_fact(core, target.fact.id, changes, seen=looked[0].sha256)
        if isinstance(result, Ok) or result.error.code != "changed-outside":
            break
    return result
