"""What each action of a command takes: what it does not take is refused, for an option that does nothing would let a
person believe that it did."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from core.base.result import Err, fail

Takes = Mapping[str, Collection[str]]
"""Action -> the names of its arguments as a person writes them: `--domain`, `ID`."""


def not_taken(command: str, action: str, takes: Takes, given: Mapping[str, object]) -> Err | None:
    """A usage error that names what of `given` (name -> its value; None, False or nothing in it: not given) the
    action does not take; None when there is nothing of that kind."""
    wrong = [name for name, value in given.items() if _is_given(value) and name not in takes[action]]
    if not wrong:
        return None
    name, _, narrowed = action.partition(" ")  # `list --similar`: what `list` takes, this does not
    if narrowed and all(one in takes[name] for one in wrong):
        return fail("usage", f"{narrowed} and {' and '.join(wrong)} cannot be used together")
    hints = []
    for name in wrong:
        able = [other for other, names in takes.items() if name in names and " " not in other]
        if able:
            hints.append(f"{name} goes with {' or '.join(able)}")
    return fail("usage", f"'knowledge {command} {action}' takes no {' and no '.join(wrong)}", hint="; ".join(hints))


def _is_given(value: object) -> bool:
    return bool(value) or (type(value) is int and value == 0)
