"""The files and pages that callers may name, by the settings `file_roots` and `file_urls`."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pydantic import BaseModel

from orchestrator.errors import Denied, InvalidArgument, brief, quoted
from orchestrator.models.paths import PathUse, convert_paths, declared_uses
from orchestrator.settings import Settings
from orchestrator.system import folders, output
from orchestrator.system.host.client_files import ClientFiles, is_reference
from orchestrator.system.origins import Origins
from orchestrator.system.secrets import reference

ModelT = TypeVar("ModelT", bound=BaseModel)

OWN_FOLDERS = ("downloads", "screenshots", "prints", "hars", "states")
"""Folders below `home` with files that callers are told of."""
_APPS = (".apk", ".aab", ".ipa", ".app", ".zip")
_KEY_SUFFIXES = (".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".gpg")
_KEY_NAMES = re.compile(r"id_(rsa|dsa|ecdsa|ed25519)(_sk)?|credentials|secrets\.toml|shadow", re.IGNORECASE)
_BEGINNINGS = {".json": b'{\n  "cookies": [', ".har": b'"name": "webdriver-orchestrator"'}
"""First bytes of files that any process of this project wrote, where nobody else writes the like."""
_LOOKED_AT = 400
_INTERNAL = frozenset(
    {
        *("about", "brave", "browser", "chrome", "chrome-error", "chrome-extension", "chrome-search"),
        *("chrome-untrusted", "content", "devtools", "edge", "extension", "filesystem", "isolated-app", "jar"),
        *("moz-extension", "opera", "resource", "safari-web-extension", "vivaldi"),
    }
)
"""Schemes of pages of the browser itself, and of files by another name."""
_EMPTY_PAGES = frozenset({"about:blank", "about:srcdoc"})
_WRAPPERS = ("view-source:", "blob:", "feed:")
_IGNORED = str.maketrans("", "", "\t\r\n")
"""Characters that browsers drop anywhere in a URL."""
_READ = frozenset({PathUse.READ, PathUse.APP})
_SHOWN = 300


class FileAccess:
    """Checks the paths and URLs that callers name; until it is limited, all are allowed.

    Callers over MCP are models, which pages try to command: theirs are limited. A script or a person at the command
    line could open every file without us.

    Attributes:
        origins: Where pages and connections may lead.
        client_files: The files that the caller sent, which it names by `file:ID`.
    """

    client_files: ClientFiles

    def __init__(self) -> None:
        self.origins = Origins()
        self._settings: Settings | None = None
        self._roots: tuple[Path, ...] = ()

    @property
    def is_limited(self) -> bool:
        """True once only what the settings allow is allowed."""
        return self._settings is not None

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders and files that paths must lie in, with links resolved."""
        return self._roots

    def limit(self, settings: Settings, projects: Iterable[Path] = ()) -> None:
        """Allow only what the settings allow; `projects` are the folders that the client works in, if it names any."""
        self._settings = settings
        self.origins = Origins(settings)
        self._roots = tuple(dict.fromkeys(map(_real, _list_roots(settings, projects, os.environ))))

    def check(self, model: ModelT) -> ModelT:
        """Return a model whose declared paths and URLs are allowed, with links resolved.

        Raises:
            Denied: One is not allowed; the error names it and the setting.
        """
        return convert_paths(model, self._convert) if self.is_limited and _takes_paths(type(model)) else model

    def check_hosts(self, model: BaseModel) -> None:
        """Refuse remote ends whose names stand for addresses that are not allowed; looks the names up, and may block.

        Raises:
            Denied: One leads there; the error names it and the setting.
        """

        def check(_: str, use: PathUse, given: str) -> str:
            if use is PathUse.REMOTE and not reference(given):
                self.origins.check_resolved(given)
            return given

        if self.is_limited:
            convert_paths(model, check)

    def allows_page(self, url: str) -> bool:
        """Return True if a page may lead to this URL, or load it."""
        try:
            self.check_url("url", url)
        except (Denied, InvalidArgument):
            return False
        return True

    def _convert(self, name: str, use: PathUse, given: str) -> str:
        if use is PathUse.PAGE:
            return self.check_url(name, given)
        if use is PathUse.REMOTE:
            if not reference(given):  # whoever runs the server chose what a secret holds
                self.origins.check_address(given)
            return given
        if use in _READ and is_reference(given):
            return str(self.client_files.find(given).path)
        if use is PathUse.APP:
            return self._check_app(name, given)
        path = self._check_path(name, given)
        if use in {PathUse.WRITE, PathUse.OVERWRITE}:
            _check_free(name, given, path, overwrite=use is PathUse.OVERWRITE)
        return str(path)

    def _check_path(self, name: str, given: str) -> Path:
        """Return the path with links resolved.

        Raises:
            Denied: It lies outside the roots, or is hidden.
            InvalidArgument: It is no path.
        """
        try:
            path = _real(Path(given).expanduser())
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidArgument(
                f"Argument {name!r}: {_shown(given)} cannot be a file: {error}.", hint="Give another path."
            ) from None
        if not self._is_allowed(path):
            raise self._denied(f"Argument {name!r}: {_shown(given)}")
        return path

    def _check_app(self, name: str, given: str) -> str:
        """Return an app's path with links resolved; a name or URL, which the remote end understands, as it is."""
        if urlsplit(given.strip()).scheme.lower() == "file":
            return str(self._check_path(name, str(path_of_url(given.strip()))))
        with suppress(OSError, RuntimeError, ValueError):
            path = Path(given).expanduser()
            if "://" in given or not (path.is_absolute() or path.exists()):
                return given
            real = _real(path)
            if real.suffix.lower() in _APPS and not _is_hidden(real.parts) and not self._is_in_home(real):
                return str(real)
        return str(self._check_path(name, given))

    def check_url(self, name: str, given: str) -> str:
        """Return the URL of a page; that of a file with links resolved.

        Raises:
            Denied: It is a page of the browser itself, or a file or an origin that is not allowed.
            InvalidArgument: It is not a URL.
        """
        self.origins.check_page(given)
        if self._settings is None or self._settings.file_urls == "all":
            return given
        url = given.translate(_IGNORED).strip("".join(map(chr, range(33))))
        inner = url
        while inner.lower().startswith(_WRAPPERS):
            inner = inner.partition(":")[2].lstrip()
        scheme = inner.partition(":")[0].lower()
        if scheme in _INTERNAL and inner.lower().partition("#")[0] not in _EMPTY_PAGES:
            raise _denied_url(name, given, f"{scheme}: pages are the browser's own")
        if scheme != "file":
            return given
        if inner is not url:
            raise _denied_url(name, given, "files are opened by file: alone")
        if self._settings.file_urls == "none":
            raise _denied_url(name, given, "file: pages are switched off")
        try:
            path = _real(path_of_url(url))
        except (OSError, RuntimeError, ValueError):
            raise _denied_url(name, given, "it names no file of this machine") from None
        if not self._is_allowed(path):
            raise self._denied(f"Argument {name!r}: {_shown(given)}")
        rest = url[len(url.partition("?")[0].partition("#")[0]) :]
        return path.as_uri() + rest

    def _is_allowed(self, path: Path) -> bool:
        roots = [root for root in self._roots if path == root or root in path.parents]
        if self._is_in_home(path):
            roots = [root for root in roots if self._is_in_home(root)]
        if self._settings is not None and path == _real(self._settings.secrets_file):
            roots = [root for root in roots if root == path]
        return any(not _is_hidden(path.relative_to(root).parts) for root in roots)

    def _is_in_home(self, path: Path) -> bool:
        if self._settings is None:
            return False
        home = _real(self._settings.home)
        return path == home or home in path.parents

    def _denied(self, what: str) -> Denied:
        settings = self._settings
        own = () if settings is None else (_real(settings.home),)
        places = [str(root) for root in self._roots if not any(home in root.parents for home in own)]
        return Denied(
            f"{what} is not among the files that tools may use.",
            setting="file_roots",
            value=os.pathsep.join(["default", "FOLDER"]),
            instead=f"Tools use files in {' and '.join([*places, 'its own folders of downloads and pictures'])}, "
            "except hidden ones and keys.",
        )


