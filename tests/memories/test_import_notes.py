"""`import_notes`: what it reads, what it leaves, and that it deletes only what it brought."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.management.commands import import_notes as command
from memories.models import Note, NoteChunk, NoteLink
from memories.services.notes import import_folder as module
from memories.services.notes import put
from memories.services.notes.import_folder import import_folder
from memories.services.notes.scan_folder import FolderScan, scan_folder
from tests.conftest import Tenant


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Return an empty folder with something outside of it."""
    (tmp_path / "outside.md").write_text("Not yours.")
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def write(vault: Path, name: str, text: str | bytes) -> None:
    file = vault / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def run(tenant: Tenant, vault: Path, *flags: str) -> list[str]:
    out = StringIO()
    call_command(
        "import_notes", str(vault), "--workspace", tenant.workspace.slug, *flags, stdout=out
    )
    return out.getvalue().splitlines()


def notes(tenant: Tenant) -> dict[str, str]:
    with in_workspace(tenant.workspace):
        return dict(Note.objects.order_by("path").values_list("path", "content"))


def test_escapes_that_no_text_holds_leave_the_front_matter_in_the_text(
    tenant: Tenant, vault: Path
) -> None:
    broken = {
        f"{n}.md": f'---\ntitle: "a{escape}b"\n---\nx'
        for n, escape in enumerate((r"\0", r"\uD800", r"\UFFFFFFFF"))
    }
    for name, text in broken.items():
        write(vault, name, text)
    run(tenant, vault)
    assert notes(tenant) == broken


def test_a_folder_is_imported_and_a_second_import_changes_only_what_changed(
    tenant: Tenant, neighbour: Tenant, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "plan.md", "# Plan\n\nSee [[work/billing]].")
    write(vault, "work/billing.markdown", "\ufeff# Billing\n\nMonthly.")
    write(vault, "work/image.png", b"\x89PNG")
    assert run(tenant, vault) == ["2 notes: 2 created, 0 changed, 0 unchanged."]
    assert notes(tenant)["work/billing.markdown"] == "# Billing\n\nMonthly."
    assert notes(neighbour) == {}
    with in_workspace(tenant.workspace):
        link = NoteLink.objects.select_related("note").get()
        assert link.note is not None
        assert link.note.path == "work/billing.markdown"
        versions = list(Note.objects.values_list("path", "version", "updated_at"))
    assert run(tenant, vault) == ["2 notes: 0 created, 0 changed, 2 unchanged."]
    with in_workspace(tenant.workspace):
        assert sorted(Note.objects.values_list("path", "version", "updated_at")) == sorted(versions)
    write(vault, "plan.md", "# Plan\n\nSee nothing.")
    write(vault, "new.md", "New.")
    assert run(tenant, vault) == ["3 notes: 1 created, 1 changed, 1 unchanged."]
    monkeypatch.setattr(put, "EMBEDDED_AT_ONCE", 1)
    write(vault, "long.md", "\n".join(f"# P{i}\nThe part {i}." for i in range(4)))
    run(tenant, vault)
    with in_workspace(tenant.workspace):
        assert not NoteChunk.objects.filter(embedding=None).exists()


def test_markdown_links_lead_to_notes_and_never_out_of_the_folder(
    tenant: Tenant, vault: Path
) -> None:
    write(vault, "work/plan.md", "[d](sub/Deep%20one.md) [up](../top.md#Part) [b](/top.md)\n"
          "[out](../../outside.md) [me](plan.md) [none](gone.md)")  # fmt: skip
    write(vault, "work/sub/Deep one.md", "# Deep")
    write(vault, "top.md", "# Part")
    run(tenant, vault)
    with in_workspace(tenant.workspace):
        links = NoteLink.objects.select_related("note").order_by("position")
        assert [(link.note.path if link.note else "", link.reason) for link in links] == [
            ("work/sub/Deep one.md", ""), ("top.md", ""), ("top.md", ""),
            ("", "unresolved"), ("", "self"), ("", "unresolved"),
        ]  # fmt: skip


