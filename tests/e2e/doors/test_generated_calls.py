"""A short run of `tests.long.calls`: argument sets made from the tools' schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.long.calls import generated_calls

CALLS = 150
SEED = 2026

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.timeout(600)]


def test_every_generated_tool_call_gets_a_result_or_a_documented_error(tmp_path: Path) -> None:
    """Generated calls cause only documented errors and no traceback, and the session outlives each of them."""
    with generated_calls(tmp_path, SEED) as calls:
        calls.run(CALLS)
    assert calls.tools.total() >= CALLS
    assert set(calls.tools) == set(calls.schemas)
    assert {"invalid_argument", "session_not_found", "element_not_found"} <= set(calls.codes)