@functools.cache
def _takes_paths(model: type[BaseModel]) -> bool:
    return next(declared_uses(model), None) is not None


def _list_roots(settings: Settings, projects: Iterable[Path], environ: Mapping[str, str]) -> Iterable[Path]:
    """Yield the roots that the setting names; `default` stands for the default ones."""
    for name in settings.file_roots.split(os.pathsep):
        if name.strip() == "default":
            yield from _list_projects(projects, environ)
            yield Path(tempfile.gettempdir())
            yield from (settings.home / folder for folder in OWN_FOLDERS)
        elif name.strip():
            yield Path(name.strip()).expanduser()


def _list_projects(projects: Iterable[Path], environ: Mapping[str, str]) -> list[Path]:
    """Return the project folders, without those that hold everything: the root of a disk, the user's home."""
    given = [Path(environ["CLAUDE_PROJECT_DIR"])] if environ.get("CLAUDE_PROJECT_DIR") else [*projects]
    if not given:
        with suppress(OSError):
            given = [Path.cwd()]
    home = _real(Path.home())
    return [
        real for folder in given if (real := _real(folder)) != Path(real.anchor) and real not in (home, *home.parents)
    ]


def _real(path: Path) -> Path:
    """Return the path with links resolved; it need not exist."""
    return Path(os.path.realpath(path))


