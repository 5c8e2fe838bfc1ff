"""Frontmatter that is read and written without the library of YAML says what that library says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from core.base import frontmatter
from core.base.frontmatter import parse_frontmatter, render_frontmatter

ROOT = Path(__file__).resolve().parents[1]
NAMES = (
    "id",
    "created",
    "tags",
    "source",
    "auto_category",
    "on",
    "no",
    "y",
    "a__b",
    "_",
    "x" * 64,
    "x" * 130,
    "x" * 1100,
)
MOMENTS = ("2026-02-10T09:00:00+00:00", "2026-02-10T09:00:00", "2026-99-99T99:00:00", "2026-02-10 09:00:00")
WORDS = ("user-told", "preference", "yes", "No", "NULL", "true", "on", "a-", "-a", "~", "e", "é", "a b", "x" * 300, "")
WRITTEN = (
    *MOMENTS, *WORDS, "[]", "[a]", "{}", "0", "1", "01", "1_0", "0x1F", "1.5", "12:30:45", "'x y'", "''", "'it''s'",
    '"x"', "# c", "a # c", "a: b", "- a", "&a", "*a", "!!str 1", "|", ">", "=", "<<", "\t", "a\x85b", "a ",
)  # fmt: skip

lines = st.one_of(
    st.builds("{}: {}".format, st.sampled_from(NAMES), st.sampled_from(WRITTEN)),
    st.builds("{}:".format, st.sampled_from(NAMES)),
    st.builds("- {}".format, st.sampled_from(WRITTEN)),
    st.builds("{}{}".format, st.sampled_from(WRITTEN), st.sampled_from(WRITTEN)),
)


@given(st.lists(lines, min_size=1, max_size=6).map("\n".join))
@example("x" * 1100 + ": 1")  # too long a name to YAML
def test_what_is_read_plainly_is_what_yaml_reads(written: str) -> None:
    plain = frontmatter._plainly_read(written)
    if plain is not None:
        found = yaml.load(written, frontmatter._loader())
        assert found == plain and list(map(type, found.values())) == list(map(type, plain.values()))


values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from((*MOMENTS, *WORDS, 0, 7, 10**9, -1, True, None, 1.5)),
    st.lists(st.sampled_from((*MOMENTS, *WORDS)), max_size=3),
)


@given(st.dictionaries(st.sampled_from(NAMES), values, max_size=4))
@example({"x" * 130: 1})  # YAML marks such a name
def test_what_is_written_plainly_is_what_yaml_writes_to_the_byte(fields: dict[str, Any]) -> None:
    plain = frontmatter._plainly_written(fields)
    if plain is not None:
        assert plain == yaml.safe_dump(
            fields, sort_keys=False, allow_unicode=True, default_flow_style=False, width=1000
        )


def test_a_memory_of_ours_is_written_and_read_without_that_library() -> None:
    """Loading it takes a start longer than a hundred memories; a test above is worth nothing if nothing is plain."""
    fields = {"id": 7, "created": MOMENTS[0], "tags": ["preference", "build"], "source": "detected"}
    for some in (fields, {**fields, "tags": []}, {"version": 1, "updated": MOMENTS[1]}):
        assert parse_frontmatter(render_frontmatter(some, "Tabs.")).fields == some
        assert frontmatter._plainly_written(some) is not None
    script = (
        "import sys; from core.base.frontmatter import parse_frontmatter as p, render_frontmatter as r\n"
        f"assert p(r({fields!r}, 'Tabs.')).fields == {fields!r}; print('yaml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "False"
