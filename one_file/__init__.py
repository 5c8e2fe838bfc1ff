"""The one file to download: how it is built, and where it begins."""
