"""Import a folder of Markdown files as notes."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.kernel.embedding import use_processors
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models.note import FOLDER_MAX_CHARS
from memories.services.index.note_chunks import embed_pending, select_due
from memories.services.notes.folder_notes import move_folder, notes_by_folder
from memories.services.notes.import_folder import ImportedFolder, import_folder
from memories.services.notes.scan_folder import scan_folder

SKIPPED_SHOWN = 50
LOGGED_SECONDS = 10.0  # between lines about the progress, where the output is no terminal


class Command(BaseCommand):
    """`import_notes DIR --workspace W`, with flags for what is replaced, taken over and deleted."""

    help = (
        "Import the Markdown files of a folder as notes (Obsidian vaults and Logseq graphs too). "
        "A second import changes only what changed; notes that were written or changed here, or "
        "that another folder brought, are kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument(
            "--prune",
            action="store_true",
            help="delete notes that an import of this folder brought and whose file is gone",
        )
        parser.add_argument(
            "--prune-most",
            action="store_true",
            help="--prune, also if more than half of these notes have no file any more",
        )
        parser.add_argument(
            "--replace-changed",
            action="store_true",
            help="let files replace notes that were written or changed here",
        )
        parser.add_argument(
            "--take-over",
            action="store_true",
            help="make the notes of its files that another folder brought notes of this folder",
        )
        parser.add_argument(
            "--moved-from",
            metavar="OLD",
            help="the folder was moved: all notes that imports of OLD brought are its notes now",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Scan the folder, import it, and embed what is left."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        folder: Path = options["folder"].resolve()
        if not folder.is_dir():
            raise CommandError(f"{options['folder']} is not a folder.")
        if len(str(folder)) > FOLDER_MAX_CHARS or not str(folder).isprintable():
            raise CommandError("The path of the folder is too long, or cannot be shown.")
        scan = scan_folder(folder)
        if options["moved_from"]:
            self._move(workspace, options["moved_from"], folder)
        use_processors()
        try:
            with self._bar(len(scan.files), " notes") as bar:
                done = import_folder(
                    workspace,
                    folder,
                    scan,
                    clock=timezone.now,
                    deletes_missing=options["prune"] or options["prune_most"],
                    deletes_most=options["prune_most"],
                    replaces_changed=options["replace_changed"],
                    takes_over=options["take_over"],
                    advance=bar.update,
                )
            with in_workspace(workspace):
                due = select_due().count()
            with self._bar(due, " passages") as bar:
                embed_pending(workspace, advance=bar.update)
        except KeyboardInterrupt:
            raise CommandError("Interrupted; run the same command to go on.") from None
        self._tell(done, scan.unread_folders)
        others = notes_by_folder(workspace)
        others.pop(str(folder), None)
        self._tell_of_others(done, others if options["prune"] or options["prune_most"] else {})
        if done.not_deleted:
            raise CommandError(f"With --prune {done.not_deleted}.")

    def _move(self, workspace: Workspace, moved_from: str, folder: Path) -> None:
        """Make the notes of the folder's earlier place its own."""
        old = os.path.abspath(moved_from)  # as it was stored: a link may be in its place now
        if Path(old).is_dir() and not Path(old).samefile(folder):
            raise CommandError(f"{_shown(old)} is still there, so that it was not moved.")
        known = notes_by_folder(workspace)
        if old not in known:
            brought = ", ".join(map(_shown, known)) or "none"
            raise CommandError(
                f"No note was brought from {_shown(old)}. Folders that brought notes: {brought}."
            )
        count = move_folder(workspace, old=old, new=str(folder))
        self.stdout.write(f"Moved from {_shown(old)}: {_counted(count, 'note')}.")

    @staticmethod
    def _bar(total: int, unit: str) -> Any:
        """Return a progress bar, at long intervals where the output is no terminal."""
        if sys.stderr.isatty():
            return tqdm(total=total, unit=unit, disable=not total)
        pause = LOGGED_SECONDS
        return tqdm(total=total, unit=unit, disable=not total, mininterval=pause, delay=pause)

    def _tell(self, done: ImportedFolder, unread: list[str]) -> None:
        counts = [
            f"{done.outcomes[outcome]} {outcome}" for outcome in ("created", "changed", "unchanged")
        ]
        if done.deleted:
            counts.append(f"{len(done.deleted)} deleted")
        if done.skipped:
            counts.append(f"{len(done.skipped)} skipped")
        self.stdout.write(f"{_counted(sum(done.outcomes.values()), 'note')}: {', '.join(counts)}.")
        if not (sum(done.outcomes.values()) or done.skipped):
            self.stdout.write("The folder has no Markdown file; notes it brought before are kept.")
        if done.hidden:
            total = _counted(sum(count for _, count in done.hidden), "credential")
            self.stdout.write(f"Replaced by a marker: {total}.")
        for name, count in done.hidden[:SKIPPED_SHOWN]:
            self.stdout.write(f"in {_shown(name)}: {_counted(count, 'credential')}")
        if (more := len(done.hidden) - SKIPPED_SHOWN) > 0:
            self.stdout.write(f"in {_counted(more, 'more file')}")
        for path in done.deleted:
            self.stdout.write(f"deleted {_shown(path)}")
        for name, reason in done.skipped[:SKIPPED_SHOWN]:
            self.stdout.write(f"skipped {_shown(name)}: {_shown(reason)}")
        if (more := len(done.skipped) - SKIPPED_SHOWN) > 0:
            self.stdout.write(f"skipped {more} more")
        for name in unread:
            self.stdout.write(f"not read {_shown(name)}")

    def _tell_of_others(self, done: ImportedFolder, not_pruned: dict[str, int]) -> None:
        """Tell which notes are those of other folders, and how this one takes them over."""
        for other, count in done.taken_over.items():
            self.stdout.write(f"Taken over from {_shown(other)}: {_counted(count, 'note')}.")
        for name, other in done.same_text[:SKIPPED_SHOWN]:
            self.stdout.write(f"not taken over {_shown(name)}: {_shown(other)} brought this text")
        if (more := len(done.same_text) - SKIPPED_SHOWN) > 0:
            self.stdout.write(f"not taken over {more} more")
        for other, count in not_pruned.items():
            self.stdout.write(f"Not pruned: {_counted(count, 'note')} of {_shown(other)}.")
        met = done.of_others
        if met:
            self.stdout.write(
                "Only the folder that brought a note changes and prunes it. With --take-over the "
                "notes of the files in this one become its own."
            )
        for other in sorted(met | not_pruned.keys()):
            if not Path(other).is_dir():
                self.stdout.write(
                    f"{_shown(other)} is not there: if it was moved here, run this with "
                    f"--moved-from {_shown(other)}"
                )


def _counted(count: int, name: str) -> str:
    """Return a number with a noun in the number that fits."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def _shown(text: str) -> str:
    """Return a text in which nothing moves the cursor or begins another line."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
