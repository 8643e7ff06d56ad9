"""What a shop's last screen says was bought, read from its text, and in what the platforms differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Self

_ITEM = re.compile(r"(\d+ \u00d7 \S+)\s+(€[\d.]+)")
_AMOUNT = r"\s+(€[\d.]+|Free)"


@dataclass(frozen=True)
class Receipt:
    """Confirmation, items with what they cost, and the sums, as they stand on the screen; empty where they do not."""

    confirmation: str
    items: str
    delivery: str
    total: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the text of the last screen."""
        thanks = re.search(r"Thank you, [^\n]+!", text)
        items = ", ".join(f"{what} {price}" for what, price in _ITEM.findall(text))
        return cls(thanks[0] if thanks else "", items, _amount("(?:Express d|D)elivery", text), _amount("Total", text))

    @property
    def complete(self) -> bool:
        """Whether nothing is missing on it."""
        return all(astuple(self))


def differences(receipts: Mapping[str, Receipt]) -> dict[str, list[str]]:
    """By platform, each in a sentence: where it says something else than most of them."""
    found: dict[str, list[str]] = {}
    for field in fields(Receipt):
        values = {name: getattr(receipt, field.name) for name, receipt in receipts.items()}
        usual, _ = Counter(values.values()).most_common(1)[0]
        for name, value in values.items():
            if value != usual:
                found.setdefault(name, []).append(f"{field.name} is {value!r}, elsewhere {usual!r}")
    return found


def _amount(label: str, text: str) -> str:
    found = re.search(label + _AMOUNT, text)
    return found[1] if found else ""