def test_files_with_credentials_are_named(tenant: Tenant, vault: Path) -> None:
    secret = "AKIA" + "Q3EGRIAZ7LTCW2XD"
    write(vault, "work/keys.md", f"The key is {secret}.")
    write(vault, "plan.md", "Plan.")
    lines = run(tenant, vault)
    assert lines[1:] == ["Replaced by a marker: 1 credential.", "in work/keys.md: 1 credential"]
    assert secret not in notes(tenant)["work/keys.md"]


def test_names_of_the_same_letters_are_told_apart_by_their_form(
    tenant: Tenant, vault: Path
) -> None:
    names = ["e\u0301a\u0301.md", "\u00e9\u00e1.md", "e\u0301\u00e1.md"]
    for name in names:
        write(vault, name, name)
    lines = run(tenant, vault)[1:]
    assert len(lines) == 2
    assert all("decomposed form (NFD), and this one in its" in line for line in lines)
    assert {line.rpartition("its ")[2] for line in lines} == {"mixed form", "composed form (NFC)"}


def test_a_twin_in_another_folder_is_named_by_its_path(tenant: Tenant, vault: Path) -> None:
    write(vault, "logseq/config.edn", "{}")
    write(vault, "pages/a___b.md", "one")
    write(vault, "pages/a/b.md", "two")
    assert run(tenant, vault)[1:] == [
        "skipped pages/a/b.md: another file, pages/a___b.md, has the same path"
    ]


def test_hidden_folders_settings_and_links_out_of_the_folder_are_not_read(
    tenant: Tenant, vault: Path
) -> None:
    write(vault, "kept.md", "Kept.")
    for name in (".obsidian/a.md", ".trash/b.md", "logseq/bak/c.md", "work/.git/d.md", ".e.md"):
        write(vault, name, "No.")
    write(vault, "work/logseq/f.md", "Kept too.")
    (vault / "stolen.md").symlink_to(vault.parent / "outside.md")
    (vault / "up").symlink_to(vault.parent)
    (vault / "loop").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    lines = run(tenant, vault)
    assert notes(tenant) == {"kept.md": "Kept.", "work/logseq/f.md": "Kept too."}
    assert lines == [
        "2 notes: 2 created, 0 changed, 0 unchanged, 4 skipped.",
        "skipped loop: it is a symbolic link",
        "skipped up: it is a symbolic link",
        "skipped stolen.md: it is a symbolic link",
        "skipped pipe.md: it is no regular file",
    ]


def test_what_is_no_note_is_named_and_skipped(tenant: Tenant, vault: Path) -> None:
    write(vault, "a.md", "Kept.")
    write(vault, "b.md", b"\x00\x01\x02")
    write(vault, "c.md", b"caf\xe9")
    write(vault, "d.md", "x" * 200_001)
    write(vault, "e.md", "\u4e16" * 200_001)
    write(vault, "f.md", "".join(f"[[a{i}]]" for i in range(5_001)))
    write(vault, "cafe\u0301.md", "one")
    write(vault, "caf\u00e9.md", "two")
    write(vault, "g\\h.md", "x")
    write(vault, "i\x1b[31m\n.md", "x")
    lines = run(tenant, vault)
    assert lines[0] == "2 notes: 2 created, 0 changed, 0 unchanged, 8 skipped."
    assert sorted(lines[1:]) == [
        "skipped b.md: it is no text: it holds NUL characters",
        "skipped c.md: it is not UTF-8 text",
        "skipped caf\u00e9.md: another file has the same path: its name has the same letters in "
        "Unicode's decomposed form (NFD), and this one in its composed form (NFC)",
        "skipped d.md: it has more than 200,000 characters",
        "skipped e.md: it has more than 200,000 characters",
        "skipped f.md: content: A note has at most 5,000 links; this one has 5,001.",
        "skipped g\\h.md: Segments of a path are joined by slashes, not backslashes.",
        "skipped i\\x1b[31m\\n.md: A path is one line of printable characters.",
    ]
    assert notes(tenant) == {"a.md": "Kept.", "caf\u00e9.md": "one"}


