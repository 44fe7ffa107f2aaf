"""What an audit finds in a folder, and what it leaves alone."""

import os
from pathlib import Path

import pytest

from engram.console.audit import git as engram_git
from tests.console.audits import OLD, audit, commit, found, git, only, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Sessions of the shop expire after 30 minutes.",
         "Sessions of the shop expire after 60 minutes.", "30 minutes vs 60 minutes"),
        ("New code needs a test coverage of at least 80 percent.",
         "New code needs a test coverage of at least 90 percent.", "80 percent"),
        ("Deploys to production happen on Tuesdays after the standup.",
         "Deploys to production happen on Thursdays after the standup.", "Tuesdays vs Thursdays"),
        ("Use pnpm for JavaScript packages.", "Use npm for JavaScript packages.", "pnpm vs npm"),
    ],
)  # fmt: skip
def test_two_files_that_disagree_are_a_question(
    here: Path, one: str, other: str, reason: str
) -> None:
    write(here, {"CLAUDE.md": f"# Notes\n\n- {one}\n", "docs/guide.md": f"# Guide\n\n{other}\n"})
    finding = only(audit())
    assert finding.rule == "contradiction"
    assert {(p.path, p.line) for p in finding.places} == {("CLAUDE.md", 3), ("docs/guide.md", 3)}
    assert one.rstrip(".") in finding.question
    assert other.rstrip(".") in finding.question
    assert reason in finding.reason


def test_an_export_of_memories_is_compared_with_documents(here: Path) -> None:
    write(
        here,
        {
            "AGENTS.md": "- Sessions of the shop expire after 30 minutes.\n",
            "m.json": '[{"user_id":1,\n"memory": "Sessions of the shop expire after 60 minutes."}]',
        },
    )
    assert found(audit()) == [("contradiction", ["m.json:2", "AGENTS.md:1"])]


def test_the_later_commit_is_asked_about_first(here: Path) -> None:
    write(here, {"b.md": "Sessions of the shop expire after 30 minutes.\n"})
    commit(here, "one", at="2025-01-01T12:00:00Z")
    write(here, {"a.md": "Sessions of the shop expire after 60 minutes.\n"})
    commit(here, "two", at="2025-02-01T12:00:00Z")
    report = audit()
    assert report.order == "commits"
    assert found(report) == [("contradiction", ["a.md:1", "b.md:1"])]
    write(here, {"b.md": "Sessions of the shop expire after 120 minutes.\n"})
    commit(here, "three", at="2025-03-01T12:00:00Z")
    assert found(audit()) == [("contradiction", ["b.md:1", "a.md:1"])]


def test_lines_that_moved_without_a_commit_keep_their_time(here: Path) -> None:
    write(here, {"b.md": "Sessions of the shop expire after 30 minutes.\n"})
    commit(here, "one", at="2025-03-01T12:00:00Z")
    write(here, {"a.md": "Sessions of the shop expire after 60 minutes.\n"})
    commit(here, "two", at="2025-02-01T12:00:00Z")
    write(here, {"b.md": "# New\n\nSessions of the shop expire after 30 minutes.\n"})
    assert found(audit()) == [("contradiction", ["b.md:3", "a.md:1"])]


def test_no_program_that_a_repository_names_is_run(here: Path) -> None:
    write(
        here,
        {
            "b.md": "Sessions of the shop expire after 30 minutes.\n",
            "a.md": "Sessions of the shop expire after 60 minutes, see [b](b.md) and `x/y.py`.\n",
            ".gitattributes": "*.md filter=bad diff=bad\n",
        },
    )
    commit(here, "one")
    ran = here / "ran"
    for name in ("filter.bad.clean", "filter.bad.smudge", "diff.bad.textconv", "diff.bad.command",
                 "core.fsmonitor", "diff.external", "core.pager"):  # fmt: skip
        git(here, "config", name, f"touch {ran}; cat")
    write(here, {"b.md": "# New\n\nSessions of the shop expire after 30 minutes.\n"})
    assert audit().order == "commits"
    assert not ran.exists()


