"""`python -m gui` is `knowledge-panel`."""

import sys

from gui.app import run

sys.exit(run())
