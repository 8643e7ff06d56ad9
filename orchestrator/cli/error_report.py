"""Reports the error that ends a command: a sentence if people can mend it, else a traceback."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator, Mapping

from orchestrator.errors import OrchestratorError

EXIT_CODES: Mapping[str, int] = {
    **dict.fromkeys(("invalid_argument", "unsupported"), 2),
    **dict.fromkeys(("no_session", "session_not_found", "session_lost"), 3),
    **dict.fromkeys(
        ("start_failed", "session_exists", "session_limit", "device_busy", "provider_error", "provider_auth"), 4
    ),
    **dict.fromkeys(("denied", "session_claimed"), 5),
}
"""Exit codes of commands by the code of the error; that of all other errors is 1."""


def report_error(error: Exception) -> int:
    """Print the error to standard error, and return the exit code."""
    found = find_error(error)
    if found is None:
        traceback.print_exception(error)
        return 1
    if not isinstance(found, OrchestratorError):
        sys.stderr.write(f"{found}\n")
        return 1
    sys.stderr.write(f"{describe_error(found)}\n")
    return EXIT_CODES.get(found.code, 1)


def find_error(error: Exception) -> OrchestratorError | OSError | None:
    """Return the error that people can mend, alone or in a group; None if there is none."""
    return next((one for one in _leaves(error) if isinstance(one, OrchestratorError | OSError)), None)


def describe_error(error: OrchestratorError) -> str:
    """Return an error as text: the message, what to do next by commands, and a line for each further fact."""
    from orchestrator.mcp_server.error_text import error_quotes, list_facts

    hint = _in_shell_words(error.hint)
    quoted = [line for quote in error_quotes(error) for line in quote.lines]
    return "\n".join([f"{error.message} {hint}".strip(), *list_facts(error), *quoted])


def _in_shell_words(hint: str) -> str:
    """Return a hint with commands for the names of tools, and `-s NAME` for the parameter of the session.

    A name of one word, such as `scroll`, may be a word of the sentence: it is a command as it stands.
    """
    from orchestrator.cli.tool_commands import SESSION_ID, list_entries, word_for

    spelled = {
        SESSION_ID: "-s NAME",
        **{name: f"orchestrator {word_for(name)}" for name in list_entries() if "_" in name},
    }
    return re.sub(r"\b\w+\b", lambda word: spelled.get(word[0], word[0]), hint)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error