def path_of_url(url: str) -> Path:
    """Return the path on this machine that a `file:` URL names.

    Raises:
        ValueError: It names another machine, or no file.
    """
    parts = urlsplit(url.translate(_IGNORED).replace("\\", "/"))
    if parts.netloc.lower() not in {"", "localhost"}:
        raise ValueError("it is on another machine")
    return Path(url2pathname("/" + parts.path.lstrip("/")))


def _is_hidden(parts: Iterable[str]) -> bool:
    """Return True if one of these names below a root is hidden or this project's own, or the last one is a key's."""
    names = [*parts]
    hidden = any(name.startswith((".", folders.SHORT_PREFIX)) for name in names)
    last = names[-1] if names else ""
    return hidden or last.lower().endswith(_KEY_SUFFIXES) or _KEY_NAMES.fullmatch(last) is not None


def _check_free(name: str, given: str, path: Path, *, overwrite: bool) -> None:
    """Refuse to write over what someone else made: with `overwrite` a file may be, a link or a device never.

    Raises:
        InvalidArgument: It is there, and stays.
    """
    if not os.path.lexists(path) or path.is_dir():
        return
    what = f"Argument {name!r}: {_shown(given)}"
    if overwrite and (not path.is_file() or Path(given).expanduser().is_symlink()):
        raise InvalidArgument(
            f"{what} is no plain file, but a link or a device.", hint="Such are not written over: give another path."
        )
    if not overwrite and not _is_ours(path):
        raise InvalidArgument(
            f"{what} exists, and this server did not write it.",
            hint="Nothing was overwritten: give a path that is free, or overwrite: true.",
        )


def _is_ours(path: Path) -> bool:
    """Return True if this process wrote the file, or it is plainly one that this project writes."""
    if output.is_own(path):
        return True
    beginning = _BEGINNINGS.get(path.suffix.lower())
    with suppress(OSError):
        if beginning and path.is_file():
            with path.open("rb") as file:
                return beginning in file.read(_LOOKED_AT)
    return False


def _shown(given: str) -> str:
    return quoted(brief(given, _SHOWN))


def _denied_url(name: str, given: str, why: str) -> Denied:
    return Denied(f"Argument {name!r}: {_shown(given)} is not opened: {why}.", setting="file_urls", value="all")
