"""A pytest plug-in: how long each test took (all its parameters together) and which failed, to the file in REACH."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_took: dict[str, float] = {}
_failed: set[str] = set()


def pytest_runtest_logreport(report: Any) -> None:
    name = report.nodeid.split("[")[0]
    _took[name] = _took.get(name, 0.0) + report.duration
    if report.failed:
        _failed.add(name)


def pytest_sessionfinish(session: object) -> None:
    Path(os.environ["REACH"]).write_text(json.dumps({"took": _took, "failed": sorted(_failed)}))
