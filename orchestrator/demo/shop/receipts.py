"""Read receipts from the shop's last screens, and compare them between platforms."""

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
    """Confirmation, items with prices, and sums as the screen shows them; empty where it does not."""

    confirmation: str
    items: str
    delivery: str
    total: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse the text of the last screen."""
        thanks = re.search(r"Thank you, [^\n]+!", text)
        items = ", ".join(f"{item} {price}" for item, price in _ITEM.findall(text))
        return cls(thanks[0] if thanks else "", items, _amount("(?:Express d|D)elivery", text), _amount("Total", text))

    @property
    def complete(self) -> bool:
        """True if no part is missing."""
        return all(astuple(self))


def differences(receipts: Mapping[str, Receipt]) -> dict[str, list[str]]:
    """Fields that differ from most platforms, by platform, as clauses of a sentence."""
    clauses: dict[str, list[str]] = {}
    for field in fields(Receipt):
        values = {name: getattr(receipt, field.name) for name, receipt in receipts.items()}
        usual, _ = Counter(values.values()).most_common(1)[0]
        for name, value in values.items():
            if value != usual:
                clauses.setdefault(name, []).append(f"{field.name} is {value!r}, elsewhere {usual!r}")
    return clauses


def _amount(label: str, text: str) -> str:
    match = re.search(label + _AMOUNT, text)
    return match[1] if match else ""
