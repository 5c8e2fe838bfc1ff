"""`knowledge mcp` answers what every client asks first before the protocol's library is loaded, which takes a second.

What the library answered to `initialize`, `tools/list` and their like is kept in the cache folder, beside the state of
every file of the program and of the library that it was made by. While all of them are what they were, the same request
in a session that was opened in the same words gets the same answer at once, and the library is loaded meanwhile. It
then sees the whole session from its first line; what it answers to requests that have their answer is compared, not
sent. Whatever is unusual (other words, a damaged line, a file that changed, a call of a tool) waits for the library,
and so does all that comes after it.

Nothing is imported at the top but what a bare Python has loaded, or json and threads, which every start needs.
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import threading
import time
from collections import deque

from core.cli.kept_context import asked_of_process, keep_at, kept_at, place_of, seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TextIO

OPENS = ("initialize", "server/discover")
FIRST = frozenset(
    (*OPENS, "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list"),
)
"""What says the same in every session that was opened in the same words."""
WORDS = ("--allow-writes", "--harvest-at-end", "--quiet", "--debug")
MADE_BY = ("core", "mcp", "mcp_types", "pydantic", "pydantic_core")
LINE_BYTES = 1 << 16
"""A longer line is none that a client begins with."""
OPENINGS = 8
"""So many kinds of clients are kept apart."""
REQUESTS = 16
"""So many requests of one kind of client are kept: some name each of theirs anew, and none of those comes again."""
PATIENCE_SECONDS = 0.2
"""A client that has started us speaks at once; for one that does not, loading the library does not wait."""


class FirstAnswers:
    """Stands between the client and the library: reads the client's lines in a thread of its own, hands all of them
    on, and writes to the client what the library writes, but for answers that were given already."""

    def __init__(self, place: str, asked: list[Any], wire_in: int, wire_out: int) -> None:
        self._place, self._asked = place, asked
        self._in, self._out = wire_in, io.FileIO(wire_out, "w", closefd=False)
        self._begun = time.time()
        self._kept = _kept(place, asked)  # opening -> request -> the text of the result
        self._lines: deque[bytes] = deque()
        self._read_to = 0  # how much of the first of them the library has
        self._changed = threading.Condition()
        self._ended = False
        self._writing = threading.Lock()
        self._early = bool(self._kept)  # answers may still be given here
        self._first = True  # so far only what clients begin with
        self._opening = ""
        self._waiting: dict[int | str, str] = {}  # id -> request, until the library has answered
        self._answered: dict[int | str, str] = {}  # id -> the text of the result that was sent
        self._rest = b""

    def begin(self) -> None:
        """Read from now on; return when the first line is through, or the client takes its time."""
        threading.Thread(target=self._read, daemon=True).start()
        if self._kept:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._ended, PATIENCE_SECONDS)

    # --- from the client ---------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Every line to the library, and its answer to the client where it is kept. Runs in a thread of its own, which
        the end of the process cuts off."""
        parts: list[bytes] = []
        while True:
            try:
                data = os.read(self._in, 1 << 16)
            except OSError:
                data = b""
            *ended, rest = data.split(b"\n")
            for line in ended:
                self._take(b"".join((*parts, line, b"\n")))
                parts.clear()
            parts.append(rest)
            if not data:
                break
        with self._changed:
            self._lines.extend(filter(None, [b"".join(parts)]))
            self._ended = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        if self._first:
            with self._writing:
                self._look_at(line)
        with self._changed:
            self._lines.append(line)
            self._changed.notify_all()

    def _look_at(self, line: bytes) -> None:
        """Answer one line, or note what the library is going to answer. Locked."""
        message = _message(line) if len(line) <= LINE_BYTES else {}
        if message in _READY and self._opening:
            return
        number, request = _request(message)
        usual = bool(request) and number not in self._waiting and request.startswith(_OPENS_AS) != bool(self._opening)
        if not usual:
            self._first = self._early = False
            return
        self._opening = self._opening or request
        self._waiting[number] = request
        result = self._kept.get(self._opening, {}).get(request)
        if result is None or not self._early:
            self._early = False
            return
        try:
            self._send(f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":{result}}}\n'.encode())
            self._answered[number] = result
        except OSError:
            self._early = False  # it has gone: the library will find out

    def next_lines(self, most: int) -> bytes:
        """What the library reads next, at most so many bytes; b"" at the end."""
        with self._writing:
            self._early = False  # it is there now, and answers faster than it is asked twice
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._ended)
            if not self._lines:
                return b""
            line, begin = self._lines[0], self._read_to
            self._read_to += most
            if self._read_to >= len(line):
                self._lines.popleft()
                self._read_to = 0
            return line[begin : begin + most]

    # --- from the library --------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """What the library says, to the client. Raises OSError where that has gone."""
        with self._writing:
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if not self._waiting or self._is_wanted(line):
                    self._send(line + b"\n")

    def _is_wanted(self, line: bytes) -> bool:
        """Whether the client has not had this yet; what is new about first answers is kept. Locked."""
        message = _message(line)
        number = message.get("id")
        if "method" in message or type(number) not in (int, str) or number not in self._waiting:
            return True
        request, sent = self._waiting.pop(number), self._answered.pop(number, None)
        result = _text(message["result"]) if message.keys() == {"jsonrpc", "id", "result"} else None
        known = self._kept.setdefault(self._opening, {})
        if result is None and sent is None:
            return True
        if result != known.get(request) and (request in known or len(known) < REQUESTS):
            known.pop(request, None)
            if result is not None:
                known[request] = result
            self._keep()
        return sent is None

    def _send(self, data: bytes) -> None:
        while data:
            data = data[self._out.write(data) :]

    def _keep(self) -> None:
        """Keep the answers with the state of all that they were made by, unless some of it has changed just now."""
        from contextlib import suppress

        with suppress(OSError):
            rows = [seen(path, True) for path in _made_by()]
            rows += [seen(os.path.realpath(row[0]), True) for row in rows if len(row) > 1 and stat.S_ISLNK(row[1])]
            openings = dict(list(self._kept.items())[-OPENINGS:])
            keep_at(self._place, self._asked, rows, self._begun, openings=openings)


