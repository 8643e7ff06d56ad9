"""Names for authors of actions in packages of their own."""

from __future__ import annotations

from orchestrator.actions.base import ALL_TYPES, Action, HasTimeout, PageAction, SelectorAliases, WaitingPageAction
from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.scene import Scene
from orchestrator.models.base import Wire
from orchestrator.models.results import Acted, Observe, Outcome
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.settings import ToolSet

__all__ = [
    "ALL_TYPES", "Acted", "Action", "FoundElement", "HasTimeout", "Observe", "Outcome", "PageAction", "Scene",
    "SelectorAliases", "SessionRecord", "SessionType", "ToolSet", "WaitingPageAction", "Wire",
]  # fmt: skip
"""All names that an action needs besides `orchestrator.errors`."""
