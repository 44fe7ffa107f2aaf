"""The README shows what the audit of the example folder prints."""

import os
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from engram.console.audit.findings import RULES
from tests.console.audits import OLD, commit
from tests.homes import SOURCE

ROW = re.compile(r"^\| `([a-z-]+)` \| (\w+) \|", re.MULTILINE)
COMMAND = "manage.py audit docs/examples/team-notes"
BLOCK = re.compile(rf"\$ [^\n]*{re.escape(COMMAND)}\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("has_git", [False, True])
def test_the_readme_shows_the_true_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_git: bool
) -> None:
    shown = BLOCK.search((SOURCE / "README.md").read_text())
    assert shown is not None
    folder = Path("docs/examples/team-notes")
    shutil.copytree(SOURCE / folder, tmp_path / folder)
    for file in (tmp_path / folder).rglob("*"):
        os.utime(file, (OLD, OLD))
    if has_git:
        commit(tmp_path, "all at once")
    monkeypatch.chdir(tmp_path)
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit", str(folder), stdout=out)
    assert ended.value.code == 1
    assert out.getvalue() == shown[1]


def test_the_guide_lists_every_rule_with_its_kind() -> None:
    listed = dict(ROW.findall((SOURCE / "docs/audit.md").read_text()))
    assert listed == {rule: kind for rule, (kind, _) in RULES.items()}
