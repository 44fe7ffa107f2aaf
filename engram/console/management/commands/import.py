"""Import an archive of workspaces, or what another system has exported."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.console.transfer.archive import open_archive
from engram.console.transfer.finishing import analyse
from engram.console.transfer.foreign import chats, statements
from engram.console.transfer.foreign.markdown import markdown_items
from engram.console.transfer.foreign.statements import Place
from engram.console.transfer.foreign.streams import ForeignError, items_of, size_of
from engram.console.transfer.foreign.taking import Converted, convert, known_marks, take_statements
from engram.console.transfer.foreign.talking import count_talks, take_talks
from engram.console.transfer.load import Imported, count_steps, import_archive
from engram.console.transfer.manifest import ArchiveError
from engram.kernel.embedding import model_name, use_processors
from engram.kernel.models import Provenance, Workspace
from engram.kernel.refusals import RefusalError
from memories.services.commit.import_lines import LineError

FORMATS = ("mem0", "statements", "markdown", "chatgpt", "claude")
CHATS = ("chatgpt", "claude")


class Command(BaseCommand):
    """`manage.py import ARCHIVE.zip [--workspace W]`, or `import FILE --from F --workspace W`."""

    help = (
        "Import an archive that `export --all` wrote, into workspaces that do not exist yet or "
        "hold nothing; or, with --from, what another system has exported, into a workspace. "
        "A file is checked whole before anything is written; an interrupted import goes on where "
        "it stopped, and a second one changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--workspace",
            default="",
            help="slug of the workspace; of an archive: another name for its only one",
        )
        parser.add_argument("--from", dest="format", choices=FORMATS, help="what FILE is")
        parser.add_argument("--scope", default="", help="scope of all that is imported (--from)")
        parser.add_argument("--project", default="", help="project of it (--from)")
        parser.add_argument(
            "--provenance",
            choices=Provenance.values,
            default=Provenance.ASSISTANT_DERIVED,
            help="of statements that do not say it themselves (--from)",
        )
        parser.add_argument(
            "--skip-invalid",
            action="store_true",
            help="leave out what cannot be imported, and list it (--from)",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only check and count; write nothing (--from)"
        )
        parser.add_argument(
            "--no-detect",
            action="store_true",
            help="do not let the detective read the statements (--from)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the file, then import it."""
        path: Path = options["file"]
        try:
            if options["format"] is None:
                if options["dry_run"]:
                    raise CommandError("--dry-run goes with --from.")
                self._import_archive(path, options["workspace"])
            elif options["format"] in CHATS:
                self._import_chats(path, self._workspace(options), options)
            else:
                self._import_statements(path, self._workspace(options), options)
        except (ArchiveError, ForeignError, LineError) as error:
            raise CommandError(f"{path}: {error}") from None
        except RefusalError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted; run the same command to go on.") from None

    def _import_archive(self, path: Path, slug: str) -> None:
        with open_archive(path) as archive:
            total = count_steps(archive)
            with _bar(total, " rows") as bar:
                done = import_archive(archive, slug=slug, clock=timezone.now, advance=bar.update)
        if any(one.is_new for one in done):
            analyse()
        for one in done:
            self._tell(one)

    def _tell(self, done: Imported) -> None:
        workspace = done.workspace
        if not done.is_new:
            self.stdout.write(f"{workspace.slug} was imported before; nothing was changed.")
            return
        before = f", {done.rows_before} before" if done.rows_before else ""
        self.stdout.write(f"{workspace.slug}: {done.rows} rows imported{before}.")
        if workspace.embedding_model != model_name():
            self.stdout.write(
                f"{workspace.slug} uses the embedding model {workspace.embedding_model}, not "
                f"{model_name()}: `manage.py reembed` changes it."
            )

    def _import_statements(self, path: Path, workspace: Workspace, options: dict[str, Any]) -> None:
        place = Place(options["scope"], options["project"], options["provenance"])
        name: str = options["format"]
        known = known_marks(workspace, name)
        with TemporaryDirectory() as folder, _bar(size_of(path), "B", scaled=True) as bar:
            lines = Path(folder, "lines.jsonl")
            is_markdown = name == "markdown"
            items = (
                markdown_items(path)
                if is_markdown
                else items_of(path, statements.LISTS, advance=bar.update)
            )
            found = convert(items, lines, name, place, known)
            bar.close()
            self._refuse(found.errors, found.refused, is_skipped=options["skip_invalid"])
            if options["dry_run"]:
                self.stdout.write(f"{_counts(found)}. Nothing was written.")
                return
            outcomes: dict[str, int] = {}
            if found.new:
                use_processors()
                with _bar(found.new, " statements") as writing:
                    outcomes = take_statements(
                        workspace,
                        lines,
                        clock=timezone.now,
                        is_detected=not options["no_detect"],
                        advance=writing.update,
                    ).outcomes
        summary = ", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items()))
        self.stdout.write(f"{_counts(found)}" + (f": {summary}." if summary else "."))

    def _import_chats(self, path: Path, workspace: Workspace, options: dict[str, Any]) -> None:
        name: str = options["format"]
        with _bar(size_of(path), "B", scaled=True) as bar:
            items = items_of(path, chats.LISTS, advance=bar.update)
            found = count_talks(items, name, now=timezone.now())
        self._refuse(found.errors, found.refused, is_skipped=options["skip_invalid"])
        holds = (
            f"{found.conversations} conversations ({found.empty} of them empty), "
            f"{found.messages} messages"
        )
        if options["dry_run"]:
            self.stdout.write(
                f"{holds}, {found.talks} transcripts of {found.chars} characters. "
                "Nothing was written."
            )
            return
        with _bar(found.talks, " transcripts") as bar:
            taken = take_talks(
                workspace,
                items_of(path, chats.LISTS),
                name,
                project=options["project"],
                scope=options["scope"],
                clock=timezone.now,
                advance=bar.update,
            )
        before = f", {found.talks - taken} were imported before" if taken < found.talks else ""
        self.stdout.write(
            f"{holds}: {taken} transcripts queued for extraction{before}. The worker reads them; "
            "each is a session with what was kept and refused of it."
        )
        if found.ahead:
            self.stdout.write(f"{found.ahead} transcripts lay ahead of now, and are of now.")

    def _refuse(self, errors: list[str], count: int, *, is_skipped: bool) -> None:
        """Show what cannot be imported; raise unless it is to be left out."""
        listed = list(errors)
        if count > len(errors):
            listed.append(f"and {count - len(errors)} more")
        if count and not is_skipped:
            raise CommandError("Nothing was imported.\n" + "\n".join(listed))
        for line in listed:
            self.stdout.write(f"left out: {line}")

    @staticmethod
    def _workspace(options: dict[str, Any]) -> Workspace:
        if not options["workspace"]:
            raise CommandError("--from needs --workspace.")
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        return workspace


def _counts(found: Converted) -> str:
    parts = [f"{found.new} statements"]
    if found.before:
        parts.append(f"{found.before} imported before")
    if found.empty:
        parts.append(f"{found.empty} empty")
    return ", ".join(parts)


def _bar(total: int, unit: str, *, scaled: bool = False) -> Any:
    is_hidden = not total or not sys.stderr.isatty()
    return tqdm(total=total, unit=unit, unit_scale=scaled, disable=is_hidden)
