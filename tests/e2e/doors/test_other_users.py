"""The doctor on machines that several people use, with accounts and a `/proc` of the test's own."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needed import needed
from tests.servers import container

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing hides command lines"),
]

SERVICES = "root:x:0:0::/root:/bin/bash\nwww:x:33:33::/:/usr/sbin/nologin\nnobody:x:65534:65534::/:/usr/sbin/nologin\n"
ANN = "ann:x:1000:1000::/home/ann:/bin/bash\n"
LOCKED = "tom:x:1001:1001::/home/tom:/usr/sbin/nologin\n"
SAID = "ann can log in here and read command lines: the driver's address in them lets them use your browsers"


@pytest.mark.parametrize(
    ("accounts", "proc", "warns"),
    [
        (SERVICES + ANN + LOCKED, "defaults", True),
        (SERVICES + ANN, "hidepid=2", False),
        (SERVICES + LOCKED, "defaults", False),
    ],
    ids=["an account of somebody else", "hidden processes", "accounts that cannot log in"],
)
def test_the_doctor_names_other_people_who_can_read_command_lines(
    tmp_path: Path, accounts: str, proc: str, *, warns: bool
) -> None:
    """Only where another person can log in, and `/proc` shows each command line to everyone."""
    needed(container.missing())
    (tmp_path / "passwd").write_text(accounts, "utf-8")
    doctor = shlex.join([sys.executable, "-m", "orchestrator", "doctor"])
    steps = [f"mount --bind {tmp_path}/passwd /etc/passwd", f"mount -t proc -o {proc} proc /proc", f"exec {doctor}"]
    words = container.in_container("sh", "-c", " && ".join(steps))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "webdriver-orchestrator" in done.stdout, done.stderr
    assert (SAID in done.stdout) is warns
    assert ("hidepid=2" in done.stdout) is warns
