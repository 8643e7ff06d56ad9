"""Rules for Chromium's resolver: the caller's, and those that refuse link-local addresses."""

from __future__ import annotations

from typing import Any

from orchestrator.provider import Origins

_SWITCH = "host-resolver-rules"


def add_to(options: dict[str, Any], wanted: list[str], origins: Origins) -> None:
    """Write one switch with all rules into a browser's options: of several, Chromium would take the last one alone.

    The caller's rules, in the option `hostRules` or as switches, come first: the first one that matches counts.

    Raises:
        Denied: One of them leads where pages may not go.
    """
    arguments = [*map(str, options.get("args", ()))]
    given = [rule.strip() for one in arguments if _name(one) == _SWITCH for rule in one.partition("=")[2].split(",")]
    # A switch replaces the option, as switches replace ours.
    rules = [rule for rule in given or wanted if rule]
    origins.check_resolver_rules(rules)
    rules += origins.resolver_rules
    options["args"] = [one for one in arguments if _name(one) != _SWITCH]
    if rules:
        options["args"].append(f"--{_SWITCH}={','.join(rules)}")


def _name(argument: str) -> str:
    return argument.partition("=")[0].lstrip("-")
