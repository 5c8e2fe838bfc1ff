"""Facts that would have been notes: what conversations taught about files that were not on this disk then.

A note on a file that cannot be found becomes the fact `PATH: note`. Asked about the file later, in a
clone or in another worktree, a person wants to see it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

from core.base.markdown import Bullet
from core.base.repository import domain_of, project_root, repository_root
from core.knowledge.projects import NOWHERE, UNTOLD, Projects

LONG_PATH = 4096


def facts_about(bullets: Sequence[Bullet], source: str, projects: Projects) -> list[Bullet]:
    """Those of the `bullets` of facts.md that name the file `source` (an absolute path; it need not be there).

    A whole path is the same file, or the same place below a folder of the repository's name; a path within a
    repository is the same file only if the conversation worked in a repository of that name, or, where no folder is
    known of it, if the path has a folder in it.
    """
    root = repository_root(os.path.dirname(source))
    found = []
    for bullet in bullets:
        named, colon, _ = bullet.text.partition(": ")
        if colon and not bullet.struck and len(named) < LONG_PATH and _names(named, source, root, bullet, projects):
            found.append(bullet)
    return found


def _names(named: str, source: str, root: str, bullet: Bullet, projects: Projects) -> bool:
    if os.path.normpath(os.path.expanduser(named)) == source:
        return True
    if not root:
        return False
    inside, name = PurePath(source).relative_to(root).parts, os.path.basename(project_root(root))
    plain = named.replace("\\", "/")
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    above, below = parts[: -len(inside)], parts[-len(inside) :]
    if below != inside:
        return False
    if plain.startswith(("/", "~")) or plain[1:3] == ":/":
        return above[-1:] == (name,) or (len(inside) > 1 and name in above)
    folders = projects.get(bullet.provenance.source, frozenset()) if bullet.provenance is not None else frozenset()
    known = {domain_of(folder) for folder in folders if folder not in (NOWHERE, UNTOLD)}
    at_home = domain_of(root) in known if known else len(inside) > 1
    return at_home and above in ((), (name,))
