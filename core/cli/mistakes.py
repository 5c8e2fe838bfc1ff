"""Slips in a command line: a name that there is not is answered with the nearest one, and a place that says its
category itself need not be told it. Looks at words only; what is wrong otherwise, argparse tells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from core.base.choices import ANY_CATEGORY, BULLET_CATEGORIES
from core.commands.table import COMMAND

_VALUED = ("--home", "--config")
_EVERYWHERE = (*_VALUED, "--json", "--quiet", "--debug", "--help")
_PLACE = re.compile(r"(?P<name>facts|decisions|questions|playbooks|tasks)\.md:\d+\Z|(?P<folder>files)/.+\.md:\d+\Z")


def slip(arguments: Sequence[str]) -> str:
    """A sentence about the first command or option that there is not, with the nearest that there is; "" for none."""
    command = ""
    for _, word in _told(arguments):
        name = word.partition("=")[0]
        if word.startswith("--") and " " not in word:  # with a blank in it, it is a text
            known = [*_EVERYWHERE, *(_options(command) if command else ("--version",))]
            if name not in known:
                whose = f"'knowledge {command}' has" if command else "there is"
                return _sentence(f"{whose} no option {name!r}", name, known, command)
        elif not command and not word.startswith("-"):
            if word not in COMMAND:
                return _sentence(f"there is no command {word!r}", word, list(COMMAND), "")
            command = word
    return ""


def with_category(arguments: Sequence[str]) -> list[str]:
    """The words of `rm`, `unstrike` and `edit` with the category in front of a FILE:LINE that stands in its place, or
    ("any") in front of the bullet's words where no category was given."""
    words = list(arguments)
    plain = [(at, word) for at, word in _told(words) if not word.startswith("-")]
    needed = {"rm": 1, "unstrike": 1, "edit": 2}.get(plain[0][1], -2) if plain else -2
    if (
        len(plain) == needed + 1
        and plain[1][1] not in (*BULLET_CATEGORIES, ANY_CATEGORY)
        and not _PLACE.match(plain[1][1])
    ):
        words.insert(plain[1][0], ANY_CATEGORY)
    elif len(plain) > 1 and plain[0][1] in ("rm", "unstrike", "edit") and (place := _PLACE.match(plain[1][1])):
        words.insert(plain[1][0], place["name"] or place["folder"])
    return words


def _told(arguments: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The words with their places, up to `--`, without the values of what every command takes."""
    is_value = False
    for at, word in enumerate(arguments):
        if word == "--":
            return
        if not is_value:
            yield at, word
        is_value = not is_value and word in _VALUED


def _options(command: str) -> list[str]:
    return [name for argument in COMMAND[command].arguments for name in argument.names if name.startswith("--")]


def _sentence(what: str, typed: str, known: Collection[str], command: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(typed, known, n=1, cutoff=0.6)
    told = f"{what}; the nearest is {near[0]}" if near else what
    return f"{told}. 'knowledge {command + ' ' if command else ''}--help' lists them."
