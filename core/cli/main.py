"""Arguments to a command, its result to text or JSON, its errors to sentences on stderr.

Exit status: 0 done, 1 something failed (named on stderr), 2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import IO, Any, NoReturn

from core.cli.mistakes import slip, with_category
from core.cli.parser import build_parser

GATED = ("context",)
"""Commands whose text has our own marks around what went through the gate already."""


def run() -> NoReturn:
    """The entry point of the `knowledge` program."""
    # A process that lives for one command holds many small records and next to no cycles: look for those seldom, and
    # not once more at the end, when all memory is given back anyway.
    gc.set_threshold(200_000)
    # A timer or a daemon may start us with its streams closed.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    code = 1
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except OSError as error:
        # Somebody read only the beginning (`knowledge ledger | head`): that is no error. A disk that is full was told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0 if isinstance(error, BrokenPipeError) else 1
    gc.freeze()
    sys.exit(code)


def _nowhere() -> IO[str]:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def main(arguments: Sequence[str], out: IO[str] | None = None, err: IO[str] | None = None) -> int:
    """Run one command line and return its exit status. Streams are those of the process unless given."""
    out, err = out or sys.stdout, err or sys.stderr
    _tolerate_any_text(out, err)
    parser = build_parser(arguments)
    if not arguments:
        parser.print_help(out)
        return 2
    if told := slip(arguments):
        from core.cli.text import visible

        print(visible(f"knowledge: {told}"), file=err)
        return 2
    try:
        options = vars(parser.parse_args(with_category(arguments)))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        return _dispatch(options, out, err)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        print("knowledge: stopped; nothing is lost, run the command again to continue", file=err)
        return 130
    except (OSError, ImportError) as error:
        if options.get("debug"):
            raise
        print(f"knowledge: {_refusal(error)}", file=err)
        return 1
    except Exception as error:
        if options.get("debug"):
            raise
        from core.cli.text import one_line, visible

        said = visible(one_line(f"unexpected {type(error).__name__}: {error}"))
        print(f"knowledge: {said}. Run it with --debug to see where.", file=err)
        return 1


def _refusal(error: OSError | ImportError) -> str:
    """A sentence for a system that refuses files, perhaps also those of this program: nothing is imported here."""
    what = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
    place = str(error.filename) if isinstance(error, OSError) and error.filename else ""
    words = f"the system refuses to go on: {what}{f' ({place})' if place else ''}"
    plain = "".join(char if char.isprintable() else "?" for char in words)
    return f"{plain}; nothing is lost, mend that (knowledge --debug tells more), then run the command again."


def _dispatch(options: dict[str, Any], out: IO[str], err: IO[str]) -> int:
    from pathlib import Path

    from core.base.result import Err
    from core.cli.interrupt import Interrupt
    from core.cli.text import errors_of, grouped, one_line, prepare, to_json, to_text, visible
    from core.commands.table import COMMAND
    from core.commands.workspace import open_workspace

    command = COMMAND[options.pop("command")]
    home, config = options.pop("home", ""), options.pop("config", "")
    as_json, quiet = options.pop("json", False), options.pop("quiet", False)
    options.pop("debug", None)
    opened = open_workspace(home, Path(config) if config else None)
    if isinstance(opened, Err):
        print(visible(f"knowledge: {opened.error}"), file=err)
        return 1
    if not quiet:
        for warning in opened.value.loaded.warnings:
            print(visible(f"knowledge: {warning}"), file=err)
    prepare(command.name)  # the report: told even where the system refuses every file from now on
    is_new = not opened.value.paths.home.exists()
    with Interrupt(enabled=command.long) as interrupt:
        if command.long:
            from core.cli.progress import reporter

            options |= {"progress": reporter(err, quiet), "cancelled": interrupt.pressed}
        result = command.function()(opened.value, **options)
    if isinstance(result, Err):
        print(visible(f"knowledge: {result.error}"), file=err)
        return 2 if result.error.code == "usage" else 1
    if is_new and not quiet and opened.value.paths.home.exists():
        print(visible(f"knowledge: made a new home: {opened.value.paths.home}"), file=err)
    if quiet and not as_json and command.name == "harvest":
        result.value.lines = []
    ascii_only = (getattr(out, "encoding", "") or "").lower().replace("-", "") != "utf8"
    shown = to_json(result.value, ascii_only=ascii_only) if as_json else visible(to_text(command.name, result.value))
    if not as_json and not out.isatty() and command.name not in GATED:
        # What is piped may end in a prompt. A person at a terminal sees every line as it stands in its file.
        from core.base.marks import tame

        shown = tame(shown, origins=True)
    try:
        print(shown, file=out, end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"knowledge: the output cannot be written: {error.strerror or error}.", file=err)
        return 1
    told_before = opened.value.loaded.warnings
    for warning in () if quiet else getattr(result.value, "warnings", ()):
        if warning in told_before:
            continue
        print(visible(one_line(warning)), file=err)
    errors = errors_of(result.value)
    told = [] if command.name == "doctor" and not as_json else grouped(errors)  # the report itself names them
    for sentence in told:
        print(visible(f"knowledge: {sentence}"), file=err)
    if interrupt.pressed():
        print("knowledge: stopped; nothing is lost, run the command again to continue", file=err)
        return 130
    if command.name == "demo" and not errors and not as_json:
        from core.cli.demo_panel import open_panel

        open_panel(result.value, err)
    return 1 if errors else 0


def _tolerate_any_text(*streams: IO[str]) -> None:
    """A terminal that cannot show a character gets `?` for it instead of an error."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
