"""`python -m core` is `knowledge`."""

from core.cli.main import run

if __name__ == "__main__":
    run()
