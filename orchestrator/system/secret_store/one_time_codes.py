"""Codes of second factors (RFC 6238), from the seeds that operators keep as secrets."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.errors import InvalidArgument

if TYPE_CHECKING:
    import pyotp


class OneTimeCodes:
    """The codes of one seed.

    Args:
        name: The secret's name, for errors.
        seed: The seed in Base32, with or without spaces, or an `otpauth://totp/…` URI with its digits and period.

    Raises:
        InvalidArgument: The secret is no such seed.
    """

    def __init__(self, name: str, seed: str) -> None:
        try:
            self._codes = _parse(seed)
            self._codes.at(0)
        except ValueError:  # without its text, which may quote the seed
            raise InvalidArgument(
                f"The secret {name} is no seed of one-time codes.",
                hint="Whoever runs this server can give the seed in Base32 or as an otpauth://totp/ URI; codes by "
                "counter (hotp) are not made.",
            ) from None

    def is_ending(self, least: float) -> bool:
        """Return True if the present code is valid for less than `least` seconds, or half of its period."""
        period = self._codes.interval
        return period - time.time() % period < min(least, period / 2)

    def make_code(self) -> str:
        """Return the present code."""
        return self._codes.now()


def _parse(seed: str) -> pyotp.TOTP:
    import pyotp  # noqa: PLC0415 loaded with the first code

    if not seed.lower().startswith("otpauth:"):
        return pyotp.TOTP("".join(seed.split()).upper())
    codes = pyotp.parse_uri(seed)
    if not isinstance(codes, pyotp.TOTP):
        raise ValueError("no time-based codes")  # noqa: TRY004 the seed's value is wrong
    return codes
