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
    import yaml  # not for a hook that meets no frontmatter

    written = yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, default_flow_style=False, width=1000)
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
    except (AttributeError, LookupError):  # from within the library
        return {}, "the frontmatter is not YAML: a value is none of the kind that its tag names", 1
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        return {}, "the frontmatter is not a table of 'name: value' lines", 1
    return found, "", 0


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
