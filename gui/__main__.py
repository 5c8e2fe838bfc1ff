"""`python -m gui` is `knowledge-panel`."""

from gui.app import main

main()
