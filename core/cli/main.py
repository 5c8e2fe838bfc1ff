"""Arguments to a command, its result to text or JSON, its errors to sentences on stderr.

Exit status: 0 done, 1 something failed (named on stderr), 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any, NoReturn

from core.base.result import KnowledgeError
from core.commands.text import errors_of, grouped, one_line, to_json, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.commands.row import Command
    from core.commands.workspace import Workspace

STOPPED = "knowledge: stopped; nothing is lost, run the command again to continue"


def run() -> NoReturn:
    """The entry point of the `knowledge` program."""
    # A timer or a daemon may start us with its streams closed.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    at = 3 if sys.argv[1:2] in (["--home"], ["--config"]) else 1
    if sys.argv[at : at + 1] == ["hint"]:
        from core.give.hint import main as hint

        sys.exit(hint(sys.argv[1:]))
    code = 1
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except OSError as error:
        # Somebody read the beginning only (`knowledge ledger | head`): no error. A disk that is full was reported.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0 if isinstance(error, BrokenPipeError) else 1
    sys.exit(code)


def _nowhere() -> IO[str]:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def main(arguments: Sequence[str], out: IO[str] | None = None, err: IO[str] | None = None) -> int:
    """Run one command line and return its exit status. Streams are those of the process unless given."""
    out, err = out or sys.stdout, err or sys.stderr
    for stream in (out, err):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # what a terminal cannot show is `?` there, and no error
    from core.cli.parser import build_parser

    if not arguments:
        build_parser().print_help(out)
        return 2
    return _guarded(arguments, out, err)


def _parsed(arguments: Sequence[str]) -> tuple[Command, dict[str, Any]]:
    """The row to run with what was given. Raises KnowledgeError, and SystemExit after help."""
    from core.cli.parser import build_parser, command_word, parse, suggestion, without_alias

    arguments = without_alias(arguments)
    if reported := suggestion(arguments):
        raise KnowledgeError("usage", reported)
    first = command_word(arguments)
    before = arguments[: list(arguments).index(first)] if first else arguments
    if not first or {"-h", "--help", "--version"} & set(before):
        build_parser().parse_args(arguments)  # prints what there is, or says that a command is needed
    return parse(arguments)


def _guarded(arguments: Sequence[str], out: IO[str], err: IO[str]) -> int:
    """Run it; what nobody foresaw is one sentence, unless the user wants to see where it happened."""
    row, debug = None, "--debug" in arguments
    try:
        row, options = _parsed(arguments)
        debug = bool(options.pop("debug", False))
        return _dispatch(row, options, out, err)
    except BrokenPipeError:
        raise
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except KnowledgeError as error:
        _tell(_cleared(row, str(error)), err)
        return 2 if error.error.code == "usage" else 1
    except KeyboardInterrupt:
        print(STOPPED, file=err)
        return 130
    except (OSError, ImportError) as error:
        if debug:
            raise
        print(f"knowledge: {_refusal(error)}", file=err)
        return 1
    except Exception as error:
        if debug:
            raise

        _tell(one_line(f"unexpected {type(error).__name__}: {error}. Run it with --debug to see where."), err)
        return 1


def _refusal(error: OSError | ImportError) -> str:
    """A sentence for a system that refuses files, perhaps also those of this program: nothing is imported here."""
    what = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
    place = str(error.filename) if isinstance(error, OSError) and error.filename else ""
    words = f"the system refuses to go on: {what}{f' ({place})' if place else ''}"
    plain = "".join(char if char.isprintable() else "?" for char in words)
    return f"{plain}; nothing is lost, mend that (knowledge --debug tells more), then run the command again."


def _dispatch(row: Command, options: dict[str, Any], out: IO[str], err: IO[str]) -> int:
    """Open the home, run the command, print what came of it."""
    from pathlib import Path

    from core.cli.terminal import asker, interruptible, reporter
    from core.commands.workspace import open_workspace

    home, config = options.pop("home", ""), options.pop("config", "")
    as_json, quiet = options.pop("json", False), options.pop("quiet", False)
    if row.anywhere:
        return 0 if _printed(row, row.runs(**options), out, err, as_json=as_json, quiet=quiet) else 1
    workspace = open_workspace(home, Path(config) if config else None)
    if not quiet:
        for warning in workspace.loaded.warnings:
            _tell(warning, err)
    is_new = not workspace.paths.home.exists()
    if row.asks:
        options["ask"] = asker(err, quiet or as_json)
    with interruptible(enabled=row.long) as pressed:
        if row.long:
            options |= {"progress": reporter(err, quiet), "cancelled": pressed}
        result = row.runs(workspace, **options)
    if is_new and not quiet and workspace.paths.home.exists():
        _tell(f"made a new home: {workspace.paths.home}", err)
    if not _printed(row, result, out, err, as_json=as_json, quiet=quiet):
        return 1
    failed = _report_problems(row, workspace, result, err, as_json=as_json, quiet=quiet)
    if pressed():
        print(STOPPED, file=err)
        return 130
    if row.afterwards is not None and not failed and not as_json:
        row.afterwards(result, err)
    return 1 if failed else 0


def _printed(row: Command, value: Any, out: IO[str], err: IO[str], *, as_json: bool, quiet: bool) -> bool:
    """Print the report. False, with a sentence, where the output cannot be written."""
    from core.commands.row import NAMED, OURS, SPOKEN

    if as_json:
        ascii_only = (getattr(out, "encoding", "") or "").lower().replace("-", "") != "utf8"
        shown = to_json(value, ascii_only=ascii_only)
    else:
        piped = not out.isatty()  # at a terminal every line stands as in its file
        text = row.quiet_text if quiet and row.quiet_text else row.piped_text if piped and row.piped_text else row.text
        shown = visible(text(value))
        if piped and row.words != OURS and text is not row.piped_text:
            from core.base.marks import for_prompt

            # A provenance that ends a line in a conversation is none of ours.
            shown = for_prompt(shown, secrets=row.words in (NAMED, SPOKEN), origins=row.words != SPOKEN)
    try:
        print(shown, file=out, end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"knowledge: the output cannot be written: {error.strerror or error}.", file=err)
        return False
    return True


def _report_problems(
    row: Command, workspace: Workspace, value: Any, err: IO[str], *, as_json: bool, quiet: bool
) -> bool:
    """Warnings and failures that a report carries, on stderr. True when something failed."""
    for warning in () if quiet else getattr(value, "warnings", ()):
        if warning not in workspace.loaded.warnings:  # those were reported before
            print(visible(_cleared(row, one_line(warning))), file=err)
    errors = errors_of(value)
    for sentence in [] if row.names_errors and not as_json else grouped(errors):
        _tell(_cleared(row, sentence), err)
    return bool(errors)


def _cleared(row: Command | None, sentence: str) -> str:
    """A sentence about files that others named, without a secret in such a name: what is printed ends in logs."""
    from core.commands.row import NAMED, SPOKEN

    if row is None or row.words not in (NAMED, SPOKEN):
        return sentence
    from core.base.secrets.redact import redact

    return redact(sentence).text


def _tell(sentence: str, err: IO[str]) -> None:
    print(visible(f"knowledge: {sentence}"), file=err)
