"""What a plan passes over, as sentences: each says which conversations it is about and what a person can do. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.figures import count, size
from core.harvest.classify import UNKNOWN_NAME
from core.harvest.steps import HarvestPlan, Step

NAMED = 4
"""So many are told by name; of more only the number."""


def passed_over(plan: HarvestPlan, folder: str, limit: int) -> tuple[str, ...]:
    """The sentences about a plan, one for each reason that there is. `folder` is that of the conversations, `limit` the
    setting `max_harvest_source_bytes`."""
    return (*_unknown_names(plan, folder), *_too_large(plan, limit))


def _unknown_names(plan: HarvestPlan, folder: str) -> list[str]:
    """Files of the home folder whose names fit none of the rules; not those that the person named elsewhere."""
    rows = [row.artifact for row in plan.classified if row.reason == UNKNOWN_NAME]
    if not rows:
        return []
    asked = {row.artifact.path for row in plan.classified if row.artifact.is_foreign}
    names = [item.name for item in rows if item.path not in asked]
    if not names:
        return []
    one = len(names) == 1
    return [
        f"{count(len(names), 'file')} of {folder} {'is' if one else 'are'} left alone, for {'its' if one else 'their'} "
        f"name{' does' if one else 's do'} not say that {'it' if one else 'they'} may be harvested: {first(names)}; "
        f"give {'it' if one else 'each'} a name that ends in -<uuid4>, or read one as it is with '--source PATH'"
    ]


def _too_large(plan: HarvestPlan, limit: int) -> list[str]:
    steps = [step for step in plan.steps if step.action == "too-large"]
    if not steps:
        return []
    alike = any(size(_sent(step)) == size(limit) for step in steps)  # "1.0MB, the limit is 1.0MB" helps nobody
    told = _exact if alike else size
    names = [f"{step.artifact.name} ({told(_sent(step))})" for step in steps]
    largest, enough = max(map(_sent, steps)), max(1, limit)
    while enough < largest:
        enough *= 2
    return [
        f"too large to be read: {first(names)}; the limit is {told(limit)}, and "
        f"'knowledge config set max_harvest_source_bytes {enough}' raises it"
    ]


def _sent(step: Step) -> int:
    return step.shown or step.new_bytes


def _exact(number: int) -> str:
    return f"{number:,} bytes"


def first(names: Sequence[str]) -> str:
    """The first names of a list and how many there are beside them."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
