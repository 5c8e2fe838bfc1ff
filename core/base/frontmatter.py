"""Frontmatter: the YAML between two `---` lines at the top of a markdown file.

Timestamps stay the text that was written: whoever reads `created: 2026-02-10T09:00:00+00:00` back wants these letters,
with or without quotes around them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

# More than this is no frontmatter: YAML that nests deeper than the stack could stand in it.
LIMIT_BYTES = 8192
FENCE = re.compile(r"---[ \t]*\Z")
TIMESTAMP = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?"
    r"(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?\Z"
)
# What this program writes itself: read and written without loading a library of YAML, which takes a start ten times
# as long as a file takes that library. Whatever looks otherwise is left to it.
_LINE = re.compile(r"(?:(?P<name>[a-z_]+):(?= |\Z)|-(?= )) ?(?P<value>.*)\Z")
_WORD = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[a-z]+(?:-[a-z]+)*\Z", re.IGNORECASE)
_NAME = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z|.{65})[a-z]+(?:_[a-z]+)*\Z")  # YAML marks longer ones
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,8})\Z", re.ASCII)
_QUOTED = re.compile(r"'(?P<text>[ -&(-~]*)'\Z")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\+00:00)?\Z", re.ASCII)


@dataclass(frozen=True)
class Frontmatter:
    """A file's frontmatter and its body.

    `fields` is empty and `problem` a sentence when there is none to be had (missing, not closed, not YAML, no table);
    `line` is the line of the file, from 1, that the problem stands on, 0 for none. `body` is all text after the closing
    fence, or the whole text when there is no frontmatter; line ends are "\\n".
    """

    body: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    line: int = 0


def parse_frontmatter(text: str) -> Frontmatter:
    """Split a file's text; a byte order mark and Windows line ends are understood. Never raises."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    if not FENCE.match(lines[0]):
        return Frontmatter(text, problem="there is no frontmatter (a first line '---', fields, a line '---')", line=1)
    close = next((at for at, line in enumerate(lines[1:], start=1) if FENCE.match(line)), 0)
    if not close:
        return Frontmatter(text, problem="the frontmatter has no closing line '---'", line=1)
    body, written = "\n".join(lines[close + 1 :]), "\n".join(lines[1:close])
    if not written.strip():
        return Frontmatter(body, problem="the frontmatter is empty", line=1)
    if len(written.encode("utf-8", "replace")) > LIMIT_BYTES:
        return Frontmatter(body, problem=f"the frontmatter is longer than {LIMIT_BYTES} bytes", line=1)
    fields, problem, line = _load(written)
    return Frontmatter(body, fields, problem, line and line + 1)


def render_frontmatter(fields: Mapping[str, Any], body: str) -> str:
    """The file's text: fields in their order, an empty line, the body without white space around it."""
    written = _plainly_written(fields)
    if written is None:
        import yaml

        written = yaml.safe_dump(
            dict(fields), sort_keys=False, allow_unicode=True, default_flow_style=False, width=1000
        )
    return f"---\n{written}---\n\n{body.strip()}\n"


def field_line(text: str, name: str) -> int:
    """The line of the file, from 1, on which a top-level field stands; 1 when it is missing."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if number > 1 and FENCE.match(line):
            break
        if re.match(rf"[\"']?{re.escape(name)}[\"']?[ \t]*:", line):
            return number
    return 1


def _load(written: str) -> tuple[dict[str, Any], str, int]:
    """Fields, or a sentence and the line within the frontmatter."""
    plain = _plainly_read(written)
    if plain is not None:
        return plain, "", 0
    import yaml

    try:
        # Not `yaml.load`: the loader is a safe one, only without dates.
        loader = _loader()(written)
        try:
            found = loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark.index if error.problem_mark is not None else 0
        # Counted by hand: YAML takes a lone carriage return for the end of a line, editors do not. What is missing at
        # the end is missed on the closing line.
        line = written.count("\n", 0, at) + 1 + (at >= len(written))
        return {}, f"the frontmatter is not YAML: {error.problem or 'it cannot be read'}", line
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        why = str(error).splitlines()[0] if str(error) else "it nests too deep"
        return {}, f"the frontmatter is not YAML: {why}", 1
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        return {}, "the frontmatter is not a table of 'name: value' lines", 1
    return found, "", 0


def _plainly_read(written: str) -> dict[str, Any] | None:
    """Fields as YAML has them, where each is a number, a time, a word, a text in single quotes or a list of these."""
    fields: dict[str, Any] = {}
    items: list[Any] | None = None
    for line in written.split("\n"):
        found = _LINE.match(line)
        name, value = (found["name"], found["value"]) if found is not None else ("", "")
        if name and not _NAME.match(name):
            return None
        if not value and name and items != []:
            items = fields[name] = [] if name not in fields else None
        elif name and items != [] and name not in fields:
            fields[name], items = ([] if value == "[]" else _plain_value(value)), None
        elif not name and value and items is not None:
            items.append(_plain_value(value))
        else:
            return None
        if (name and fields[name] is None) or (items and items[-1] is None):
            return None
    return None if items == [] else fields


def _plain_value(value: str) -> int | str | None:
    if _NUMBER.match(value):
        return int(value)
    quoted = _QUOTED.match(value)
    if quoted is not None:
        return quoted["text"]
    return value if _WORD.match(value) or _MOMENT.match(value) else None


def _plainly_written(fields: Mapping[str, Any]) -> str | None:
    """What YAML makes of fields of which each is a small number, a time, a word or a list of words."""
    lines = []
    for name, value in fields.items():
        if type(value) is list and value and all(type(row) is str and _WORD.match(row) for row in value):
            lines += [f"{name}:", *(f"- {row}" for row in value)]
        elif value == [] and type(value) is list:
            lines.append(f"{name}: []")
        elif (type(value) is int and 0 <= value < 10**9) or (type(value) is str and _WORD.match(value)):
            lines.append(f"{name}: {value}")
        elif type(value) is str and _MOMENT.match(value):
            lines.append(f"{name}: '{value}'")
        else:
            return None
        if not _NAME.match(name):
            return None
    return "\n".join(lines) + "\n" if lines else None


@cache
def _loader() -> Any:
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc, valid-type]
        """YAML's plain values; a timestamp is text."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
        for first, rows in base.yaml_implicit_resolvers.items()
    }
    return Loader
