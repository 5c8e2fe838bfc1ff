"""`knowledge find` and `knowledge search` at the command line. The second has ten hits; as JSON it is the list of
everything that matches, and with `--build` it reads all conversations first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.base.choices import SEARCH_KINDS, SPOKEN_ROLES
from core.base.marks import for_prompt
from core.commands.conversations import BuildReport, build_text
from core.commands.conversations import build as build_index
from core.commands.moment.find import LIMIT as FIND_LIMIT
from core.commands.moment.find import find
from core.commands.moment.found import FindReport, piped_text, terminal_text
from core.commands.row import NAMED, Argument, flag, listed, option, repeated, top, whole_number
from core.commands.workspace import Workspace

LIMIT = 10


@dataclass(frozen=True)
class Listing:
    """What `knowledge search` tells: the report of `find`, as JSON the list of all that matches; `built` is what a
    build did that was asked for, alone where there were no words."""

    report: FindReport | None
    built: BuildReport | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.report.warnings if self.report is not None else ()

    def to_json(self) -> Any:
        """A list, best first; of a build alone, what it did."""
        return [hit.to_json() for hit in self.report.listed] if self.report is not None else vars(self.built)


def search_listed(
    workspace: Workspace,
    query: Sequence[str] = (),
    project: str = "",
    kind: str = "",
    since: str = "",
    before: str = "",
    tag: Sequence[str] | None = None,
    source: Sequence[str] | None = None,
    role: str = "",
    limit: int = LIMIT,
    likely: str = "",
    build: bool = False,
    progress: Callable[[Any], None] = lambda step: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Listing:
    """What `find` finds, and everything that matches as a list; `build` reads first what is not in the index of
    conversations yet."""
    built = build_index(workspace, progress, cancelled) if build else None
    if built is not None and not "".join(query).strip():
        return Listing(None, built)
    found = find(
        workspace, query, project, kind, since, before, limit, None, tag, source, role, likely=likely, lists=True
    )
    return Listing(found, built)


def listing_text(
    listing: Listing, clean: Callable[[str], str] = str, hits: Callable[[FindReport], str] = terminal_text
) -> str:
    """What a build did, and the hits; for a pipe, `clean` is the gate into a prompt."""
    built = clean(f"{build_text(listing.built)}\n") if listing.built is not None else ""
    return built + (hits(listing.report) if listing.report is not None else "")


ARGUMENTS = (
    Argument(("query",), "any words; in quotation marks: a phrase", {"nargs": "*", "metavar": "QUERY"}),
    option("--project", "only this one: a folder of any system, a repository, its short name, or 'all'", "PROJECT"),
    option("--kind", f"only {listed(SEARCH_KINDS)}", "KIND", choices=SEARCH_KINDS),
    option("--since", "only what is dated from then on: 2026, 2026-05, 2026-05-31, yesterday, monday", "DATE"),
    option("--before", "only what is dated before then", "DATE"),
    repeated("--tag", "only what has this tag, such as decisions (repeatable)", "T"),
    repeated("--source", "only conversations of this source, such as claude_code (repeatable)", "NAME"),
    option("--role", f"only what was said by {listed(SPOKEN_ROLES)}", "ROLE", choices=SPOKEN_ROLES),
    option("--likely", "words that the answer probably has, where it may say it in others than you", "WORDS"),
)
COMMANDS = (
    top(
        "find",
        "why do we not use Redis --project shop",
        find,
        terminal_text,
        *ARGUMENTS,
        whole_number("--limit", f"at most N hits (default: {FIND_LIMIT})", FIND_LIMIT),
        words=NAMED,
        piped_text=piped_text,
    ),
    top(
        "search",
        "flaky login test --kind conversation --since 2026-05",
        search_listed,
        listing_text,
        *ARGUMENTS,
        whole_number("--limit", f"at most N hits (default: {LIMIT})", LIMIT),
        flag("--build", "first read every conversation that is not in the index yet"),
        long=True,
        words=NAMED,
        piped_text=partial(listing_text, clean=for_prompt, hits=piped_text),
    ),
)