def test_without_git_the_times_of_files_give_the_order(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here, {"b.md": "Sessions of the shop expire after 30 minutes.\n"})
    commit(here, "one")
    write(here, {"a.md": "Sessions of the shop expire after 60 minutes.\n"})
    os.utime(here / "b.md", (OLD + 9, OLD + 9))
    monkeypatch.setenv("PATH", str(here / "nowhere"))
    report = audit()
    assert report.order == "files"
    assert found(report) == [("contradiction", ["b.md:1", "a.md:1"])]


def test_a_call_of_git_that_takes_too_long_is_said(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here, {"a.md": "Code is in `src/gone.py`.\n", "src/gone.py": "x"})
    commit(here, "one")
    (here / "src/gone.py").unlink()
    programs = here.parent / "programs"
    write(programs, {"git": '#!/bin/sh\ncase "$*" in *rev-parse*) exit 0;; esac\nexec sleep 60\n'})
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(engram_git, "_SECONDS", 5)
    report = audit()
    assert report.findings == ()
    assert [one.reason for one in report.skipped] == ["git log took more than 5 seconds"]


@pytest.mark.parametrize(
    "files",
    [
        # Of one list, each item has another subject.
        {"a.md": "- The limit of the free plan is 5 users.\n- The limit of the team plan is 9.\n"},
        # What differs stands in the headings, too.
        {"a.md": "# Install\n\nIn global mode it installs the package as a global package.\n",
         "b.md": "# Uninstall\n\nIn global mode it uninstalls the package as a global package.\n"},
        # What is said is about the setting that the heading names.
        {"a.md": "# Settings\n\n## retries\n\nType: a number of attempts\n\n## name\n\n"
                 "Type: a text of attempts\n"},
        # A changelog tells what held at some time.
        {"CHANGELOG.md": "Sessions of the shop expire after 30 minutes.\n",
         "a.md": "Sessions of the shop expire after 60 minutes.\n"},
        {"a.md": "See [b](b.md), [c](#top), [d](https://example.com/x.md), [e](mailto:a@b.c) "
                 "and ![i](img/i.png).\n",
         "b.md": "x\n", "img/i.png": b"\x89PNG\x00"},
        # Pages that a generator makes, and examples of links.
        {"a.md": "[a](guide/) [b](guide/intro) [c](./api.html) [d](path/{name}.md) [e](/site.md)\n"
                 "[f](guide/intro.mdx)\n",
         "guide/intro.md": "x\n"},
        {"a.md": "# Über uns: Preise & mehr!\n\n[a](#über-uns-preise--mehr) [b](#uber-uns-1)\n"
                 "[c](#setup) [d](#old)\n\n## Uber uns\n\n## Set-up\n\n<a id='old'></a>\n"},
        # Double brackets of a shell are no links.
        {"a.md": "Write [[ -f x ]] in scripts, not [ -f x ].\n"},
        {"a.md": "# Guide\n\nAlso read this.\n\nAlso read this.\n"},
    ],
)  # fmt: skip
def test_what_is_in_order_is_left_alone(here: Path, files: dict[str, str | bytes]) -> None:
    write(here, files)
    assert found(audit()) == []


def test_what_files_repeat_is_one_finding(here: Path) -> None:
    rules = (
        "- Run the tests with `make test` before every commit.\n"
        "- Integration tests talk to a real PostgreSQL, never to a mock.\n"
    )
    extra = "- Logs never contain the e-mail address of a customer.\n"
    write(
        here,
        {
            "AGENTS.md": f"# Agents\n\n{rules}",
            "CLAUDE.md": f"# Claude\n\nSome words of its own.\n\n{rules}",
            ".cursorrules": f"{extra}",
            "docs/privacy.md": f"Privacy matters a lot to us.\n\n{extra}",
        },
    )
    first, second = audit().findings
    assert {first.rule, second.rule} == {"same-words"}
    assert [(p.path, p.line, p.end_line) for p in second.places] == [
        ("AGENTS.md", 3, 4),
        ("CLAUDE.md", 5, 6),
    ]
    assert "and 1 more statement stand in one place only?" in second.question
    assert [p.path for p in first.places] == [".cursorrules", "docs/privacy.md"]