class _Incoming(io.RawIOBase):
    """The client's lines, as the library reads them from standard input."""

    def __init__(self, between: FirstAnswers) -> None:
        self._between = between

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        data = self._between.next_lines(len(room))
        room[: len(data)] = data
        return len(data)


class _Outgoing(io.RawIOBase):
    """What the library writes on standard output."""

    def __init__(self, between: FirstAnswers) -> None:
        self._between = between

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._between.write(bytes(data))
        return len(data)


def answer_first(arguments: Sequence[str]) -> None:
    """Answer a client of `knowledge mcp` as far as its first answers are kept, and put ourselves in the place of
    standard input and output, where the library finds them. Whatever else writes there meanwhile ends on standard
    error. Does nothing for other words, and where answers are not kept."""
    asked = _asked(arguments)
    place = place_of(asked) if asked is not None else None
    if asked is None or place is None:
        return
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        wire_in, wire_out = os.dup(0), os.dup(1)
        os.fstat(2)
    except OSError:
        return  # started with closed streams
    if nothing < 3:
        return
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    between = FirstAnswers(place, asked, wire_in, wire_out)
    between.begin()
    sys.stdin = _text_stream(io.BufferedReader(_Incoming(between)))
    sys.stdout = _text_stream(io.BufferedWriter(_Outgoing(between)))


def _text_stream(buffer: Any) -> TextIO:
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="replace", newline="\n")


def _asked(arguments: Sequence[str]) -> list[Any] | None:
    """The words, variables and code by which answers are found again; None for a start that is served as it comes."""
    rest = iter(arguments[1:])
    if [*arguments[:1]] != ["mcp"] or os.environ.get("SLOP_CONFIG") or os.path.lexists("config.toml"):
        return None
    if hasattr(sys, "frozen"):
        return None  # the one file to download unpacks itself into another folder each time
    for word in rest:
        if word not in WORDS and (word != "--home" or not next(rest, "")):
            return None
    return [[*arguments], *asked_of_process(), sys.path, sys.executable]


def _made_by() -> list[str]:
    """Every file that has a part in the answers: the program, the library, the settings."""
    from core.base.config import SHIPPED_FILE, user_config_file

    code = [
        module.__file__ or ""
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] in MADE_BY and getattr(module, "__file__", None)
    ]
    settings = [str(SHIPPED_FILE), str(user_config_file(os.environ))]
    return [*dict.fromkeys([*settings, sys.executable, *filter(None, code)])]


def _kept(place: str, asked: list[Any]) -> dict[str, dict[str, str]]:
    """What was kept of sessions before this one; nothing where any file of it is another by now."""
    try:
        kept = kept_at(place, asked) or {"openings": {}}
        # A text that is no JSON would break the line that it is put into, and half a character could not be sent.
        return {
            str(opening): {str(request): _sendable(result) for request, result in answers.items()}
            for opening, answers in kept["openings"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return {}


def _message(line: bytes) -> dict[str, Any]:
    """What stands in a line, as the library reads it; {} for what it may read otherwise, or not at all."""
    if b"\r" in line.rstrip(b"\r\n"):
        return {}
    try:
        message = json.loads(line.decode(), parse_constant=_refused, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _request(message: dict[str, Any]) -> tuple[Any, str]:
    """The id of a request and its words, the same for the same request whatever its id and the client's name; "" for
    anything that is not plainly one of those that come first."""
    number, method, params = message.get("id"), message.get("method"), message.get("params", {})
    plain = message.get("jsonrpc") == "2.0" and message.keys() <= {"jsonrpc", "id", "method", "params"}
    if not plain or type(number) not in (int, str) or not isinstance(method, str) or not isinstance(params, dict):
        return 0, ""
    if method not in FIRST:
        return 0, ""
    client = params.get("clientInfo")
    if method == "initialize" and isinstance(client, dict) and all(type(row) is str for row in client.values()):
        params = {**params, "clientInfo": sorted(client)}
    return number, json.dumps([method, params, "params" in message], sort_keys=True)


_OPENS_AS = tuple(f'["{method}", ' for method in OPENS)
_READY: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}},
)


def _refused(constant: str) -> None:
    raise ValueError(constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that names each of its keys once."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError
    return made


def _sendable(kept: str) -> str:
    """The text of a result as it is sent. Raises ValueError for what is none."""
    return _text(json.loads(kept, parse_constant=_refused)).encode().decode()


def _text(result: Any) -> str:
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
