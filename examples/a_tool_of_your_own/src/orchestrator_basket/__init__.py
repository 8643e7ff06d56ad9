"""Tools that add up the prices on a page, and store them with the session."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.action import Action, Outcome, Scene
from orchestrator.errors import ExpectationFailed

_PRICE = re.compile(r"(?<![\d.])\d+\.\d\d(?![\d.])")


class Total(Outcome):
    """A total, and its prices."""

    total: str
    prices: list[str]

    def lines(self) -> list[str]:
        """Return our own words: how many prices there are."""
        return [f"Added up {len(self.prices)} prices."]

    def page_lines(self) -> list[str]:
        """Return what the page wrote, which a model reads as data."""
        return [f"{self.total} = {' + '.join(self.prices)}"]


class AddUp(Action[Total]):
    """Add up the prices that an element of the page shows, such as those of a basket."""

    verb: ClassVar[str] = "add_up"
    title: ClassVar[str] = "Add up prices"
    result: ClassVar[type[Outcome]] = Total

    selector: str
    expect: str | None = Field(default=None, description="The total that they must have.")

    def perform(self, scene: Scene) -> Total:
        """Read the element as `get_text` does; store the total as a session var, the prices as a global of scripts."""
        text = scene.act("get_text", {"selector": self.selector}).data()["text"]
        prices = _PRICE.findall(text)
        total = str(sum(map(Decimal, prices), Decimal("0.00")))
        scene.world.set("prices", prices)
        scene.vars.set("total", total)
        if self.expect not in {None, total}:
            raise ExpectationFailed(
                f"The total of the prices is {total}.", hint="Check the basket.", expected=self.expect, actual=total
            )
        return Total(total=total, prices=prices)


class TakeOff(Action[Total]):
    """Take a discount off the prices that add_up stored and scripts may have changed."""

    verb: ClassVar[str] = "take_off"
    title: ClassVar[str] = "Take off a discount"
    result: ClassVar[type[Outcome]] = Total

    percent: int = Field(ge=0, le=100)

    def perform(self, scene: Scene) -> Total:
        """Reduce the prices in the scripts' global `prices`, and store the total."""
        prices = [Decimal(price) * (100 - self.percent) / 100 for price in scene.world.get("prices") or []]
        rounded = [str(price.quantize(Decimal("0.01"))) for price in prices]
        total = str(sum(map(Decimal, rounded), Decimal("0.00")))
        scene.vars.set("total", total)
        return Total(total=total, prices=rounded)


ACTIONS: list[type[Action[Any]]] = [AddUp, TakeOff]
