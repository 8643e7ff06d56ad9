"""URIs of resources, such as `session://NAME/outline` and `session://NAME/files/PATH`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self
from urllib.parse import quote, unquote

from orchestrator.errors import InvalidArgument, quoted
from orchestrator.models.identifiers import normalize_session_id, split_claim

_FORM = re.compile(r"session://(?P<name>[^/?#]+)/(?P<kind>[a-z]+)(?:/(?P<file>[^?#]+))?")

PLAIN_TEXT = "text/plain"


class ResourceKind(StrEnum):
    """Kind of a resource: the part of a session that it shows."""

    OUTLINE = "outline"
    SCREENSHOT = "screenshot"
    CONSOLE = "console"
    LOG = "log"
    FILES = "files"

    @property
    def media_type(self) -> str:
        """The media type of what is read."""
        return _MEDIA_TYPES.get(self, PLAIN_TEXT)


_MEDIA_TYPES = {
    ResourceKind.SCREENSHOT: "image/png",
    ResourceKind.LOG: "application/x-ndjson",
    ResourceKind.FILES: "application/json",
}
"""The media types that are not plain text."""


@dataclass(frozen=True)
class ResourceUri:
    """A URI of a resource.

    Attributes:
        name: The session, as the caller named it: its id, or the name of a claim.
        kind: The part of it.
        file: The path of one of its files, as their list has it.
    """

    name: str
    kind: ResourceKind
    file: str = ""

    @classmethod
    def parse(cls, uri: str) -> Self:
        """Read a URI.

        Raises:
            InvalidArgument: It is none of ours.
        """
        found = _FORM.fullmatch(uri)
        kind, file = (found["kind"], unquote(found["file"] or "")) if found else ("", "")
        if found is None or kind not in {*ResourceKind} or (file and kind != ResourceKind.FILES):
            raise InvalidArgument(
                f"{quoted(uri)} is no resource of this server.",
                hint=f"It has session://NAME/ and one of {', '.join(ResourceKind)}; resources/list lists them.",
            )
        return cls(unquote(found["name"]), ResourceKind(kind), file)

    @property
    def session_id(self) -> str:
        """The id of the session, in its one spelling.

        Raises:
            InvalidArgument: It is no session id.
        """
        return normalize_session_id(split_claim(self.name)[0])

    def __str__(self) -> str:
        """Return it as clients read it."""
        plain = f"session://{self.name}/{self.kind}"
        return f"{plain}/{quote(self.file)}" if self.file else plain
