"""How this very program was installed, as the command line that adds an extra to it, or takes it away.

The name of the program is never given to a package index: what anybody may upload there under that name is not this
program. A command names the checkout that it runs from, or the libraries of the extra alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.base.paths import shipped_root

if TYPE_CHECKING:  # a command that needs none of it does not wait for it
    from importlib.metadata import Distribution

NAME = "knowledge-memory"
_REQUIREMENT = re.compile(r"(?P<wanted>(?P<name>[\w.-]+)(?:\[(?P<extras>[\w., -]+)\])?[^;]*)(?:;(?P<marker>.*))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w.-]+)['\"]")


def is_one_file() -> bool:
    """Whether the program runs from the one file that is downloaded: it is its own Python."""
    return bool(getattr(sys, "frozen", False))


def how_to_install(extra: str) -> str:
    """A sentence: how to add an extra to this program."""
    command = install_command(extra)
    if not command:
        return f"this program takes no packages where it is: install it from its source, with the extra '{extra}'"
    return f"install the extra '{extra}': {command}"


def install_command(extra: str) -> str:
    """The command line that adds an extra to the environment of this program, "" where none can."""
    if is_one_file():
        return ""
    root = shipped_root()
    if (root / "pyproject.toml").is_file():
        return shell_line([*_pip("install"), "-e", f"{root}[{extra}]"])
    libraries = sorted(set(_libraries(_distribution(), extra)))
    return shell_line([*_pip("install"), *libraries]) if libraries else ""


def uninstall_command() -> str:
    """The command line, or the words, that take this program away."""
    if is_one_file():
        return f"delete {sys.executable}"
    marks = {"uv-receipt.toml": ["uv", "tool"], "pipx_metadata.json": ["pipx"]}
    tool = next((words for mark, words in marks.items() if os.path.exists(os.path.join(sys.prefix, mark))), [])
    if tool:
        return shell_line([*tool, "uninstall", NAME])
    return shell_line([*_pip("uninstall"), NAME]) if _distribution() is not None else f"delete {shipped_root()}"


def shell_line(words: Sequence[str]) -> str:
    """A command line for the shell of this system."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _pip(verb: str) -> list[str]:
    if find_spec("pip") is None:
        return ["uv", "pip", verb, "--python", sys.executable]
    return [sys.executable, "-m", "pip", verb]


def _distribution() -> Distribution | None:
    """What an installer has noted of this very program; None where it runs from its source as it is."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.request import url2pathname

    try:
        found = distribution(NAME)
        noted = json.loads(found.read_text("direct_url.json") or "{}")
        editable = noted.get("dir_info", {}).get("editable")
        place = url2pathname(urlsplit(noted["url"]).path) if editable else str(found.locate_file(""))
    except (PackageNotFoundError, ValueError, AttributeError, KeyError):
        return None
    return found if shipped_root() == Path(place).resolve() else None


def _libraries(found: Distribution | None, extra: str) -> Iterator[str]:
    """What an extra requires, with what the extras of our own that it names require."""
    for text in (found.requires if found is not None else None) or ():
        wanted = _REQUIREMENT.match(text)
        if wanted is None or extra not in _EXTRA.findall(wanted["marker"] or ""):
            continue
        if wanted["name"] != NAME:
            yield wanted["wanted"].strip()
            continue
        for more in filter(None, re.split(r"[ ,]+", wanted["extras"] or "")):
            yield from _libraries(found, more)
