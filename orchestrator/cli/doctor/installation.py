"""The command that starts this installation from any folder, and its environment."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from orchestrator.cli.doctor import browsers
from orchestrator.cli.doctor.environment import CREDENTIALS
from orchestrator.settings import PREFIX, Settings
from orchestrator.system.machine import LocalMachine
from orchestrator.system.secrets import without_credentials, without_users

_DISTRIBUTION = "webdriver-orchestrator"
"""The name of the package, and of the command that `uvx` runs from it."""
_BASIC = {
    "linux": ("/usr/local/bin", "/usr/bin", "/bin"),
    "darwin": ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"),
}
_HELPERS = ("node", "appium", "java", "adb")
_WINDOWED = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
"""Variables that a browser with a window needs on Linux; no client passes them on."""
_OF_UV = re.compile(r"(archive|environments|builds)-v\d+")
"""Folders in uv's cache that hold the environments of `uvx`: any of them may be gone tomorrow."""

_NETWORK = ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_UV = ("CACHE_DIR", "DEFAULT_INDEX", "INDEX", "INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "OFFLINE", "SYSTEM_CERTS")
_UVX_VARIABLES = (*_NETWORK, *map(str.lower, _NETWORK), *(f"UV_{name}" for name in _UV))
"""Variables with which `uvx` finds packages, also when it asks the package index again at a later start."""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """The command that starts this installation, with its environment: clients pass on next to nothing."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]

    @classmethod
    def of_this_installation(cls, machine: LocalMachine, settings: Settings) -> ServerCommand:
        """Return the command of this installation, with what it needs of the current environment."""
        env = {**_path(machine, settings), **_python_path(machine.environ), **_settings(machine, settings)}
        words = _installed(machine.system)
        if _is_of_uvx():
            words, env = _uvx(machine.environ), {**env, **_without_credentials(machine.environ, _UVX_VARIABLES)}
        return cls(words[0], words[1:], env)

    def data(self) -> dict[str, Any]:
        """Return it in the form that most clients take."""
        return {"command": self.command, "args": list(self.args), "env": dict(self.env)}

    def from_outside(self, engine: str) -> str:
        """Return the shell command that runs it in this container from outside; `engine` is docker or podman."""
        env = [word for name, value in self.env.items() for word in ("-e", f"{name}={value}")]
        return shlex.join([engine, "exec", "-i", *env, socket.gethostname(), self.command, *self.args])


def container_engine(root: Path = Path("/")) -> str:
    """Return the engine whose container this is, docker or podman; empty elsewhere."""
    if (root / "run/.containerenv").exists():
        return "podman"
    return "docker" if (root / ".dockerenv").exists() else ""


def omitted_secrets(environ: Mapping[str, str]) -> list[str]:
    """Return the secret variables that are set: no snippet contains them."""
    of_clouds = [name for sets in CREDENTIALS.values() for names in sets for name in names if environ.get(name)]
    variables = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    variables += _UVX_VARIABLES if _is_of_uvx() else ()
    return [*of_clouds, *(name for name in variables if _has_credentials(environ.get(name, "")))]


def _is_of_uvx() -> bool:
    return _OF_UV.search(sys.prefix) is not None


def _without_credentials(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the variables of these names that are set and hold no user or password."""
    return {name: environ[name] for name in names if environ.get(name) and not _has_credentials(environ[name])}


def _installed(system: str) -> tuple[str, ...]:
    """Return the command of a virtual environment, or of any other place that stays."""
    program = Path(sys.executable).parent / ("orchestrator.exe" if system == "win32" else "orchestrator")
    return (str(program), "serve") if program.is_file() else (sys.executable, "-m", "orchestrator", "serve")


def _uvx(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command that makes the environment of `uvx` anew, from the same source and with the same Python."""
    uv = Path(environ.get("UV") or "uv")
    uvx = uv.with_name(f"uvx{uv.suffix}")
    run = (str(uvx),) if uvx.is_file() else (str(uv), "tool", "run")
    source = _source()
    python = str(getattr(sys, "_base_executable", sys.executable))
    return (*run, "--python", python, *(("--from", source) if source else ()), _DISTRIBUTION, "serve")


def _source() -> str:
    """Return the file, folder or repository that the package was installed from; empty if it is the package index."""
    try:
        text = distribution(_DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    origin = json.loads(text or "{}")
    url = without_credentials(origin.get("url", ""))
    if "vcs_info" in origin:
        revision = origin["vcs_info"].get("requested_revision")
        return f"{origin['vcs_info']['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return url


def _path(machine: LocalMachine, settings: Settings) -> dict[str, str]:
    """Return PATH: the folders of the programs that were found, then those that every system has."""
    if machine.system == "win32":  # programs there need more folders than those of the helpers
        return {"PATH": machine.environ.get("PATH", "")}
    helpers = [path for path in map(machine.program, _HELPERS) if path]
    found = [str(path.parent) for path in (*browsers.programs(machine, settings), *helpers)]
    folders = dict.fromkeys([*found, *_BASIC.get(machine.system, _BASIC["linux"])])
    return {"PATH": os.pathsep.join(folders)}


def _python_path(environ: Mapping[str, str]) -> dict[str, str]:
    """Return PYTHONPATH if this package was found through it: the command would start another one otherwise."""
    folders = [Path(folder).absolute() for folder in environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    if Path(__file__).parents[3] not in folders:
        return {}
    return {"PYTHONPATH": os.pathsep.join(map(str, folders))}


def _settings(machine: LocalMachine, settings: Settings) -> dict[str, str]:
    """Return the settings of the environment that differ from the defaults, without those that hold credentials."""
    found = {}
    for name, field in Settings.model_fields.items():
        variable = f"{PREFIX}{name.upper()}"
        given = machine.environ.get(variable)
        default = field.get_default(call_default_factory=True, validated_data={"home": settings.home})
        if given and getattr(settings, name) != default and not _has_credentials(given):
            # The client starts the server in another folder than this one.
            found[variable] = str(getattr(settings, name)) if isinstance(default, Path) else given
    if machine.system == "linux" and machine.environ.get("XDG_DATA_HOME"):  # the default of home is below it
        found["XDG_DATA_HOME"] = machine.environ["XDG_DATA_HOME"]
    if machine.system == "linux" and not settings.headless:
        found |= {name: machine.environ[name] for name in _WINDOWED if machine.environ.get(name)}
    return found


def _has_credentials(value: str) -> bool:
    """Return True if a URL in it contains a user or a password."""
    return without_users(without_credentials(value)) != value
