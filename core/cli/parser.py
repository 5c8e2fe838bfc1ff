"""The words of a command line as a row of the table and its arguments, by argparse; and what else is made of the table:
help, completion in shells, the manual page.

Before they are parsed, an unknown name is answered with the nearest one, and what a user may leave out is put
in.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from core import __version__
from core.base.choices import ANY_CATEGORY, BULLET_CATEGORIES
from core.base.result import KnowledgeError
from core.commands.row import OURS, Argument, Command, nearest, optional, top
from core.commands.table import MODULE, MOVED, SECOND_NAMES, SUMMARY, command, commands

DESCRIPTION = "Turns the AI conversations on your disk into plain-text knowledge that you own."
_REQUIRED = re.compile(r"the following arguments are required: (?P<names>.+)")

# What argparse says, as of Python 3.11 to 3.14, which differ in quotation marks.
_CHOICE = re.compile(r"argument (?P<name>\S+): invalid choice: (?P<typed>.+) \(choose from (?P<choices>.+)\)")
_NO_NUMBER = re.compile(r"argument (?P<name>\S+): invalid int value: (?P<typed>.+)")


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
    """A sentence about the first unknown command or option, with the nearest known one; "" for none."""
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
    without = {"rm": 2, "retract": 2, "edit": 3}
    if len(plain) > 1 and plain[0][1] in without:
        at, first = plain[1]
        if place := _PLACE.match(first):
            words.insert(at, place["name"] or place["folder"])
        elif len(plain) == without[plain[0][1]] and first not in (*BULLET_CATEGORIES, ANY_CATEGORY):
            words.insert(at, ANY_CATEGORY)
    return words


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
    return f"{what}{nearest(typed, known)}. 'knowledge {row.name + ' ' if row is not None else ''}--help' lists them."


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
        whole = row.name if leaf is row else f"{row.name} {leaf.name}"
        refused = f"'knowledge {whole}' takes no {' '.join(left)}"
        raise KnowledgeError("usage", refused, hint=f"'knowledge {whole} --help' tells what it takes")
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
    )
    parser.add_argument("--version", action="version", version=f"knowledge {__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog=parser.prog)
    shared = common if repeated else _Parser(add_help=False)
    for row in rows:
        _add_command(group, row, shared)
    for name, summary in () if rows else SUMMARY.items():
        group.add_parser(name, help=summary, add_help=False)
    return parser


class _Parser(argparse.ArgumentParser):
    """Mistakes as one sentence, like every other error of this program, instead of the usage and a line."""

    listing = ""
    """The command that lists what this one wants one of."""

    def error(self, message: str) -> NoReturn:
        more = f"'{self.prog} --help' tells more."
        if found := _CHOICE.match(message):
            choices = ", ".join(re.findall(r"[^\s',]+", found["choices"]))
            near = nearest(found["typed"].strip("'"), choices.split(", "))
            what = found["name"].lower()
            raise KnowledgeError("usage", f"there is no {what} {found['typed']}, only {choices}{near}. {more}")
        if found := _NO_NUMBER.match(message):
            raise KnowledgeError("usage", f"{found['name']} takes a whole number, and {found['typed']} is none. {more}")
        found = _REQUIRED.match(message)
        if found is None:
            raise KnowledgeError("usage", f"'{self.prog}': {message}. {more}")
        example = (self.epilog or "").removeprefix("example: ")
        listing = f" {self.listing!r} lists them." if self.listing else ""
        hint = f"For example '{example}'." if example.startswith("knowledge ") else "'knowledge --help' lists them."
        needs = found["names"].replace(", ", " and ")
        only = next((one.help for one in self._actions if one.metavar == needs), "")
        what = f": {only}" if only else ""
        raise KnowledgeError("usage", f"'{self.prog}' needs {needs}{what}. {hint}{listing}")


def _common() -> _Parser:
    """What every command takes, before its name or after it. A suppressed default keeps the one from overwriting the
    other."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
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
    texts = {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in _topics()}
    if topic and topic not in texts:
        raise KnowledgeError("usage", f"there is no page {topic!r}; there are {', '.join(texts)}")
    pages = tuple(Page(name, text.partition("\n")[0].lstrip("# ")) for name, text in texts.items())
    return Help(pages, texts.get(topic, ""))


def _topics() -> list[str]:
    """The pages that there are."""
    from core.base.paths import shipped_root

    return sorted(path.stem for path in (shipped_root() / "assets" / "docs").glob("*.md"))


def help_text(found: Help) -> str:
    """The page, or the list of them."""
    if found.text:
        return found.text
    width = max(len(page.topic) for page in found.pages)
    rows = [f"  {page.topic:<{width}}  {page.title}" for page in found.pages]
    return "\n".join(["'knowledge help TOPIC' prints one of these pages:", "", *rows, ""])


# --- what is made of the table --------------------------------------------------------------------------------------

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def manual_parser() -> argparse.ArgumentParser:
    """The parser with every command and all of its arguments, for the manual page (`make man`)."""
    return build_parser(commands(), repeated=False)


def completion(shell: str) -> str:
    """The script by which one of `SHELLS` completes commands, options and their values."""
    import shtab  # for this command alone, and every command loads this file

    return shtab.complete(build_parser([_offering(row) for row in commands()]), shell=shell)


def _offering(row: Command) -> Command:
    """A row whose arguments take nothing but what they offer, for a script that parses nothing."""
    arguments = tuple(
        one if one.offers is None else one._replace(options={**one.options, "choices": tuple(one.offers())})
        for one in row.arguments
    )
    return row._replace(arguments=arguments, subcommands=tuple(map(_offering, row.subcommands)))


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
    top(
        "help",
        "sources",
        show_help,
        help_text,
        optional("topic", "the page to print")._replace(offers=_topics),
        words=OURS,
        anywhere=True,
    ),
)