def test_pages_of_an_outliner_have_their_namespaces_as_folders(tenant: Tenant, vault: Path) -> None:
    write(vault, "logseq/config.edn", "{}")
    write(vault, "pages/team___hiring.md", "alias:: People\n\n- See [[team/plan]] ((5f3a))")
    write(vault, "pages/what%3F.md", "x")
    write(vault, "journals/2026_05_04.md", "- [[People]]")
    write(vault, "pages/x%2F..%2F..%2Fetc.md", "x")
    lines = run(tenant, vault)
    assert sorted(notes(tenant)) == [
        "journals/2026_05_04.md", "pages/team/hiring.md", "pages/what?.md",
    ]  # fmt: skip
    assert lines[1:] == [
        "skipped pages/x%2F..%2F..%2Fetc.md: A path has no segments '.' or '..'.",
    ]
    with in_workspace(tenant.workspace):
        found = NoteLink.objects.select_related("note").get(target="People")
        assert found.note is not None
        assert found.note.path == "pages/team/hiring.md"


def test_an_empty_scan_deletes_nothing(tenant: Tenant, vault: Path) -> None:
    """A folder that is not mounted looks empty: its notes must not be deleted (pitfall 42)."""
    write(vault, "a.md", "One.")
    run(tenant, vault)
    (vault / "a.md").unlink()
    kept = "The folder has no Markdown file; notes it brought before are kept."
    assert kept in run(tenant, vault)
    with pytest.raises(CommandError, match="nothing was deleted: there is no readable Markdown"):
        run(tenant, vault, "--prune-most")
    write(vault, "b.md", b"\x00")
    with pytest.raises(CommandError, match="nothing was deleted"):
        run(tenant, vault, "--prune")
    assert notes(tenant) == {"a.md": "One."}


def test_a_folder_that_lost_most_of_its_files_is_pruned_only_on_demand(
    tenant: Tenant, vault: Path
) -> None:
    for n in range(5):
        write(vault, f"{n}.md", f"Note {n}.")
    run(tenant, vault)
    for n in range(3):
        (vault / f"{n}.md").unlink()
    write(vault, "4.md", "Changed.")
    with pytest.raises(CommandError, match=r"3 of 5 notes .* more than half.*--prune-most"):
        run(tenant, vault, "--prune")
    assert len(notes(tenant)) == 5
    assert notes(tenant)["4.md"] == "Changed."
    assert run(tenant, vault, "--prune-most")[0].endswith("3 deleted.")
    assert sorted(notes(tenant)) == ["3.md", "4.md"]


def test_half_of_the_files_and_moved_ones_are_pruned_as_asked(tenant: Tenant, vault: Path) -> None:
    for n in range(4):
        write(vault, f"{n}.md", f"Note {n}.")
    run(tenant, vault)
    for n in range(2):
        (vault / f"{n}.md").unlink()
    assert run(tenant, vault, "--prune")[0].endswith("2 deleted.")
    (vault / "moved").mkdir()
    for n in (2, 3):
        (vault / f"{n}.md").rename(vault / "moved" / f"{n}.md")
    assert run(tenant, vault, "--prune")[0].endswith("2 deleted.")
    assert sorted(notes(tenant)) == ["moved/2.md", "moved/3.md"]


