"""`python -m core` is `knowledge`."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["hint"]:  # before anything of the command line is loaded
        from core.give.hint import main

        sys.exit(main(sys.argv[2:]))
    from core.cli.main import run

    run()
