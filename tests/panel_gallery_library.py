"""The pages of the library, for `panel_gallery.py`: asked and answered.

All data in it is made up. It is not a test and not shipped.
"""

from __future__ import annotations

from core.base.result import Ok, attempt
from core.commands.library.ingest import library_ingest
from core.commands.library.use import library_record, library_retrieve
from core.commands.workspace import Workspace
from tests.panel_desk import Seat
from tests.panel_gallery_lists import Shot, opened

QUESTION = "Why is my async Python code deadlocking?"
ASKED = (
    ("debugging", QUESTION),
    ("implementation_howto", "How do I cancel a task group?"),
    ("factual_lookup", "Which limit has a session store?"),
)
TOPICS = {
    "asyncio-notes": ("Asyncio in practice", "asyncio", "event loop", "callback", "A coroutine awaited in a sync"),
    "pool-incident": ("Incident: stuck exporter", "queue.join", "worker pool", "timeout", "The exporter hangs when a"),
    "cancellation": ("Cancellation done right", "cancellation", "task group", "shield", "A cancelled task leaves its"),
    "locks": ("Locks and deadlocks", "deadlock", "lock", "executor", "Two tasks wait for each other's"),
    "セッション": ("セッションの設計", "session store", "再試行", "429", "Retry-After は秒でも日付でも来る"),
}


def leave_library(workspace: Workspace) -> None:
    """Documents that were asked for and used for some weeks."""
    folder = workspace.paths.home.parent / "library-notes"
    folder.mkdir(exist_ok=True)
    for name, (title, one, two, three, first) in TOPICS.items():
        words = [f"# {title}\n"]
        for at, (this, that) in enumerate(((one, two), (two, three), (three, one))):
            words.append(
                f"## {this.capitalize()} and {that}\n\n{first} {this}: the `{that}` never returns, and the code is "
                f"deadlocking. Look at {this} before {that}; py-spy dump shows both. It took {at + 2} hours to find "
                f"that the {this} was waiting for the {that}.\n\nAn async {this} in Python wants its own {that}.\n"
            )
        (folder / f"{name}.md").write_text("\n".join(words), encoding="utf-8")
    assert isinstance(attempt(library_ingest, workspace, [str(folder)]), Ok)
    outcomes = ("win", "win", "win", "partial", "win", "win", "miss", "win", "misleading", "win", "partial", "win")
    for turn, (task, question) in enumerate(ASKED * 4):
        found = library_retrieve(workspace, question)
        for at, one in enumerate(found.retrieved.dossiers[:3]):
            outcome = (
                "misleading" if task == "factual_lookup" and (turn + at) % 3 else outcomes[(turn + at) % len(outcomes)]
            )
            library_record(workspace, chunk=[one.chunk.id], task=task, outcome=outcome, notes="it named the lock",
                           retrieval=found.retrieved.id)  # fmt: skip
    for question in ("Are locks across processes fair?", "Does asyncio work on Windows?"):
        library_retrieve(workspace, question)


def library(seat: Seat, shot: Shot) -> None:
    """Every page."""
    of = opened(seat, "library")
    of.list.select(of.list.rows[1].key)
    of.select(of.list.rows[1])
    shot("library-documents")
    of.ask(QUESTION)
    seat.settle()
    shot("library")
    of.clear()
