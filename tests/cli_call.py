"""The command line, called as a program is: words in, exit status and both streams out."""

from __future__ import annotations

import io

from core.cli.main import main


def call(*words: str) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = main(list(words), out, err)
    return code, out.getvalue(), err.getvalue()
