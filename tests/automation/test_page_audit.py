"""Audits without axe-core."""

from __future__ import annotations

import pytest

from orchestrator.automation import page_audit
from orchestrator.errors import Unsupported


def test_an_audit_without_axe_core_is_unsupported_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is an extra."""
    monkeypatch.setattr(page_audit, "AXE", "a_module_that_is_not_installed")
    with pytest.raises(Unsupported) as caught:
        page_audit.require_axe()
    assert caught.value.message == "audit_page needs axe-core, which is not installed."
    assert "pip install selenium-axe-python" in caught.value.hint
