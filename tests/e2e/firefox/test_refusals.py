"""What Firefox is refused in its pages, since it or its driver has no command for it."""

from __future__ import annotations

import pytest

from tests.e2e.providers.test_browsers import OF_A_PAGE, assert_refused
from tests.e2e.stage import Stage

pytestmark = pytest.mark.full


@pytest.mark.parametrize("ability", ["passkeys", "color_scheme", "file_pickers"])
def test_a_tool_that_firefox_lacks_is_refused_with_its_reason(fox: Stage, ability: str) -> None:
    """The table of abilities has the reason, and the refusal says it; the session goes on."""
    assert_refused(fox.server.call(**OF_A_PAGE[ability], sessionId="fox"), "firefox", ability)
    assert fox.js("1 + 1", sessionId="fox") == 2
