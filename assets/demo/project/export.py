"""Writes the shelf as one HTML page."""

import html


def export(rows):
    lines = ["<!doctype html>", "<title>Shelf</title>", "<ul>"]
    for url, title in rows:
        lines.append(f'<li><a href="{html.escape(url, quote=True)}">{html.escape(title)}</a></li>')
    return "\n".join([*lines, "</ul>"])
