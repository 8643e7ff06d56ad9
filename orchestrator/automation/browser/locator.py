"""Locators: how the page engine finds elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Locator:
    """A way to find elements.

    Attributes:
        by: A strategy of the page engine.
        value: What it looks for; with `role` the role, with `css_with_text` the CSS.
        name: With `role` the name, with `attribute` the attribute, with `css_with_text` the text.
        exact: True if only a text that reads just so will do.
        flags: The flags of a regular expression, if the text is one.
    """

    by: str
    value: str
    name: str | None = None
    exact: bool = False
    flags: str | None = None

    def data(self) -> dict[str, Any]:
        """The locator as the page engine reads it."""
        data: dict[str, Any] = {"by": self.by, "value": self.value}
        if self.name is not None:
            data["name"] = self.name
        if self.exact:
            data["exact"] = True
        if self.flags is not None:
            data["flags"] = self.flags
        return data

    def written(self) -> str:
        """The locator in the grammar of selectors."""
        if self.by == "role":
            return f"role={self.value}" if self.name is None else f"role={self.value}[name={_in_quotes(self.name)}]"
        if self.by == "css_with_text":
            return f"{self.value}:has-text({_in_quotes(self.name or '')})"
        if self.by == "attribute":
            return f"[{self.name}={_in_quotes(self.value)}]"
        if self.by == "text" and self.exact:
            return f"text={_in_quotes(self.value)}"
        plain = {"ref": "", "xpath": "", "css": "", "accessibility_id": "~"}
        return plain.get(self.by, f"{self.by}=") + self.value


def _in_quotes(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
