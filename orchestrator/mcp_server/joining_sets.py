"""Sets of tools that join the list when the sessions call for them."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.api import Orchestrator
from orchestrator.mcp_server.tool_list import ToolEntry, listed_entries
from orchestrator.models.results import Outcome

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
        self._grows = "default" in orchestrator.settings.tools.split(",")
        listed = listed_entries(orchestrator.settings, entries)
        self._tells_mobile = {"swipe", "manage_app"}.isdisjoint(entry.tool.name for entry in listed)

    def complete(self, outcome: Outcome) -> Outcome:
        """Let the sets join that a call has made useful; the first start of an app says what can be done without."""
        due = {"mobile"} if self._starts.apps else set()
        due |= {"agents"} if self._starts.named >= _SEVERAL else set()
        tells = "mobile" in due and self._tells_mobile
        if self._grows:
            self.names |= due
        if not tells:
            return outcome
        self._tells_mobile = False
        return outcome.model_copy(update={"next": " ".join(filter(None, (outcome.next, _WITHOUT_MOBILE)))})
