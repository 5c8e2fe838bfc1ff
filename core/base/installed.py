"""How this very program was installed, as the command line that adds an extra to it, or takes it away.

The name of the program is never given to a package index: what anybody may upload there under that name is not this
program. A command names the place that it was installed from; where nobody knows that any more, the libraries of the
extra alone.
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
from typing import TYPE_CHECKING, Any
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
    """The command line that adds an extra, "" where none can."""
    if is_one_file():
        return ""
    found = _distribution()
    source, editable = _source(found)
    if not source:
        libraries = _libraries(found, extra)
        return shell_line([*_pip(found, "install"), *libraries]) if libraries else ""
    tool = _tool()
    if tool:  # each makes its environment again: what was in it is named again
        wanted = f"{source[0]}[{','.join(sorted({*_present(found), extra}))}]{source[1]}"
        return shell_line([*tool, "install", "--force", *editable, wanted])
    return shell_line([*_pip(found, "install"), *editable, f"{source[0]}[{extra}]{source[1]}"])


def uninstall_command() -> str:
    """The command line, or the words, that take this program away."""
    if is_one_file():
        return f"delete {sys.executable}"
    found, tool = _distribution(), _tool()
    if tool:
        return shell_line([*tool, "uninstall", NAME])
    return shell_line([*_pip(found, "uninstall"), NAME]) if found is not None else f"delete {shipped_root()}"


def shell_line(words: Sequence[str]) -> str:
    """A command line for the shell of this system."""
    if sys.platform != "win32":
        return shlex.join(words)

    return subprocess.list2cmdline(words)


def _distribution() -> Distribution | None:
    """What an installer has noted of this very program; None where it runs from its source as it is."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(NAME)
    except PackageNotFoundError:
        return None
    _, path, editable = _origin(found)
    return found if shipped_root() == Path(path if editable else str(found.locate_file(""))).resolve() else None


def _origin(found: Distribution) -> tuple[dict[str, Any], str, bool]:
    """Where it was installed from (direct_url.json), the path where that is a file or folder, "" for none, and whether
    it is used where it lies."""
    from urllib.request import url2pathname

    try:
        noted = json.loads(found.read_text("direct_url.json") or "{}")
        url = urlsplit(str(noted.get("url", "")))
        editable = bool(noted.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return {}, "", False
    return noted, url2pathname(url.path) if url.scheme == "file" else "", editable


def _tool() -> list[str]:
    """The words of uv or pipx, where one of them keeps the environment of this program."""
    marks = {"uv-receipt.toml": ["uv", "tool"], "pipx_metadata.json": ["pipx"]}
    return next((words for mark, words in marks.items() if os.path.exists(os.path.join(sys.prefix, mark))), [])


def _pip(found: Distribution | None, verb: str) -> list[str]:
    by_uv = found is not None and (found.read_text("INSTALLER") or "").strip() == "uv"
    if by_uv or find_spec("pip") is None:
        return ["uv", "pip", verb, "--python", sys.executable]
    return [sys.executable, "-m", "pip", verb]


def _source(found: Distribution | None) -> tuple[tuple[str, str] | None, list[str]]:
    """What stands before and behind the extras in the words of an installer, None where the source is gone or was an
    index; and the option for a source that is used where it lies."""
    if found is None:
        return _folder(str(shipped_root())), ["-e"]
    noted, path, editable = _origin(found)
    if "dir_info" in noted:
        return _folder(path), ["-e"] if editable else []
    if "vcs_info" in noted:
        return (NAME, f" @ {noted['vcs_info']['vcs']}+{noted['url']}"), []
    there = "archive_info" in noted and (not path or os.path.exists(path))
    return ((NAME, f" @ {noted['url']}") if there else None), []


def _folder(path: str) -> tuple[str, str] | None:
    return (path, "") if os.path.isfile(os.path.join(path, "pyproject.toml")) else None


def _requirements(found: Distribution | None, extra: str) -> Iterator[re.Match[str]]:
    """What an extra requires, with what the extras of our own that it names require."""
    for text in (found.requires if found is not None else None) or ():
        wanted = _REQUIREMENT.match(text)
        if wanted is None or extra not in _EXTRA.findall(wanted["marker"] or ""):
            continue
        if wanted["name"] != NAME:
            yield wanted
        for more in filter(None, re.split(r"[ ,]+", wanted["extras"] or "") if wanted["name"] == NAME else ()):
            yield from _requirements(found, more)


def _libraries(found: Distribution | None, extra: str) -> list[str]:
    return sorted({wanted["wanted"].strip() for wanted in _requirements(found, extra)})


def _present(found: Distribution | None) -> list[str]:
    """The extras whose libraries are all there; not one that needs none."""
    names = (found.metadata.get_all("Provides-Extra") if found is not None else None) or []
    wanted = {name: [row["name"] for row in _requirements(found, name)] for name in names}
    return [name for name, libraries in wanted.items() if libraries and all(map(_is_there, libraries))]


def _is_there(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
