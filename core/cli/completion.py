"""`knowledge completion SHELL`: the script by which a shell completes commands, options and their values.

The manual page `knowledge(1)` is made from the same parser by `make man`, and lies in `assets/man`.
"""

from __future__ import annotations

from argparse import ArgumentParser

import shtab

from core.cli.parser import build_parser
from core.commands.row import OURS, Argument, single
from core.commands.table import commands

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def manual_parser() -> ArgumentParser:
    """The parser with every command and all of its arguments, for the manual page."""
    return build_parser(commands(), repeated=False)


def completion(shell: str) -> str:
    """The script for one of `SHELLS`."""
    return shtab.complete(build_parser(commands()), shell=shell)


COMMANDS = (
    single(
        "completion",
        "the script by which a shell completes commands and options",
        "bash > ~/.local/share/bash-completion/completions/knowledge",
        completion,
        str,
        Argument(("shell",), ", ".join(SHELLS), {"choices": SHELLS, "metavar": "SHELL"}),
        anywhere=True,
        words=OURS,
    ),
)
