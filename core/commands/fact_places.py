"""Where what a conversation taught belongs: the domain of a fact is the repository of the conversation or of a file.

A model's own word for a place counts only where it is the name of a project that conversations worked in, or of a
repository in which a file lies that this one left a note about: no folder is made of free words.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.base.paths import Paths
from core.base.repository import GLOBAL, domain_of
from core.base.result import Err
from core.factindex.facts import is_domain
from core.knowledge.journal import FrozenPlan
from core.knowledge.ledger import seen_ledger
from core.knowledge.projects import is_inside


@dataclass(frozen=True)
class Places:
    """The domain of one conversation, the names that a row of it may use, and every known project: folder -> domain."""

    domain: str
    names: frozenset[str]
    projects: Mapping[str, str]

    def of(self, said: str, about: str) -> str:
        """The domain of one of its facts: `said` is the model's word, `about` the file that it is a note on ("" for
        none): a file below a known project belongs there, whoever spoke of it."""
        if os.path.isabs(about):
            path = os.path.normpath(about)
            around = [folder for folder in self.projects if is_inside(path, folder)]
            if around:
                return self.projects[max(around, key=len)]
        return said if said in self.names else self.domain


class KnownProjects:
    """The projects that the ledger knows, read when they are first needed."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    @cached_property
    def folders(self) -> Mapping[str, str]:
        """The working folder of each harvested conversation -> its domain. Raises OSError for a ledger that cannot be
        read: a fact that went to the wrong place stays there."""
        ledger = seen_ledger(self._paths)
        if isinstance(ledger, Err):
            raise OSError(errno.EIO, ledger.error.message, ledger.error.path)
        folders = {str(entry.get("project") or "") for entry in ledger.value.values()}
        known = {os.path.normpath(folder): domain_of(folder) for folder in folders if os.path.isabs(folder)}
        return {folder: domain for folder, domain in known.items() if _is_place(domain)}

    def places_of(self, plan: FrozenPlan | None, entry: Mapping[str, Any]) -> Places:
        """Those of the conversation that a plan and its entry are about. A plan from before domains were kept has the
        project of its entry alone; without a plan nothing is known."""
        facts = plan.facts if plan is not None else {}
        own = str(facts.get("domain") or "")
        if not _is_place(own) and plan is not None:
            own = domain_of(str(entry.get("project") or ""))
        repositories = facts.get("repositories")
        names = {str(name) for name in repositories} if isinstance(repositories, list) else set()
        names = {name for name in (*names, *self.folders.values(), own) if _is_place(name)}
        return Places(own if _is_place(own) else GLOBAL, frozenset(names), self.folders)


def _is_place(domain: str) -> bool:
    return is_domain(domain) and domain != GLOBAL
