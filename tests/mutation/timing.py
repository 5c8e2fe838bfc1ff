"""A pytest plug-in: how long each test took (all its parameters together) and which failed, to the file in REACH.

Counted is the work of the processor, children included, so that a busy machine makes no test look slow; of a test that
waits, a part of the waiting.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WAITING = 0.2
_took: dict[str, float] = {}
_failed: set[str] = set()


def _now() -> tuple[float, float]:
    return sum(os.times()[:4]), time.monotonic()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    worked, waited = _now()
    try:
        return (yield)
    finally:
        now = _now()
        name = item.nodeid.split("[")[0]
        _took[name] = _took.get(name, 0.0) + max(now[0] - worked, WAITING * (now[1] - waited))


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        _failed.add(report.nodeid.split("[")[0])


def pytest_sessionfinish(session: object) -> None:
    Path(os.environ["REACH"]).write_text(json.dumps({"took": _took, "failed": sorted(_failed)}))
