"""`knowledge evidence`: the quote that showed a line to be true, in its place; a playbook's steps."""

from __future__ import annotations

from core.commands.panel.evidence import Evidence, evidence
from core.commands.row import NAMED, flag, needed, single
from core.commands.text import one_line

_WHY = {
    "gone": "its conversation is not there any more",
    "long": "its conversation is too long to be read for one passage",
    "elsewhere": "it does not stand in its conversation any more, or not in these words",
}


_EDGE = "   | "


def evidence_text(value: Evidence | tuple[str, ...]) -> str:
    """The line, its quote, the passage in which it stands, and the steps; of `--steps` the steps alone."""
    if isinstance(value, tuple):
        return "".join(f"{step}\n" for step in value)
    rows = [f"{value.file}:{value.line} {value.text}"]
    if not value.quote:
        rows.append("no quote was kept: it was written by hand or changed, or its harvest gave none")
    elif value.passage is None:
        rows.append(f'"{value.quote}"')
        rows.append(f"   ({_where(value)}; {_WHY.get(value.problem, value.problem)})")
    else:
        place = value.passage
        rows.append(f"{place.role} in turn {place.turn} of {place.of}{f', {one_line(place.time)}' * bool(place.time)}:")
        marked = f"{place.before}>>{place.quote}<<{place.after}"
        rows += [_EDGE + one_line(line) for line in marked.strip().split("\n")]
        rows.append(f"   ({_where(value)})")
    rows += [f"{number}. {step}" for number, step in enumerate(value.steps, start=1)]
    return "\n".join(rows) + "\n"


def _where(value: Evidence) -> str:
    turn = f"turn {value.turn}, bytes {value.start:,} to {value.end:,} of " if value.turn else ""
    return turn + one_line(value.conversation or value.sha256)


COMMANDS = (
    single(
        "evidence",
        "the quote that showed a line to be true, in its place; a playbook's steps",
        "facts.md:12",
        evidence,
        evidence_text,
        needed("match", "the bullet's text or a unique part of it, or FILE:LINE"),
        flag("--steps", "the steps of a playbook alone, one a line"),
        words=NAMED,
    ),
)
