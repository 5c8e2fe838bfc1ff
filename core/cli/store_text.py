"""The texts of the commands that work on bullets and on history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

STORE_TEXT: dict[str, Callable[[Any], str]] = {}
