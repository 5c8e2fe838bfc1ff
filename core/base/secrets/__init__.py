"""Finds passwords, keys and tokens in text: the shapes of vendors, names that give one away, what hides them."""
