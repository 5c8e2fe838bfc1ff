"""Servers of the tests share how a tool is described: to make that anew for each took 0.07 s of processor time, a
quarter of what the tests take that ask every place. Import this where a server is built.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.tools.base import Tool

_describe = Tool.from_function
_described: dict[str, tuple[object, Tool]] = {}


def _from_function(fn: Callable[..., Any], **named: Any) -> Tool:
    """The tool of a function; where one of its name and its arguments was described, with that description."""
    key = (inspect.signature(fn), named.get("description"), named.get("structured_output"))
    if fn.__name__ not in _described or _described[fn.__name__][0] != key:
        _described[fn.__name__] = key, _describe(fn, **named)
    return _described[fn.__name__][1].model_copy(update={"fn": fn, "annotations": named.get("annotations")})


Tool.from_function = _from_function  # type: ignore[method-assign, assignment]
