"""The argument parser of commands without typer: wrong words are errors of ours."""

from __future__ import annotations

import argparse
from typing import NoReturn

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
