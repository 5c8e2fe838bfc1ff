"""The numbers of the command line are those of every face."""

from core.base.figures import age, count, dollars, size, tokens

__all__ = ["age", "count", "dollars", "size", "tokens"]
