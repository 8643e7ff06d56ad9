"""Asks the person at the client before tools run that the setting `confirm` holds back."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, NamedTuple

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from orchestrator.errors import Denied, brief

SETTING = "confirm"
_KEY = "confirm"
"""The name of the one question in an `InputRequiredResult`."""
_FOR_SESSION = "wholeSession"
"""The one field of the form: whether the consent is for the whole session."""
_PENDING = 100
"""Questions without an answer that are remembered; the oldest is forgotten first."""

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True)
class SessionScope:
    """A session for whose whole life a person may allow tools."""

    session_id: str
    created_at: float
    tools: frozenset[str]


@dataclass(frozen=True)
class Question:
    """A question to a person before a call.

    Attributes:
        text: The question.
        scope: The session for which the answer may count as a whole; None if it counts for one call alone.
        is_allowed: True if a person has allowed it for the whole session.
    """

    text: str
    scope: SessionScope | None = None
    is_allowed: bool = False

    @property
    def form(self) -> dict[str, Any]:
        """JSON schema of the answer: at most one field, which is not required."""
        if self.scope is None:
            return {"type": "object", "properties": {}}
        tools = ", ".join(sorted(self.scope.tools))
        field = {
            "type": "boolean",
            "title": "For the whole session",
            "description": f"Do not ask again for {tools} in session {self.scope.session_id!r}, until it is closed.",
            "default": False,
        }
        return {"type": "object", "properties": {_FOR_SESSION: field}}


class Agreement(NamedTuple):
    """A person's consent; `scope` is the session for whose whole life it counts, None for the one call."""

    scope: SessionScope | None


class Confirmation:
    """Asks the person at the client, in either protocol.

    Each answer counts for one call, unless the person allows the tools for the whole session.
    """

    def __init__(self) -> None:
        self._pending: dict[str, Question] = {}

    async def ask(
        self, context: Context, params: CallToolRequestParams, question: Question
    ) -> InputRequiredResult | Agreement:
        """Ask a question before a call; returns the consent, or what the client has to ask first.

        Raises:
            Denied: The person declined, the client cannot ask, or the answer was used before.
        """
        if not _can_ask(context):
            raise _denied(params.name, "the client has no way to ask for it (elicitation)")
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return _read_agreement(params.name, question, await _elicit(context, params.name, question))
        if params.request_state is None:
            return self._require_answer(question)
        # The session of the question, not the one that is current now.
        asked = self._pending.pop(params.request_state, None)
        if asked is None:
            raise _denied(params.name, "this answer was used before, or came too late")
        answer = (params.input_responses or {}).get(_KEY)
        return _read_agreement(params.name, asked, answer if isinstance(answer, ElicitResult) else None)

    def _require_answer(self, question: Question) -> InputRequiredResult:
        """Return the question; the SDK seals its state with a hash of the call's name and arguments."""
        state = secrets.token_hex(16)
        self._pending[state] = question
        while len(self._pending) > _PENDING:
            del self._pending[next(iter(self._pending))]
        asked = ElicitRequest(params=ElicitRequestFormParams(message=question.text, requested_schema=question.form))
        return InputRequiredResult(input_requests={_KEY: asked}, request_state=state)


def _can_ask(context: Context) -> bool:
    """Return True if the client shows forms; one that names no kind of elicitation does."""
    client = context.session.client_params
    elicitation = client.capabilities.elicitation if client else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def _elicit(context: Context, name: str, question: Question) -> ElicitResult:
    try:
        return await context.session.elicit_form(question.text, question.form, context.request_id)
    except MCPError as error:
        raise _denied(name, f"the client could not ask for it ({brief(error.message, 100)})") from None


def _read_agreement(name: str, question: Question, answer: ElicitResult | None) -> Agreement:
    if answer is None or answer.action != "accept":
        raise _denied(name, "the person at the client did not agree")
    is_for_session = (answer.content or {}).get(_FOR_SESSION) is True
    return Agreement(question.scope if is_for_session else None)


def _denied(name: str, reason: str) -> Denied:
    return Denied(f"{name} needs a person's consent, and {reason}. Nothing was run.", setting=SETTING)
