"""The words of a command line before they are parsed: a name that there is not is answered with the nearest one, and
what a user may leave out is put in. Looks at words only; what else is wrong, the parser tells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from core.base.choices import ANY_CATEGORY, BULLET_CATEGORIES
from core.commands.row import Argument, Command
from core.commands.table import MODULE, MOVED, SECOND_NAMES, command

_VALUED = ("--home", "--config")
_EVERYWHERE = (*_VALUED, "--json", "--quiet", "--debug", "--help")
_PLACE = re.compile(r"(?P<name>facts|decisions|questions|playbooks|tasks)\.md:\d+\Z|(?P<folder>files)/.+\.md:\d+\Z")


def command_word(arguments: Sequence[str]) -> str:
    """The first word that is no option: the name of a command, or what was typed for one; "" for none."""
    return next((word for _, word in _words(arguments) if not word.startswith("-")), "")


def without_alias(arguments: Sequence[str]) -> list[str]:
    """The words with the name of a command where they have its second one, and of its answers."""
    words = list(arguments)
    name = command_word(words)
    if name == "review":
        words = [{"accept": "yes", "--accept": "--yes"}.get(word, word) for word in words]
    if name in SECOND_NAMES:
        words[words.index(name)] = SECOND_NAMES[name]
    return words


def suggestion(arguments: Sequence[str]) -> str:
    """A sentence about the first command or option that there is not, with the nearest that there is; "" for none."""
    row: Command | None = None
    for _, word in _words(arguments):
        name = word.partition("=")[0]
        if word.startswith("--") and " " not in word:  # with a blank in it, it is a text
            known = [*_EVERYWHERE, *(_options(row) if row is not None else ("--version",))]
            if name not in known:
                whose = f"'knowledge {row.name}' has" if row is not None else "there is"
                return _sentence(f"{whose} no option {name!r}", name, known, row)
        elif row is None and not word.startswith("-"):
            if word in MOVED:
                shows = f"'knowledge review --kind {MOVED[word]}' shows what waits, 'knowledge review yes ID' answers"
                return f"'knowledge {word}' is a part of 'knowledge review': {shows}."
            if word not in MODULE:
                return _sentence(f"there is no command {word!r}", word, MODULE, None)
            row = command(word)
    return _subcommand_suggestion(arguments, row) if row is not None and row.subcommands else ""


def completed(arguments: Sequence[str]) -> list[str]:
    """The words with what was left out: the subcommand right behind its command, and the category of a bullet."""
    name = command_word(arguments)
    row = command(name) if name in MODULE else None
    if row is not None and row.subcommands:
        return _with_subcommand(arguments, row)
    return _with_category(arguments)


def _with_subcommand(arguments: Sequence[str], row: Command) -> list[str]:
    """`trash --json` as `trash list --json`, and `facts --stale list` as `facts list --stale`."""
    words = list(arguments)
    plain = [(at, word) for at, word in _words(words, row) if not word.startswith("-")]
    here, rest = plain[0][0], plain[1:]
    if rest:
        words.insert(here + 1, words.pop(rest[0][0]))
    elif not {"-h", "--help"} & set(words[here:]):
        words.insert(here + 1, row.subcommands[0].name)
    return words


def _with_category(arguments: Sequence[str]) -> list[str]:
    """The words of `rm`, `retract` and `edit` with the category in front of a FILE:LINE that stands in its place, or
    ("any") in front of the bullet's words where no category was given."""
    words = list(arguments)
    plain = [(at, word) for at, word in _words(words) if not word.startswith("-")]
    wanted = {"rm": 1, "retract": 1, "edit": 2}.get(plain[0][1], -2) if plain else -2
    if (
        len(plain) == wanted + 1
        and plain[1][1] not in (*BULLET_CATEGORIES, ANY_CATEGORY)
        and not _PLACE.match(plain[1][1])
    ):
        words.insert(plain[1][0], ANY_CATEGORY)
    elif len(plain) > 1 and plain[0][1] in ("rm", "retract", "edit") and (place := _PLACE.match(plain[1][1])):
        words.insert(plain[1][0], place["name"] or place["folder"])
    return words


def not_taken(row: Command, leaf: Command, left: Sequence[str]) -> str:
    """A sentence about words that a subcommand does not take, and which of the others takes them: an option that does
    nothing would let a user believe that it did."""
    others = [one for one in row.subcommands if one is not leaf]
    spare = max((_positionals(one)[len(_positionals(leaf)) :] for one in others), key=len, default=[])
    names: dict[str, None] = {}
    for word in left:
        if word.startswith("--"):
            names[word.partition("=")[0]] = None
        elif not names or not next(reversed(names)).startswith("--"):  # else it is the value of that option
            names[spare.pop(0).shown if spare else repr(word)] = None
    hints = []
    for name in names:
        able = [one.name for one in others if name in (argument.shown for argument in one.arguments)]
        hints += [f"{name} goes with {' or '.join(able)}"] if able else []
    whole = row.name if leaf is row else f"{row.name} {leaf.name}"
    refused = f"'knowledge {whole}' takes no {' and no '.join(names)}"
    return f"{refused}. {'; '.join(hints)}." if hints else f"{refused}. 'knowledge {whole} --help' tells what it takes."


def _positionals(row: Command) -> list[Argument]:
    return [argument for argument in row.arguments if argument.is_positional]


def _subcommand_suggestion(arguments: Sequence[str], row: Command) -> str:
    plain = [word for _, word in _words(arguments, row) if not word.startswith("-")]
    names = [one.name for one in row.subcommands]
    if len(plain) < 2 or plain[1] in names:
        return ""
    return _sentence(f"'knowledge {row.name}' has no {plain[1]!r}, only {', '.join(names)}", plain[1], names, row)


def _words(arguments: Sequence[str], row: Command | None = None) -> Iterator[tuple[int, str]]:
    """The words with their places, up to `--`, without the values of what every command takes, and of what `row`
    does."""
    valued = {*_VALUED, *(_options(row, valued=True) if row is not None else ())}
    is_value = False
    for at, word in enumerate(arguments):
        if word == "--":
            return
        if not is_value:
            yield at, word
        is_value = not is_value and word in valued


def _options(row: Command, *, valued: bool = False) -> list[str]:
    rows = [argument for leaf in row.leaves for argument in leaf.arguments if argument.takes_value or not valued]
    return [name for argument in rows for name in argument.names if name.startswith("--")]


def _sentence(what: str, typed: str, known: Collection[str], row: Command | None) -> str:

    near = get_close_matches(typed, known, n=1, cutoff=0.6)
    sentence = f"{what}; the nearest is {near[0]}" if near else what
    return f"{sentence}. 'knowledge {row.name + ' ' if row is not None else ''}--help' lists them."
