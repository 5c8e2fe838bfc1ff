"""The argument parser, made from the table of commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection

from core import __version__
from core.commands.row import Argument, Command
from core.commands.table import COMMANDS

DESCRIPTION = "Turns the AI conversations on your disk into plain-text knowledge that you own."


def build_parser(words: Collection[str] | None = None) -> argparse.ArgumentParser:
    """A parser whose result has `command` and, by name, the command's arguments that were given.

    With the `words` of a command line, commands that are not among them get no arguments: nobody will look at them, and
    making them takes longer than a command that only looks at something.
    """
    common = _common()
    parser = argparse.ArgumentParser(
        prog="knowledge",
        description=DESCRIPTION,
        epilog="Begin with 'knowledge demo', or with 'knowledge harvest': it changes nothing without --apply.",
        parents=[common],
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"knowledge {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog=parser.prog)
    for command in COMMANDS:
        if words is None or command.name in words:
            _add_command(commands, command, common)
        else:
            commands.add_parser(command.name, help=command.summary, add_help=False, formatter_class=_formatter)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """argparse makes one for each argument, and each would load shutil and measure the terminal unless it is told."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
    except (OSError, ValueError):
        columns = 0
    return argparse.HelpFormatter(prog, width=(columns if columns > 0 else 80) - 2)


def _common() -> argparse.ArgumentParser:
    """What every command takes, before its name or after it. A suppressed default keeps the one from overwriting the
    other."""
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS, formatter_class=_formatter)
    group = common.add_argument_group("everywhere")
    group.add_argument("--home", metavar="DIR", help="the home folder (default: ~/.manual_slop)")
    group.add_argument("--config", metavar="FILE", help="the settings file to use")
    group.add_argument("--json", action="store_true", help="print one JSON document")
    group.add_argument("--quiet", action="store_true", help="no progress, no warnings, no new lines")
    group.add_argument("--debug", action="store_true", help="show the traceback of an unexpected error")
    return common


def _add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], command: Command, common: argparse.ArgumentParser
) -> None:
    parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=command.summary[0].upper() + command.summary[1:] + ".",
        epilog=f"example: {command.example}",
        parents=[common],
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    for argument in command.arguments:
        _add_argument(parser, argument)


def _add_argument(parser: argparse.ArgumentParser, argument: Argument) -> None:
    parser.add_argument(*argument.names, help=argument.help, **argument.options)