def test_pruning_deletes_only_what_this_folder_brought_and_nobody_changed(
    tenant: Tenant, vault: Path
) -> None:
    for name in ("kept.md", "gone.md", "changed.md", "broken.md"):
        write(vault, name, f"{name} of the folder")
    run(tenant, vault)
    other = vault.parent / "other"
    write(other, "theirs.md", "theirs")
    run(tenant, other)
    put_here(tenant, "own.md", "own")
    put_here(tenant, "changed.md", "changed here")
    for name in ("gone.md", "changed.md"):
        (vault / name).unlink()
    write(vault, "broken.md", b"\x00")
    assert run(tenant, vault)[0] == "1 note: 0 created, 0 changed, 1 unchanged, 1 skipped."
    assert "gone.md" in notes(tenant)
    assert run(tenant, vault, "--prune")[:2] == [
        "1 note: 0 created, 0 changed, 1 unchanged, 1 deleted, 1 skipped.",
        "deleted gone.md",
    ]
    assert sorted(notes(tenant)) == ["broken.md", "changed.md", "kept.md", "own.md", "theirs.md"]


def two_folders(vault: Path) -> tuple[Path, Path]:
    first, second = vault / "fa", vault / "fb"
    for folder in (first, second):
        write(folder, "same.md", f"Of {folder.name}.")
        write(folder, f"{folder.name}.md", "Own.")
    return first, second


def test_a_note_that_another_folder_brought_is_kept_named_and_not_pruned(
    tenant: Tenant, vault: Path
) -> None:
    first, second = two_folders(vault)
    run(tenant, first)
    assert run(tenant, second) == [
        "1 note: 1 created, 0 changed, 0 unchanged, 1 skipped.",
        f"skipped same.md: another folder, {first}, brought a note with this path and another text",
        "Only the folder that brought a note changes and prunes it. With --take-over the notes of "
        "the files in this one become its own.",
    ]
    run(tenant, second, "--replace-changed")
    assert notes(tenant)["same.md"] == "Of fa."
    (second / "same.md").unlink()
    assert run(tenant, second, "--prune")[-1] == f"Not pruned: 2 notes of {first}."
    assert sorted(notes(tenant)) == ["fa.md", "fb.md", "same.md"]


def test_a_folder_takes_over_the_notes_of_its_files_alone(tenant: Tenant, vault: Path) -> None:
    first, second = two_folders(vault)
    run(tenant, first)
    assert run(tenant, second, "--take-over") == [
        "2 notes: 1 created, 1 changed, 0 unchanged.",
        f"Taken over from {first}: 1 note.",
    ]
    assert notes(tenant)["same.md"] == "Of fb."
    (first / "same.md").unlink()
    said = run(tenant, first, "--prune")
    assert said == [
        "1 note: 0 created, 0 changed, 1 unchanged.",
        f"Not pruned: 2 notes of {second}.",
    ]
    assert sorted(notes(tenant)) == ["fa.md", "fb.md", "same.md"]
    (second / "same.md").unlink()
    assert run(tenant, second, "--prune")[1] == "deleted same.md"


def test_equal_text_of_another_folder_is_taken_over_on_demand(tenant: Tenant, vault: Path) -> None:
    first, second = vault / "fa", vault / "fb"
    for folder in (first, second):
        write(folder, "same.md", "One text.")
        write(folder, f"{folder.name}.md", "Own.")
    run(tenant, first)
    assert run(tenant, second)[1] == f"not taken over same.md: {first} brought this text"
    assert f"Taken over from {first}: 1 note." in run(tenant, second, "--take-over")
    assert len(run(tenant, second, "--take-over")) == 1
    (first / "same.md").unlink()
    run(tenant, first, "--prune")
    assert "same.md" in notes(tenant)
    with in_workspace(tenant.workspace):
        assert Note.objects.get(path="same.md").version == 1


def test_a_note_changed_here_is_taken_over_with_its_text(tenant: Tenant, vault: Path) -> None:
    first, second = two_folders(vault)
    run(tenant, first)
    put_here(tenant, "same.md", "changed here")
    said = run(tenant, second, "--take-over")
    assert f"skipped same.md: {module.CHANGED_TWICE}" in said
    assert notes(tenant)["same.md"] == "changed here"
    run(tenant, second, "--replace-changed")
    assert notes(tenant)["same.md"] == "Of fb."


