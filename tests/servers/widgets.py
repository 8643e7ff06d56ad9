"""Pages that show the widgets of component libraries, one each; `make widgets` installs and bundles the libraries."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.servers.site import Reply, Site

FOLDER = Path(sys.prefix) / "widgets"
"""Path of the libraries that `make widgets` downloads and bundles, of `tests/data/widgets`."""

_LIBRARIES = ("shoelace", "jquery", "element", "react", "editors", "tinymce", "plain")
_TYPES = {".js": "text/javascript", ".css": "text/css"}
_PAGE = """<!doctype html><html lang=en><title>{name}</title><link rel=icon href=data:,>
<link rel=stylesheet href={name}.css><body><script src={name}.js></script>"""


def missing() -> str | None:
    """Return what is missing for the pages, if anything."""
    return None if (FOLDER / "installed").is_file() else f"The component libraries are not in {FOLDER}: `make widgets`."


def serve_widgets(site: Site) -> None:
    """Add a page for each library: its query names the widget."""
    for name in _LIBRARIES:
        for kind, content_type in _TYPES.items():
            file = FOLDER / "built" / f"{name}{kind}"
            text = file.read_text("utf-8") if file.is_file() else ""
            site.page(f"/{file.name}", Reply(text, 200, f"{content_type}; charset=utf-8"))
        site.page(f"/{name}", _PAGE.format(name=name))
