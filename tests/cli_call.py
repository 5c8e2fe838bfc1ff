"""The command line, called as a program is: words in, exit status and both streams out. Whoever looks at the program
through its face alone takes it from here: what leads inside stands in this module, once."""

from __future__ import annotations

import io
import sys
from unittest.mock import patch

from core.cli.main import main
from core.commands.table import commands


def call(*words: str) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) as stdout,
        patch.object(sys, "stdout", stdout),  # help is printed there
        patch.object(sys, "stderr", err),
    ):
        code = main(list(words), out, err)
        return code, out.getvalue() + stdout.buffer.getvalue().decode(), err.getvalue()


def leaves() -> dict[str, tuple[str, ...]]:
    """Everything that can be run, as it is typed (`status`, `trash purge`), and the options that it alone has."""
    return {
        row.name if leaf is row else f"{row.name} {leaf.name}": tuple(
            argument.names[0] for argument in leaf.arguments if not argument.is_positional
        )
        for row in commands()
        for leaf in row.leaves
    }
