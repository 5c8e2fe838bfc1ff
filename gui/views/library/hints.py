"""What the view of the library says by itself: hints in its fields, what can be done to a row, and what stands where
there is nothing yet.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.base.installed import install_command
from gui.toolkit.flow_rows import RowAction
from gui.views.library.rows import CONCEPTS, CONSOLIDATE, DOCUMENTS, FIND, KEY_OF, OUTCOME_LOOKS, REFLECT
from gui.views.list_view import Teach

HINTS = {
    FIND: ("search", "Ask the library, then Enter"),
    DOCUMENTS: ("funnel", "Filter documents"),
    REFLECT: ("funnel", "Filter by word"),
    CONSOLIDATE: ("funnel", "Filter by word"),
    CONCEPTS: ("search", "A concept"),
}
ACTIONS = (
    *(RowAction(name, "", f"It served: {looks.name.lower()}", KEY_OF[name], KEY_OF[name])
      for name, looks in OUTCOME_LOOKS.items()),
    RowAction("walk", "shapes", "What stands around it", "G"),
    RowAction("open", "external-link", "Open it in its program", "Ctrl+O"),
    RowAction("archive", "archive", "Archive its document: kept, and not found any more", "Delete"),
    RowAction("restore", "archive-restore", "Bring it back", "R"),
    RowAction("undo", "undo-2", "Take it back: an outcome that you said, a consolidation", "U"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
)  # fmt: skip
TEACH = {
    FIND: Teach("library", "Ask the library", "It answers with dossiers: what a passage says, what it was good for,\n"
                "where it is from. Say how it served, and the next answer is better.",
                command='knowledge library retrieve "why does it deadlock?"'),
    "nothing": Teach("search", "Nothing found", "No passage answers this. Fewer or other words find more."),
    DOCUMENTS: Teach("file-text", "No documents yet", "Files, folders and addresses become passages that are found\n"
                     "by what they were good for.", command="knowledge library ingest PATH",
                     action="Add documents…", act="begin_add"),
    REFLECT: Teach("lightbulb", "Nothing to reflect on yet", "Ask the library, and say how the answers served: "
                   "W, P, M or L."),
    CONSOLIDATE: Teach("layers", "Nothing would change", "From five uses on a passage gets a profile,\n"
                       "from three joint wins on two are linked."),
    CONCEPTS: Teach("shapes", "No such concept", "Concepts come with the documents."),
    "filter": Teach("funnel", "No row has these words", "Fewer words show more.", action="Clear the filter",
                    act="clear"),
    "missing": Teach("package", "The library is not installed", "It needs packages that come with the extra 'library'.",
                     command=install_command("library")),
    "waiting": Teach("loader", "Looking…", "The library is being read."),
}  # fmt: skip
KEYS = (
    ("Left, Right", "Another page"),
    ("/", "Ask, or filter"),
    ("W, P, M, L", "The passage was a win, partial, a miss, misleading"),
    ("N", "Say why, with the next outcome; add documents"),
    ("Enter", "Walk on: what stands around it"),
    ("Backspace", "Walk back"),
    ("G", "From a passage into the graph"),
    ("Ctrl+Enter", "Consolidate, after the preview"),
    ("U", "Take back: the outcome that you said, a consolidation"),
    ("T", "Another kind of task, for this question"),
    ("S", "Sort the answers another way"),
    ("D", "Reflect on another period"),
    ("Delete", "Archive a document"),
    ("R", "Bring a document back"),
)
ACTION_KEYS: Mapping[str, str] = {
    **{key: name for name, key in KEY_OF.items()},
    "G": "walk", "Ctrl+O": "open", "Delete": "archive", "R": "restore", "U": "undo", "Ctrl+C": "copy",
}  # fmt: skip
