"""Layer 0: results, files, lines of text, settings and places. Imports no other room."""
