"""The same purchase on a web page and both simulated phones: `orchestrator demo checkout`, run like a newcomer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.demo.shop.receipts import Receipt, differences
from tests.demo.test_demo_chat import size_of_png

pytestmark = pytest.mark.full

BOUGHT = "Thank you, Ada Byron! 1 \u00d7 Mug €18.50, 2 \u00d7 Teapot €108.00"
RECEIPT = re.compile(rf"^(\w+) +{BOUGHT}; delivery (\S+), (\S+)$", re.MULTILINE)


def checkout(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the demonstration in a home of its own."""
    return subprocess.run(
        [sys.executable, "-m", "orchestrator", "demo", "checkout", "--out", str(folder / "out"), *options],
        env={**os.environ, "ORCHESTRATOR_HOME": str(folder / "home"), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


@pytest.mark.usefixtures("needs_phones")
def test_demo_checkout_gets_equal_receipts_on_web_ios_and_android(tmp_path: Path) -> None:  # W2
    """All three receipts agree, each step's time is in the table, and the last screens are one picture."""
    run = checkout(tmp_path)

    assert run.returncode == 0, run.stdout + run.stderr
    assert RECEIPT.findall(run.stdout) == [(name, "Free", "€126.50") for name in ("web", "ios", "android")]
    assert re.search(r"^tap_element role=button\[name=Pay now\] +\d+ ms +\d+ ms +\d+ ms$", run.stdout, re.MULTILINE)
    assert "Items, sums and confirmation agree on web, ios, android." in run.stdout
    width, height = size_of_png(tmp_path / "out" / "checkout.png")
    assert width > height


@pytest.mark.usefixtures("needs_phones")
def test_demo_checkout_names_the_platform_whose_receipt_differs(tmp_path: Path) -> None:
    """A planted difference is printed with its platform and the values that differ."""
    run = checkout(tmp_path, "--break", "android")

    assert run.returncode == 0, run.stdout + run.stderr
    told = "android differs: delivery is '€4.90', elsewhere 'Free'; total is '€131.40', elsewhere '€126.50'."
    assert told in run.stdout
    assert "agree" not in run.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the folder of programs is made of links")
def test_demo_checkout_runs_only_the_web_part_without_node(tmp_path: Path) -> None:
    """Without Node.js the run buys on the web alone and prints why the phones are omitted."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("chromium", "chromedriver", "google-chrome", "sh"):
        if found := shutil.which(name):
            programs.joinpath(name).symlink_to(found)
    run = checkout(tmp_path, PATH=str(programs))

    assert run.returncode == 0, run.stdout + run.stderr
    assert "Only the web part, because the simulated phones do not run. Node.js is not installed" in run.stdout
    assert RECEIPT.findall(run.stdout) == [("web", "Free", "€126.50")]


def test_differences_names_the_receipt_that_deviates_from_the_majority() -> None:
    """The receipt that differs from most others is named; a line that is missing counts as a difference."""
    usual = "Thank you, Ada Byron!\n1 \u00d7 Mug\n€18.50\nDelivery\n€4.90\nTotal\n€23.40"
    odd = usual.replace("€23.40", "€23.45").replace("Thank you", "Sorry")
    receipts = {name: Receipt.read(text) for name, text in {"web": usual, "ios": odd, "android": usual}.items()}
    assert differences(receipts) == {
        "ios": [
            "confirmation is '', elsewhere 'Thank you, Ada Byron!'",
            "total is '€23.45', elsewhere '€23.40'",
        ]
    }
    assert not receipts["ios"].complete
