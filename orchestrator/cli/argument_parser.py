"""Parses the words of commands without typer, and options that are objects."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any, NoReturn

from orchestrator.errors import InvalidArgument


class ArgumentParser(argparse.ArgumentParser):
    """Raises an error of ours for wrong words, and takes no abbreviated options."""

    def __init__(self, *, prog: str, usage: str | None = None, description: str) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description.replace("%", "%%"),
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
        )

    def error(self, message: str) -> NoReturn:
        raise InvalidArgument(f"{self.prog}: {message}.", hint=f"{self.prog} --help lists the options.")


def parse_object(prog: str, option: str, words: Iterable[str]) -> dict[str, Any]:
    """Merge the values of an option, objects in JSON and pairs `name=value`, into one object.

    Raises:
        InvalidArgument: One of them is neither.
    """
    merged: dict[str, Any] = {}
    for word in words:
        given = parse_json(word) if word.startswith("{") else word
        key, assigned, value = word.partition("=")
        if isinstance(given, dict):
            merged |= given
        elif assigned:
            merged[key] = parse_json(value)
        else:
            raise InvalidArgument(
                f"{prog}: {option} {word!r} is no object.", hint=f"Write JSON, or {option} name=value."
            )
    return merged


def parse_json(word: str) -> Any:
    """Return the JSON value of a word; the word itself if it is none."""
    try:
        return json.loads(word)
    except ValueError:
        return word
