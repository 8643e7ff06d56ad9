"""The whole examination: runs every section of the doctor at the same time."""

from __future__ import annotations

import functools

from orchestrator.actions.plugins import InstalledActions
from orchestrator.cli.doctor import browsers, environment
from orchestrator.cli.doctor.report import Finding, Report, Section, side_by_side
from orchestrator.errors import ProviderFailure
from orchestrator.sessions.providers import Providers, UnknownProvider
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine


def examine(machine: LocalMachine | None = None, settings: Settings | None = None) -> Report:
    """Run every check; of credentials only the names of variables are read."""
    machine = machine or LocalMachine.this()
    settings = settings or Settings.load()
    offered, broken = _offered(Providers())
    place, found, apps, grid, credentials = side_by_side(
        [
            functools.partial(environment.installation_section, settings.home),
            functools.partial(browsers.browsers_section, machine, settings, offered),
            functools.partial(environment.apps_section, machine, settings),
            functools.partial(environment.grid_section, machine, settings),
            functools.partial(environment.credentials_section, machine.environ),
        ]
    )
    unusable = [section for section in (broken, _plug_ins(InstalledActions())) if section.findings]
    sections: list[Section] = [place, found, apps, grid, credentials, *unusable]
    folder_usable = any(finding.starts for finding in place.findings)
    return Report(tuple(sections), folder_usable and any(finding.starts for finding in found.findings))


def _plug_ins(actions: InstalledActions) -> Section:
    """List the packages whose actions cannot be used."""
    broken = [
        Finding(plug_in.name, "wrong", plug_in.reason, f"reinstall or remove {plug_in.distribution}")
        for plug_in in actions.plug_ins
        if plug_in.reason
    ]
    return Section("Actions", tuple(broken))


def _offered(providers: Providers) -> tuple[frozenset[str], Section]:
    """Return the browsers that the local provider starts, and the section of unusable providers."""
    broken = [
        Finding(provider.name, "wrong", provider.reason, f"reinstall or remove {provider.distribution}")
        for provider in providers.list_installed()
        if provider.reason
    ]
    try:
        offered = providers["local"].browsers
    except (ProviderFailure, UnknownProvider):
        offered = frozenset()
    return offered, Section("Providers", tuple(broken))
