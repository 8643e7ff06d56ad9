"""Lists that settings, options and headers write as one text with commas."""

from __future__ import annotations


def split_list(text: str) -> list[str]:
    """Return the parts of a text between its commas, without the spaces around them and without empty ones."""
    return [part for one in text.split(",") if (part := one.strip())]
