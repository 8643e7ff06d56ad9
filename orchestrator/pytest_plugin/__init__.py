"""The pytest plug-in: sessions as fixtures, tests with several users.

Every run of pytest in the environment imports it: nothing of the orchestrator is imported before a fixture needs it.
"""

from __future__ import annotations

from orchestrator.pytest_plugin.eventually import eventually as eventually
from orchestrator.pytest_plugin.fixtures import *  # noqa: F403 — pytest finds them by their names
from orchestrator.pytest_plugin.hooks import *  # noqa: F403 — pytest finds them by their names
