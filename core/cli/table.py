"""The table of commands: the command line, the palette of the panel and the documentation are made from it.

A command is one row in the module of its noun: name, summary, example, arguments, what it runs, how its result reads.
Here stands what a row is made of, which arguments several commands share, and by name, so that one command imports no
other, which module has whose row. `knowledge --help` imports these modules, and none of what they run.

Named tuples: the module `dataclasses` alone would take half of the time of `knowledge --help`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import IO, Any, NamedTuple

from core.base.choices import ANY_CATEGORY, BULLET_CATEGORIES


class Argument(NamedTuple):
    """One argument: its names as on the command line (positional without dashes) and what argparse should know."""

    names: tuple[str, ...]
    help: str
    options: Mapping[str, Any] = {}

    @property
    def is_positional(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        return self.is_positional or self.options.get("action") != "store_true"

    @property
    def shown(self) -> str:
        """As help has it: `SHA`, `--all`."""
        return str(self.options.get("metavar", self.names[0].upper())) if self.is_positional else self.names[0]


OURS, FOREIGN, NAMED = "ours", "foreign", "named"
"""Whose words a report holds: see `Command.words`."""


class Command(NamedTuple):
    """One command, or one subcommand of it.

    `example` is what may stand behind its name. `runs` is `module:function`, the module from core/commands on; it is
    named and not imported, so that help costs nothing. The function takes a Workspace and the arguments by name, with
    what `given` adds to them. `text` makes the report of its result; what that needs of the command's own modules it
    imports inside, when they are loaded anyway. A command with `subcommands` runs the first of them when none is named,
    and has nothing else of its own than a name, a summary and an example.
    """

    name: str
    summary: str
    example: str
    runs: str = ""
    text: Callable[[Any], str] = str
    arguments: tuple[Argument, ...] = ()
    given: Mapping[str, Any] = {}
    anywhere: bool = False
    """It needs no home and no settings: its function gets the arguments alone."""
    long: bool = False
    """The function also takes `progress` and `cancelled`."""
    quiet_text: Callable[[Any], str] | None = None
    """The report for `--quiet`, where it is another."""
    asks: bool = False
    """The function also takes `ask`, which shows a text and asks for a yes or a no."""
    names_errors: bool = False
    """The report itself says what went wrong: it is not repeated on stderr."""
    paged: bool = False
    """On a terminal its text is shown page by page."""
    words: str = FOREIGN
    """Whose its text is, since what is piped may end in a prompt. OURS: our own, or it went through the gate already;
    FOREIGN: it loses its marks; NAMED: it names files that other programs made, so it loses secrets as well."""
    afterwards: Callable[[Any, IO[str]], None] | None = None
    """What follows a report without errors, for a person; gets the result and stderr."""
    subcommands: tuple[Command, ...] = ()

    def function(self) -> Callable[..., Any]:
        """Import what the command runs."""
        module, name = self.runs.split(":")
        function: Callable[..., Any] = getattr(import_module(module, "core.commands"), name)
        return function

    @property
    def leaves(self) -> tuple[Command, ...]:
        """What can be run: the subcommands, or the command itself."""
        return self.subcommands or (self,)


def single(
    name: str, summary: str, example: str, runs: str, text: Callable[[Any], str], *arguments: Argument, **more: Any
) -> Command:
    """A command that runs something; `more` are fields that few commands have."""
    return Command(name, summary, example, runs, text, arguments, **more)


def group(name: str, summary: str, example: str, *subcommands: Command) -> Command:
    """A command that has subcommands."""
    return Command(name, summary, example, subcommands=subcommands)


def flag(name: str, words: str, **options: Any) -> Argument:
    """A switch that is off unless it is given."""
    return Argument((name,), words, {"action": "store_true", **options})


def option(name: str, words: str, metavar: str, **options: Any) -> Argument:
    """An option with a value, "" when it is not given (unless `options` say otherwise)."""
    return Argument((name,), words, {"default": "", "metavar": metavar, **options})


def whole_number(name: str, words: str, default: int | None = None) -> Argument:
    """An option with a whole number."""
    return Argument((name,), words, {"type": int, "default": default, "metavar": "N"})


def repeated(name: str, words: str, metavar: str, **options: Any) -> Argument:
    """An option that may be given several times; None when it is not given (unless `options` say otherwise)."""
    return Argument((name,), words, {"action": "append", "metavar": metavar, **options})


def optional(name: str, words: str, metavar: str = "") -> Argument:
    """A positional argument that may be left out, "" then."""
    return Argument((name,), words, {"nargs": "?", "default": "", "metavar": metavar or name.upper()})


def needed(name: str, words: str, metavar: str = "") -> Argument:
    """A positional argument."""
    return Argument((name,), words, {"metavar": metavar or name.upper()})


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


# --- arguments of several commands -----------------------------------------------------------------------------------

CATEGORY = Argument(("category",), listed(BULLET_CATEGORIES), {"choices": BULLET_CATEGORIES, "metavar": "CATEGORY"})
OF_BULLET = Argument(
    CATEGORY.names,
    f"{CATEGORY.help}; omit it when you give an id or FILE:LINE, or words that only one bullet has",
    {**CATEGORY.options, "choices": (*BULLET_CATEGORIES, ANY_CATEGORY)},
)
MATCH = needed(
    "match",
    "its id ('knowledge list' shows it), its text or a unique part of that (changes every line that says it), or "
    "FILE:LINE (that line only)",
)
SECRETS = flag("--keep-secrets", "write passwords and keys in the text as they are, instead of placeholders")
PROJECT = option("--project", "a project's folder (default: the one around this folder)", "DIR")


# --- the table -------------------------------------------------------------------------------------------------------

MODULE = {
    "harvest": "harvest",
    "setup": "daily",
    "connect": "daily",
    "schedule": "daily",
    "uninstall": "daily",
    "sources": "sources",
    "import": "sources",
    "status": "status",
    "digest": "context",
    "context": "context",
    "list": "bullets",
    "notes": "bullets",
    "add": "bullets",
    "done": "bullets",
    "reopen": "bullets",
    "edit": "bullets",
    "rm": "bullets",
    "unstrike": "bullets",
    "evidence": "bullets",
    "search": "search",
    "vectors": "search",
    "show": "search",
    "save": "memories",
    "recall": "memories",
    "memories": "memories",
    "facts": "facts",
    "library": "library",
    "ledger": "history",
    "trash": "history",
    "undo": "history",
    "missing": "history",
    "quarantine": "quarantine",
    "config": "settings",
    "trust": "settings",
    "doctor": "status",
    "similar": "alike",
    "supersede": "alike",
    "mcp": "context",
    "demo": "demo",
    "help": "help",
}
"""Command -> the module in this folder that has its row, in the order of `knowledge --help`."""
SECOND_NAMES = {"documents": "library"}
"""What somebody may call a command -> its name."""


def command(name: str) -> Command:
    """The row of one command. Raises KeyError for a name that there is not."""
    rows: tuple[Command, ...] = import_module(f"core.cli.{MODULE[name]}").COMMANDS
    return next(row for row in rows if row.name == name)


def commands() -> tuple[Command, ...]:
    """All rows."""
    return tuple(map(command, MODULE))
