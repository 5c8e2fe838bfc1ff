"""Finds the key of a provider: in the environment, else in `credentials.toml`. A key is never printed.

The file stands beside the user's own config.toml, or where that would be. It belongs to its owner alone (mode 0600) and
looks like this:

    [keys]
    openai = "…"
    anthropic = "…"
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from core.base.result import KnowledgeError

MAX_FILE_BYTES = 64 * 1024

KeyFinder: TypeAlias = Callable[[str, Sequence[str]], str]
"""Provider name and its environment variables -> the key, or "" where there is none."""


def keys_from(path: Path | None, environment: Mapping[str, str]) -> KeyFinder:
    """A finder over `environment` and the file at `path` (None: the environment alone).

    The file is read again each time, and only if the environment has no key.
    """

    def find(provider: str, variables: Sequence[str]) -> str:
        for variable in variables:
            key = environment.get(variable, "").strip()
            if key:
                return _usable(key, f"the environment variable {variable}")
        if path is None:
            return ""
        key = read_keys(path).get(provider, "").strip()
        return _usable(key, f"{path}, [keys], {provider}") if key else ""

    return find


def read_keys(path: Path) -> dict[str, str]:
    """The table `[keys]` of the file at `path`; empty when there is no such file.

    Raises KnowledgeError: `credentials-exposed` (others can read it), `credentials-unreadable`,
    `credentials-malformed`. None of them quotes the file.
    """
    try:
        # Not blocking: a FIFO of this name must not hold us.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise _unreadable(problem, path, "check its owner") from problem
    try:
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                message = "the credentials file is not a regular file"
                raise KnowledgeError("credentials-unreadable", message, path, "replace it")
            if os.name == "posix" and state.st_mode & 0o077:
                message = f"others on this computer can open the credentials file (mode {state.st_mode & 0o777:04o})"
                raise KnowledgeError("credentials-exposed", message, path, f"run: chmod 600 {path}")
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as problem:
        raise _unreadable(problem, path, "check the disk") from problem
    if len(content) > MAX_FILE_BYTES:
        hint = "keep only [keys] in it"
        raise KnowledgeError("credentials-malformed", "the credentials file is too large to be one", path, hint)
    return _parse(content, path)


def _unreadable(problem: OSError, path: Path, hint: str) -> KnowledgeError:
    reason = problem.strerror or "unknown reason"
    return KnowledgeError("credentials-unreadable", f"the credentials file cannot be read ({reason})", path, hint)


def _parse(content: bytes, path: Path) -> dict[str, str]:
    """`[keys]` out of the bytes of the file; errors name a line or a name, never a value."""
    example = 'Write a table [keys] with lines such as openai = "…"'
    try:
        document = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise KnowledgeError("credentials-malformed", "the credentials file is not UTF-8 text", path, example) from None
    except (ValueError, RecursionError) as problem:
        found = re.search(r"at line (\d+)", str(problem))
        where = f"in line {found[1]}" if found else "at its end"
        message = f"the credentials file is not valid TOML {where}"
        raise KnowledgeError("credentials-malformed", message, path, example) from problem
    keys = document.get("keys", {})
    if not isinstance(keys, dict):
        raise KnowledgeError("credentials-malformed", "keys is not a table in the credentials file", path, example)
    for name, value in keys.items():
        if not isinstance(value, str):
            message = f"the key of {name[:40]!r} is not a string in the credentials file"
            raise KnowledgeError("credentials-malformed", message, path, example)
    return dict(keys)


def _usable(key: str, source: str) -> str:
    """`key`, if it can stand in an HTTP header: printable ASCII without white space."""
    if key.isascii() and key.isprintable() and " " not in key:
        return key
    message = f"the key in {source} has characters that no key has (white space, control or foreign characters)"
    raise KnowledgeError("bad-credentials", message, hint="copy it again")
