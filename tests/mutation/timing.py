"""A pytest plug-in: writes how long each test took (all its parameters together) to the file that REACH names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_took: dict[str, float] = {}


def pytest_runtest_logreport(report: Any) -> None:
    name = report.nodeid.split("[")[0]
    _took[name] = _took.get(name, 0.0) + report.duration


def pytest_sessionfinish(session: object) -> None:
    Path(os.environ["REACH"]).write_text(json.dumps(_took))
