"""The argument parser, made from the table of commands, with subcommands as argparse has them; and what is made of it:
completion in shells, and the manual page."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

from core import __version__
from core.base.result import KnowledgeError
from core.cli.words import command_word, completed, not_taken
from core.commands.row import OURS, Argument, Command, optional, top
from core.commands.table import SUMMARY, command, commands

DESCRIPTION = "Turns the AI conversations on your disk into plain-text knowledge that you own."
_REQUIRED = re.compile(r"the following arguments are required: (?P<names>.+)")

# What argparse says, as of Python 3.11 to 3.14, which differ in quotation marks.
_CHOICE = re.compile(r"argument (?P<name>\S+): invalid choice: (?P<typed>.+) \(choose from (?P<choices>.+)\)")
_NO_NUMBER = re.compile(r"argument (?P<name>\S+): invalid int value: (?P<typed>.+)")


def parse(arguments: Sequence[str]) -> tuple[Command, dict[str, object]]:
    """The row to run, and by name what was given. Raises KnowledgeError for words that
    cannot be understood, and SystemExit after help."""
    row = command(command_word(arguments))
    words = completed(arguments)
    options, left = build_parser([row]).parse_known_args(words)
    given = vars(options)
    leaf: Command = given.pop("row")
    del given["command"]
    given.pop("subcommand", None)
    if left:
        raise KnowledgeError("usage", not_taken(row, leaf, left))
    return leaf, given


def build_parser(rows: Sequence[Command] = (), *, repeated: bool = True) -> argparse.ArgumentParser:
    """A parser whose result has `row` and, by name, the arguments that were given. Without `rows` it lists all
    commands, for whoever asks what there is. Not `repeated`: what every command takes is told once, for a page."""
    common = _common()
    parser = _Parser(
        prog="knowledge",
        description=DESCRIPTION,
        epilog="Begin with 'knowledge setup', then 'knowledge harvest', which changes nothing without --apply. "
        "'knowledge demo' shows it on samples.",
        parents=[common],
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"knowledge {__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog=parser.prog)
    shared = common if repeated else _Parser(add_help=False)
    for row in rows:
        _add_command(group, row, shared)
    for name, summary in () if rows else SUMMARY.items():
        group.add_parser(name, help=summary, add_help=False, formatter_class=_formatter)
    return parser


class _Parser(argparse.ArgumentParser):
    """Mistakes as one sentence, like every other error of this program, instead of the usage and a line."""

    listing = ""
    """The command that lists what this one wants one of."""

    def error(self, message: str) -> NoReturn:
        more = f"'{self.prog} --help' tells more."
        if found := _CHOICE.match(message):
            choices = ", ".join(re.findall(r"[^\s',]+", found["choices"]))
            near = get_close_matches(found["typed"].strip("'"), choices.split(", "), n=1)
            nearest = f"; the nearest is {near[0]}" if near else ""
            what = found["name"].lower()
            raise KnowledgeError("usage", f"there is no {what} {found['typed']}, only {choices}{nearest}. {more}")
        if found := _NO_NUMBER.match(message):
            raise KnowledgeError("usage", f"{found['name']} takes a whole number, and {found['typed']} is none. {more}")
        found = _REQUIRED.match(message)
        if found is None:
            raise KnowledgeError("usage", f"'{self.prog}': {message}. {more}")
        example = (self.epilog or "").removeprefix("example: ")
        listing = f" {self.listing!r} lists them." if self.listing else ""
        hint = f"For example '{example}'." if example.startswith("knowledge ") else "'knowledge --help' lists them."
        raise KnowledgeError("usage", f"'{self.prog}' needs {found['names'].replace(', ', ' and ')}. {hint}{listing}")


def _formatter(prog: str) -> argparse.HelpFormatter:
    """argparse makes one for each argument, and each would load shutil and measure the terminal unless it is told."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
    except (OSError, ValueError):
        columns = 0
    return argparse.HelpFormatter(prog, width=(columns if columns > 0 else 80) - 2)


def _common() -> _Parser:
    """What every command takes, before its name or after it. A suppressed default keeps the one from overwriting the
    other."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS, formatter_class=_formatter)
    group = common.add_argument_group("everywhere")
    group.add_argument("--home", metavar="DIR", help="the home folder (default: ~/.manual_slop)")
    group.add_argument("--config", metavar="FILE", help="the settings file to use")
    group.add_argument("--json", action="store_true", help="print one JSON document")
    group.add_argument("--quiet", action="store_true", help="no progress, no warnings, no new lines")
    group.add_argument("--debug", action="store_true", help="show the traceback of an unexpected error")
    return common


def _add_command(group: argparse._SubParsersAction[_Parser], row: Command, common: _Parser) -> None:
    """One command with its arguments and subcommands."""
    parser = group.add_parser(
        row.name,
        help=row.summary,
        description=row.summary[0].upper() + row.summary[1:] + ".",
        parents=[common],
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.epilog = f"example: {parser.prog} {row.example}".rstrip()
    for argument in row.arguments:
        parser.add_argument(*argument.names, help=argument.help, **argument.options)
    parser.set_defaults(row=row, **row.given)
    if row.subcommands:
        inner = parser.add_subparsers(
            dest="subcommand",
            metavar="SUBCOMMAND",
            title="subcommands",
            description=f"Without one: {row.subcommands[0].name}. 'knowledge {row.name} SUBCOMMAND --help' tells more.",
        )
        for leaf in row.subcommands:
            _add_command(inner, leaf, common)
            if row.subcommands[0].name == "list":
                inner.choices[leaf.name].listing = f"knowledge {row.name}"


@dataclass(frozen=True)
class Page:
    """One page: the name of its file without the ending, and its heading."""

    topic: str
    title: str


@dataclass(frozen=True)
class Help:
    """All pages, and the text of the one that was asked for, "" for none."""

    pages: tuple[Page, ...]
    text: str


def show_help(topic: str = "") -> Help:
    """The pages and the text of one. An unknown topic is an error that names those there are."""
    from core.base.paths import shipped_root

    folder = shipped_root() / "assets" / "docs"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    if topic and topic not in texts:
        raise KnowledgeError("usage", f"there is no page {topic!r}; there are {', '.join(texts)}")
    pages = tuple(Page(name, text.partition("\n")[0].lstrip("# ")) for name, text in texts.items())
    return Help(pages, texts.get(topic, ""))


def help_text(found: Help) -> str:
    """The page, or the list of them."""
    if found.text:
        return found.text
    width = max(len(page.topic) for page in found.pages)
    rows = [f"  {page.topic:<{width}}  {page.title}" for page in found.pages]
    return "\n".join(["'knowledge help TOPIC' prints one of these pages:", "", *rows, ""])


# --- what is made of the parser --------------------------------------------------------------------------------------

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def manual_parser() -> argparse.ArgumentParser:
    """The parser with every command and all of its arguments, for the manual page (`make man`)."""
    return build_parser(commands(), repeated=False)


def completion(shell: str) -> str:
    """The script by which one of `SHELLS` completes commands, options and their values."""
    import shtab  # for this command alone, and every command loads this file

    return shtab.complete(build_parser(commands()), shell=shell)


COMMANDS = (
    top(
        "completion",
        "bash > ~/.local/share/bash-completion/completions/knowledge",
        completion,
        str,
        Argument(("shell",), ", ".join(SHELLS), {"choices": SHELLS, "metavar": "SHELL"}),
        anywhere=True,
        words=OURS,
    ),
    top("help", "sources", show_help, help_text, optional("topic", "the page to print"), words=OURS, anywhere=True),
)
