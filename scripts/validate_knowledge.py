"""Checks fact files and `index.json` against the format: `python scripts/validate_knowledge.py [FILE or FOLDER]`.

It is `knowledge facts validate`, under the name by which the format's own page calls it. Exit status 1 where something
is wrong, with file, line and what is allowed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["facts", "validate", *sys.argv[1:]]))
