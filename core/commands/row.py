"""What a row of COMMANDS (table.py) is made of.

Named tuples: the module `dataclasses` alone would take half of the time of `knowledge --help`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """One argument: its names as on the command line (positional without dashes) and what argparse should know."""

    names: tuple[str, ...]
    help: str
    options: Mapping[str, Any] = {}


class Command(NamedTuple):
    """One command. `target` is `module:function`; the function takes a Workspace and the arguments by name.

    `long` says that it also takes `progress` and `cancelled`; `mutates` that it may change something on disk.
    """

    name: str
    summary: str
    example: str
    target: str
    mutates: bool
    arguments: tuple[Argument, ...] = ()
    long: bool = False

    def function(self) -> Callable[..., Any]:
        from importlib import import_module

        module, name = self.target.split(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function


def flag(name: str, words: str) -> Argument:
    """A switch that is off unless it is given."""
    return Argument((name,), words, {"action": "store_true"})


def action(words: str, *choices: str) -> Argument:
    """What to do, one word of `choices`; the first one when none is given."""
    options = {"nargs": "?", "choices": choices, "default": choices[0], "metavar": "ACTION"}
    return Argument(("action",), words, options)
