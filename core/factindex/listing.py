"""Which YAML files the fact index is made of. The search lists them at each start, and reads none that it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("global", "repos", "agents")
ENDINGS = (".yaml", ".yml")
LINK = "a symbolic link, which is not followed"


def fact_file_names(knowledge: Path) -> Iterator[str]:
    """The names of the YAML files below the knowledge folder, sorted. Raises OSError."""
    return (name for name, why in fact_places(knowledge) if not why)


def fact_places(knowledge: Path) -> list[tuple[str, str]]:
    """The same, and between them what a user may take for one: (name, why it is not read, "" for a file). Folders may
    stand in the three of them, and hidden files and folders are no part of it. Raises OSError."""
    found: list[tuple[str, str]] = []

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            why = f"a folder that cannot be read ({error.strerror})"
            found.append((os.path.relpath(error.filename, knowledge), why))

    for top in FOLDERS:
        if os.path.islink(knowledge / top):
            found.append((top, LINK))
            continue
        for place, folders, names in os.walk(knowledge / top, onerror=unreadable):
            below = os.path.relpath(place, knowledge)
            for name in (one for one in (*folders, *names) if not one.startswith(".")):
                path = os.path.join(place, name)
                if os.path.islink(path) and (name.endswith(ENDINGS) or name in folders):
                    found.append((f"{below}/{name}", LINK))
                elif name.endswith(ENDINGS) and name in names:
                    found.append((f"{below}/{name}", "" if os.path.isfile(path) else "a pipe, socket or device"))
            folders[:] = [name for name in folders if below == top and not name.startswith(".")]
    return sorted(found)
