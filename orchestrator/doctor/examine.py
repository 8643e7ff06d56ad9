"""The whole examination: every section, side by side."""

from __future__ import annotations

import functools

from orchestrator.doctor import browsers, surroundings
from orchestrator.doctor.report import Finding, Report, Section, side_by_side
from orchestrator.errors import ProviderFailure
from orchestrator.machine import Machine
from orchestrator.plug_ins import Actions
from orchestrator.registry import Providers, UnknownProvider
from orchestrator.settings import Settings


def examine(machine: Machine | None = None, settings: Settings | None = None) -> Report:
    """Look at everything; the environment's names count, values of credentials are never looked at."""
    machine = machine or Machine.this()
    settings = settings or Settings.load()
    offered, broken = _offered(Providers())
    place, found, apps, grid, credentials = side_by_side(
        [
            functools.partial(surroundings.place, settings.home),
            functools.partial(browsers.section, machine, settings, offered),
            functools.partial(surroundings.apps, machine, settings),
            functools.partial(surroundings.grid, machine, settings),
            functools.partial(surroundings.credentials, machine.environ),
        ]
    )
    unusable = [section for section in (broken, _plug_ins(Actions())) if section.findings]
    sections: list[Section] = [place, found, apps, grid, credentials, *unusable]
    folder_holds = any(one.starts for one in place.findings)
    return Report(tuple(sections), folder_holds and any(one.starts for one in found.findings))


def _plug_ins(actions: Actions) -> Section:
    """The packages whose actions cannot be used."""
    broken = [one for one in actions.plug_ins if one.reason]
    mend = "reinstall or remove {}"
    return Section(
        "Actions", tuple(Finding(one.name, "wrong", one.reason, mend.format(one.distribution)) for one in broken)
    )


def _offered(providers: Providers) -> tuple[frozenset[str], Section]:
    """What browsers the local provider starts, and the providers that cannot be used."""
    known = [one for one in providers.known() if one.reason]
    broken = [Finding(one.name, "wrong", one.reason or "", f"reinstall or remove {one.distribution}") for one in known]
    try:
        offered = providers["local"].browsers
    except (ProviderFailure, UnknownProvider):
        offered = frozenset()
    return offered, Section("Providers", tuple(broken))
