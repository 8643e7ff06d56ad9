"""Words that let a person or an agent go on in the sessions of a test that failed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from orchestrator.models.session import SessionType
from orchestrator.pytest_plugin.handles import RecordedSession
from orchestrator.settings import Settings


def describe_hand_over(sessions: Sequence[RecordedSession], settings: Settings) -> str:
    """Return how each session is used from another process: as a command, on another machine, and by an agent."""
    minutes = f"{settings.park_ttl / 60:g} minutes"
    lines = [f"Kept as they are, until nobody has used them for {minutes} after the run:"]
    for session in sessions:
        lines += ["", f"{session.name} ({session.facts.type}):", *(f"  {line}" for line in _ways(session, settings))]
    return "\n".join(lines)


def _ways(session: RecordedSession, settings: Settings) -> list[str]:
    facts = session.facts
    home = f"ORCHESTRATOR_HOME={shlex.quote(str(settings.home))} "
    own = shlex.join(["orchestrator", "outline", "-s", session.id, "--namespace", settings.namespace])
    platform = [] if facts.type is SessionType.BROWSER else ["--platform", facts.type]
    attach = shlex.join(
        ["orchestrator", "attach", facts.remote_url, facts.remote_session_id, "-s", session.name, *platform]
    )
    call = {"remoteUrl": facts.remote_url, "remoteSessionId": facts.remote_session_id, "sessionId": session.name}
    call |= {"platform": facts.type} if platform else {}
    return [
        f"here:     {home}{own}",
        f"anywhere: {attach}",
        f"agent:    attach_session {json.dumps(call)}",
    ]
