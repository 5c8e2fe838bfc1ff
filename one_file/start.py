"""Where the one file to download begins: the command line; with the word `panel` first, or under the name
`knowledge-panel`, the window. `-m` takes the parts that the program starts of itself, as Python would.

`make binary` builds it.
"""

from __future__ import annotations

import os
import sys

PANEL = "panel"


def main() -> int:
    """Run what the words ask for and return the exit status."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    words = sys.argv[1:]
    while words[:1] in (["-I"], ["-S"]):  # options of a Python, which this file brings along
        words = words[1:]
    part = words[1] if words[:1] == ["-m"] and len(words) > 1 else ""
    if part == "core.agents.hand_over":
        from core.agents.hand_over import main as hand_over

        return hand_over(words[2:])
    if part == "core.library.extract_process":
        from core.library.extract_process import main as read_files

        return read_files()
    if part == "gui" or words[:1] == [PANEL] or name == "knowledge-panel":
        from gui.app import run as open_panel

        return open_panel(words[2:] if part else words[1:] if words[:1] == [PANEL] else words)
    if part == "core":
        sys.argv[1:] = words[2:]
    from core.cli.main import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