def test_what_most_pages_repeat_is_named_as_a_template(here: Path) -> None:
    footer = "Ask the team of the platform for help with any of these pages."
    write(here, {f"p{n}.md": f"# Page {n}\n\n{footer}\n" for n in range(12)})
    report = audit()
    assert report.findings == ()
    assert [one.reason for one in report.skipped] == [
        "1 statement that most files repeat, as of a template"
    ]


def test_the_same_in_other_words_is_a_repeat(here: Path) -> None:
    write(
        here,
        {
            "a.md": "This step is skipped if the --force flag is set.\n",
            "b.md": "This step is skipped when the force flag is set.\n",
        },
    )
    assert found(audit()) == [("same-claim", ["a.md:1", "b.md:1"])]


def test_links_that_lead_nowhere_are_found(here: Path) -> None:
    write(
        here,
        {
            "docs/a.md": "[x](gone.md)\n\n[y](b.md#nowhere) and [z](#neither)\n\n![i](../i.png)\n",
            "docs/b.md": "# Somewhere\n\n[[a]] and [[missing note]] and [[sub/a.md]] [[docs/a]]\n",
        },
    )
    report = audit("docs")
    assert found(report) == [
        ("missing-file", ["docs/a.md:1"]),
        ("missing-heading", ["docs/a.md:3"]),
        ("missing-heading", ["docs/a.md:3"]),
        ("missing-file", ["docs/a.md:5"]),
        ("missing-note", ["docs/b.md:3"]),
        ("missing-note", ["docs/b.md:3"]),
    ]
    assert report.findings[0].question == "Where should the link to “gone.md” lead?"
    assert report.findings[0].reason == "There is no docs/gone.md."


def test_a_removed_path_in_backticks_is_found(here: Path) -> None:
    names = {"src/gone.py": "x", "src/kept.py": "x", "docs/x.md": "x"}
    write(here, names)
    commit(here, "one", at="2025-01-01T12:00:00Z")
    (here / "src/gone.py").unlink()
    mentions = "`src/gone.py:12`, `src/kept.py`, `src/never.py`, `and/or`, `v1.2/3.4`\n"
    write(here, {"docs/x.md": f"Code is in\n{mentions}"})
    commit(here, "two", at="2025-02-01T12:00:00Z")
    finding = only(audit())
    assert (finding.rule, finding.places[0].line) == ("missing-path", 2)
    assert "of 2025-02-01 removed it" in finding.reason


def test_a_statement_whose_document_changed_is_asked_about(here: Path) -> None:
    policy = "# Returns\n\nCustomers can return shoes within {days} days after the delivery.\n"
    write(
        here,
        {
            "docs/returns.md": policy.format(days=30),
            "CLAUDE.md": "Shoes can be returned within 30 days, see [returns](docs/returns.md).\n",
        },
    )
    commit(here, "one", at="2025-01-01T12:00:00Z")
    assert audit().findings == ()
    write(here, {"docs/returns.md": policy.format(days=14)})
    commit(here, "two", at="2025-02-01T12:00:00Z")
    finding = next(f for f in audit().findings if f.rule == "unsupported")
    assert [(p.path, p.line) for p in finding.places] == [("CLAUDE.md", 1), ("docs/returns.md", 3)]
    assert "docs/returns.md was changed since this was written (2025-01-01)" in finding.reason


def test_findings_of_one_kind_can_be_asked_for(here: Path) -> None:
    write(
        here,
        {
            "a.md": "[x](gone.md)\n\nSessions of the shop expire after 30 minutes.\n",
            "b.md": "Sessions of the shop expire after 60 minutes.\n",
        },
    )
    assert [f.kind for f in audit().findings] == ["contradiction", "gone"]
    assert [f.kind for f in audit(kinds=["gone"]).findings] == ["gone"]
    assert [f.kind for f in audit(kinds=["contradiction"]).findings] == ["contradiction"]
    assert audit(kinds=["repeat"]).findings == ()


def test_the_fingerprint_outlives_a_move_within_the_file(here: Path) -> None:
    write(here, {"a.md": "[x](gone.md)\n"})
    before = only(audit())
    write(here, {"a.md": "# Title\n\n[x](gone.md)\n"})
    after = only(audit())
    assert before.fingerprint == after.fingerprint
    write(here, {"a.md": "[x](other.md)\n"})
    assert only(audit()).fingerprint != before.fingerprint
