"""What a row of the table of commands is made of, and the arguments that several commands share.

A command is one row in the module of its noun: name, summary, example, arguments, what it runs, how its result reads.
The command line, the palette of the panel and the documentation are made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import IO, Any, NamedTuple

from core.base.choices import ANY_CATEGORY, BULLET_CATEGORIES
from core.base.result import KnowledgeError


class Argument(NamedTuple):
    """One argument: its names as on the command line (positional without dashes) and what argparse should know.
    `offers` are words that a shell completes where others may stand, too."""

    names: tuple[str, ...]
    help: str
    options: Mapping[str, Any] = {}
    offers: Callable[[], Iterable[str]] | None = None

    @property
    def is_positional(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        return self.is_positional or self.options.get("action") != "store_true"


OURS, FOREIGN, NAMED, SPOKEN = "ours", "foreign", "named", "spoken"
"""Whose words a report holds: see `Command.words`."""


class Command(NamedTuple):
    """One command, or one subcommand of it.

    `example` is what may stand behind its name. `runs` takes a Workspace and the arguments by name, with what `given`
    adds to them; `text` makes the report of its result. A command with `subcommands` runs the first of them when none
    is named, and has nothing else of its own than a name, a summary and an example.
    """

    name: str
    summary: str
    example: str
    runs: Callable[..., Any] = str
    text: Callable[[Any], str] = str
    arguments: tuple[Argument, ...] = ()
    given: Mapping[str, Any] = {}
    anywhere: bool = False
    """It needs no home and no settings: its function gets the arguments alone."""
    long: bool = False
    """The function also takes `progress` and `cancelled`."""
    quiet_text: Callable[[Any], str] | None = None
    """The report for `--quiet`, where it is another."""
    piped_text: Callable[[Any], str] | None = None
    """The report where no terminal shows it, if its parts go through the gate one by one: then there is nothing left to
    take out of it, whatever `words` says."""
    asks: bool = False
    """The function also takes `ask`, which shows a text and asks for a yes or a no."""
    names_errors: bool = False
    """The report itself says what went wrong: it is not repeated on stderr."""
    words: str = FOREIGN
    """Whose its text is, since what is piped may end in a prompt. OURS: our own, or it went through the gate already;
    FOREIGN: it loses its marks; NAMED: it names files that other programs made, so it loses secrets as well;
    SPOKEN: a conversation, which loses both."""
    afterwards: Callable[[Any, IO[str]], None] | None = None
    """What follows a report without errors, for a user; gets the result and stderr."""
    subcommands: tuple[Command, ...] = ()

    @property
    def leaves(self) -> tuple[Command, ...]:
        """What can be run: the subcommands, or the command itself."""
        return self.subcommands or (self,)


def single(
    name: str,
    summary: str,
    example: str,
    runs: Callable[..., Any],
    text: Callable[[Any], str],
    *arguments: Argument,
    **more: Any,
) -> Command:
    """A command that runs something; `more` are fields that few commands have."""
    return Command(name, summary, example, runs, text, arguments, **more)


def top(
    name: str, example: str, runs: Callable[..., Any], text: Callable[[Any], str], *arguments: Argument, **more: Any
) -> Command:
    """A command that is no subcommand: the table of commands says what it is for."""
    return Command(name, "", example, runs, text, arguments, **more)


def group(name: str, example: str, *subcommands: Command) -> Command:
    """A command that has subcommands: what it is for, the table of commands says."""
    return Command(name, "", example, subcommands=subcommands)


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


def optional(name: str, words: str) -> Argument:
    """A positional argument that may be left out, "" then."""
    return Argument((name,), words, {"nargs": "?", "default": "", "metavar": name.upper()})


def needed(name: str, words: str, metavar: str = "") -> Argument:
    """A positional argument."""
    return Argument((name,), words, {"metavar": metavar or name.upper()})


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def nearest(typed: str, known: Collection[str]) -> str:
    """The known word that is most like what was typed, as the end of a sentence; "" when none is like it."""
    from difflib import get_close_matches  # for a mistake alone, and every command loads this file

    near = get_close_matches(typed, known, n=1, cutoff=0.6)
    return f"; the nearest is {near[0]}" if near else ""


# --- arguments of several commands -----------------------------------------------------------------------------------

CATEGORY_WORD = Argument(
    ("category",), listed(BULLET_CATEGORIES), {"choices": BULLET_CATEGORIES, "metavar": "CATEGORY"}
)
OF_BULLET = Argument(
    CATEGORY_WORD.names,
    f"{CATEGORY_WORD.help}; omit it when you give an id or FILE:LINE, or words that only one bullet has",
    {**CATEGORY_WORD.options, "choices": (*BULLET_CATEGORIES, ANY_CATEGORY)},
)
MATCH = needed(
    "match",
    "its id ('knowledge list' shows it), its text or a unique part of that (changes every line that says it), or "
    "FILE:LINE (that line only)",
)
SECRETS = flag("--keep-secrets", "write passwords and keys in the text as they are, instead of placeholders")
PROJECT_OPTION = option("--project", "a project: its folder or name (default: the one around this folder)", "PROJECT")

# --- asking ----------------------------------------------------------------------------------------------------------

Ask = Callable[[str, str, Sequence[str], int], int | None]
"""Shows a text and asks a question: the choices, which of them Enter means; the one that was chosen, or None where
nobody is there to be asked."""
NO_OR_YES = ("no", "yes")


def nobody(_shown: str, _question: str, _choices: Sequence[str], _default: int) -> int | None:
    """Where nobody can be asked."""
    return None


def agreed(ask: Ask, shown: str, question: str) -> bool:
    """Whether the user says yes. Raises KnowledgeError where nobody can be asked."""
    answer = ask(shown, question, NO_OR_YES, 0)
    if answer is None:
        raise KnowledgeError("needs-yes", "nobody can be asked here, so nothing was changed", hint="say --yes")
    return answer == 1


DRY_RUN = flag("--dry-run", "show the changes and make none")
YES = flag("--yes", "do not ask")
