"""The web snapshot: the page engine and its caller."""
