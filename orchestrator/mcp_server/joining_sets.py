"""Sets of tools that join the list when the sessions call for them."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.api import Orchestrator
from orchestrator.mcp_server.tool_list import ToolEntry, listed_entries
from orchestrator.models.comma_lists import split_list
from orchestrator.models.results import Outcome
from orchestrator.models.session import Caller

_SEVERAL = 2
"""Sessions started by name from which there may be several agents."""
_WITHOUT_MOBILE = (
    "For apps: click_element taps; swipe, pinch, tap_element, switch_context, manage_app and manage_device are steps "
    "of execute_sequence, and tools by their names: describe_actions tells their parameters."
)


class JoiningSets:
    """The sets that have joined: `mobile` with the first app session, `agents` with the second one started by name.

    Only the set `default` grows: whoever chose other tools keeps that choice. All of these tools can be called without
    being listed.

    Attributes:
        names: The sets that joined.
    """

    def __init__(self, orchestrator: Orchestrator, entries: Sequence[ToolEntry]) -> None:
        self.names: frozenset[str] = frozenset()
        self._starts = orchestrator.starts
        self._grows = "default" in split_list(orchestrator.settings.tools)
        listed = listed_entries(orchestrator.settings, entries)
        # Not those that are listed from the beginning, or denied.
        self._unlisted = {
            name for name in ("mobile", "agents") if listed_entries(orchestrator.settings, entries, {name}) != listed
        }
        self._told_mobile: set[str] = set()

    def complete(self, outcome: Outcome, caller: Caller) -> Outcome:
        """Let the sets join that a call has made useful; a caller's first start of an app says what it can do without.

        Args:
            outcome: What the call answers.
            caller: Whose call it is.
        """
        due = {"mobile"} if self._starts.app_callers else set()
        due |= {"agents"} if self._starts.named >= _SEVERAL else set()
        if self._grows:
            self.names |= due & self._unlisted
        self._told_mobile &= self._starts.app_callers.keys()
        if "mobile" not in self._unlisted or caller.key not in self._starts.app_callers.keys() - self._told_mobile:
            return outcome
        self._told_mobile.add(caller.key)
        return outcome.model_copy(update={"next": " ".join(filter(None, (outcome.next, _WITHOUT_MOBILE)))})
