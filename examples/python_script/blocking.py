"""A guest signs the guest book, without `await`: one import is different, and no word.

Run it with `.venv/bin/python examples/python_script/blocking.py http://localhost:8000/`.
"""

from __future__ import annotations

import sys

from orchestrator.sync import Orchestrator


def main(url: str) -> None:
    """One guest, step by step."""
    with Orchestrator() as orchestrator:
        ann = orchestrator.start_browser("ann", navigation_url=url)
        ann.set_value("label=Name", "Ann")
        ann.set_value("label=Message", "Lovely tea.")
        ann.click_element("role=button[name=Sign]")
        print(ann.get_text("role=list").text)


if __name__ == "__main__":
    main(*sys.argv[1:])