def test_a_moved_folder_is_pruned_after_it_was_told_from_where(
    tenant: Tenant, neighbour: Tenant, vault: Path
) -> None:
    old, new = vault / "old", vault / "new"
    for name in ("a.md", "b.md", "gone.md"):
        write(old, name, name)
    run(tenant, old)
    run(neighbour, old)
    with pytest.raises(CommandError, match="is still there"):
        run(tenant, vault, "--moved-from", str(old))
    old.rename(new)
    (new / "gone.md").unlink()
    hint = f"{old} is not there: if it was moved here, run this with --moved-from {old}"
    assert run(tenant, new)[-1] == hint
    assert run(tenant, new, "--prune")[-3:][::2] == [f"Not pruned: 3 notes of {old}.", hint]
    assert "gone.md" in notes(tenant)
    with pytest.raises(CommandError, match=f"Folders that brought notes: {old}."):
        run(tenant, new, "--moved-from", str(vault / "older"))
    assert run(tenant, new, "--prune", "--moved-from", str(old)) == [
        f"Moved from {old}: 3 notes.",
        "2 notes: 0 created, 0 changed, 2 unchanged, 1 deleted.",
        "deleted gone.md",
    ]
    assert sorted(notes(tenant)) == ["a.md", "b.md"]
    assert run(neighbour, new)[-1] == hint


def test_a_link_in_the_place_of_a_moved_folder_does_not_hide_that_it_was_moved(
    tenant: Tenant, vault: Path
) -> None:
    old, new = vault / "old", vault / "new"
    write(old, "a.md", "One.")
    run(tenant, old)
    old.rename(new)
    old.symlink_to(new)
    assert run(tenant, new, "--moved-from", str(old))[0] == f"Moved from {old}: 1 note."


def test_a_folder_that_cannot_be_read_keeps_its_notes(tenant: Tenant, vault: Path) -> None:
    write(vault, "a.md", "One.")
    write(vault, "closed/b.md", "Two.")
    run(tenant, vault)
    (vault / "closed/b.md").unlink()
    scan = scan_folder(vault)
    scan.unread_folders.append("closed: Permission denied")
    done = import_folder(
        tenant.workspace, vault, scan, clock=timezone.now, deletes_missing=True
    )  # fmt: skip
    assert done.not_deleted.endswith("a folder could not be read: closed: Permission denied")
    assert sorted(notes(tenant)) == ["a.md", "closed/b.md"]


def put_here(tenant: Tenant, path: str, content: str) -> None:
    answer = tenant.agent._send("put", f"notes/{quote(path)}", {"content": content}, {})
    assert answer.status_code in {200, 201}


def test_notes_that_were_written_or_changed_here_are_kept(tenant: Tenant, vault: Path) -> None:
    put_here(tenant, "own.md", "written here")
    for name in ("own.md", "once.md", "twice.md"):
        write(vault, name, "of the folder")
    assert run(tenant, vault)[1:] == [
        "skipped own.md: the note was written here, not imported",
    ]
    for name in ("once.md", "twice.md"):
        put_here(tenant, name, "changed here")
    write(vault, "twice.md", "changed there")
    assert run(tenant, vault)[1:] == [
        "skipped once.md: the note was changed here since it was imported; the file was not",
        "skipped own.md: the note was written here, not imported",
        "skipped twice.md: both the note and the file were changed since it was imported",
    ]
    assert set(notes(tenant).values()) == {"written here", "changed here"}
    run(tenant, vault, "--replace-changed")
    assert set(notes(tenant).values()) == {"of the folder", "changed there"}


def test_what_is_written_while_an_import_runs_is_kept(
    tenant: Tenant, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "changed.md", "deleted.md"):
        write(vault, name, "of the folder")
    run(tenant, vault)
    for name in ("a.md", "changed.md", "deleted.md", "new.md"):
        write(vault, name, "of the folder, again")
    read = module.texts_of

    def read_while_people_write(scan: FolderScan) -> Iterator[tuple[str, Path, Any]]:
        put_here(tenant, "changed.md", "changed here")
        put_here(tenant, "new.md", "written here")
        assert tenant.agent.delete("notes/deleted.md").status_code == 204
        yield from read(scan)

    monkeypatch.setattr(module, "texts_of", read_while_people_write)
    reason = "the note was written or deleted here while the import ran"
    assert run(tenant, vault, "--replace-changed") == [
        "1 note: 0 created, 1 changed, 0 unchanged, 3 skipped.",
        *(f"skipped {name}: {reason}" for name in ("changed.md", "deleted.md", "new.md")),
    ]
    assert notes(tenant) == {
        "a.md": "of the folder, again",
        "changed.md": "changed here",
        "new.md": "written here",
    }


def test_what_is_written_while_an_import_deletes_is_kept(tenant: Tenant, vault: Path) -> None:
    for name in ("a.md", "b.md", "c.md", "kept.md"):
        write(vault, name, "of the folder")
    run(tenant, vault)
    for name in ("a.md", "b.md", "c.md"):
        (vault / name).unlink()
    times = iter([timezone.now(), None, None])

    def clock() -> datetime:
        """Return the time; before the first note is deleted, people write and delete others."""
        if next(times) is not None:
            put_here(tenant, "b.md", "changed here")
            assert tenant.agent.delete("notes/c.md").status_code == 204
        return timezone.now()

    scan = scan_folder(vault)
    done = import_folder(
        tenant.workspace, vault, scan, clock=clock, deletes_missing=True, deletes_most=True
    )
    assert done.deleted == ["a.md"]
    assert done.skipped == [(name, module.CHANGED_MEANWHILE) for name in ("b.md", "c.md")]
    assert notes(tenant) == {"b.md": "changed here", "kept.md": "of the folder"}


def test_a_folder_or_workspace_that_is_not_there_is_an_error(tenant: Tenant, vault: Path) -> None:
    with pytest.raises(CommandError, match="is not a folder"):
        run(tenant, vault / "nowhere")
    with pytest.raises(CommandError, match="is not a folder"):
        run(tenant, vault.parent / "outside.md")
    with pytest.raises(CommandError, match="There is no workspace"):
        call_command("import_notes", str(vault), "--workspace", "nobody")


def test_a_file_that_no_link_can_name_is_reported_and_its_note_is_kept(
    tenant: Tenant, vault: Path
) -> None:
    write(vault, "notes/old.md", "old")
    write(vault, "C#.md", "sharp")
    write(vault, "plain.md", "plain")
    said = run(tenant, vault)
    assert [line for line in said if line.startswith("skipped C#.md: ")] != []
    assert notes(tenant) == {"notes/old.md": "old", "plain.md": "plain"}
    with in_workspace(tenant.workspace):  # as an earlier release has stored it
        Note.objects.filter(path="notes/old.md").update(path="C#.md")
    (vault / "notes/old.md").unlink()
    run(tenant, vault, "--prune")
    assert notes(tenant) == {"C#.md": "old", "plain.md": "plain"}
    assert tenant.agent.get("notes/C%23.md").json()["content"] == "old"
    answer = tenant.agent._send("put", "notes/C%23.md", {"content": "new"}, {})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["path"]
    assert tenant.agent.delete("notes/C%23.md").status_code == 204


def test_a_long_import_tells_its_progress_where_there_is_no_terminal(
    tenant: Tenant,
    vault: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(vault, "a.md", "The kiln is fired on Tuesdays.")
    run(tenant, vault)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(command, "LOGGED_SECONDS", 1e-9)
    write(vault, "b.md", "The lamp has 40 watts.")
    run(tenant, vault)
    assert "2/2" in capsys.readouterr().err
