"""Import memories from JSON Lines."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rest_framework.exceptions import APIException, ValidationError
from tqdm import tqdm

from engram.kernel.bodies import validate
from engram.kernel.credentials import credential_in
from engram.kernel.embedding import use_processors
from engram.kernel.models import Workspace
from engram.kernel.parsing import parse_json
from engram.kernel.problems import field_errors
from memories.serializers import DraftSerializer
from memories.services.commit.draft import Draft
from memories.services.commit.import_lines import LineError, check, import_file


def parse_line(line: str) -> Draft:
    """Return the draft that a line holds, or raise `LineError` with what is wrong."""
    try:
        serializer = validate(DraftSerializer, parse_json(line))
    except ValidationError as error:
        problems = (f"{e['field']}: {e['message']}".strip(": ") for e in field_errors(error.detail))
        raise LineError("; ".join(problems)) from None
    except APIException as error:
        raise LineError(str(error.detail)) from None
    draft = serializer.as_draft()
    for name, text in draft.texts():
        if found := credential_in(text):
            raise LineError(f"{name}: This looks like {found}; secrets are not stored.")
    return draft


class Command(BaseCommand):
    """`manage.py import_memories FILE.jsonl --workspace W [--no-detect]`."""

    help = (
        "Import memories from a JSON Lines file, one commit a line with the fields of "
        "POST /memories. The file is checked whole before anything is written; an interrupted "
        "import goes on where it stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE.jsonl")
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument(
            "--no-detect", action="store_true", help="do not let the detective read the memories"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the file, then import it."""
        path: Path = options["file"]
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        try:
            count, errors = check(path, parse_line)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        if errors:
            raise CommandError("Nothing was imported.\n" + "\n".join(errors))
        use_processors()
        with tqdm(total=count, unit=" lines", disable=not sys.stderr.isatty()) as bar:
            try:
                done = import_file(
                    workspace,
                    path,
                    parse_line,
                    clock=timezone.now,
                    is_detected=not options["no_detect"],
                    advance=bar.update,
                )
            except LineError as error:
                raise CommandError(str(error)) from None
            except KeyboardInterrupt:
                raise CommandError("Interrupted; run the same command to go on.") from None
        summary = ", ".join(f"{n} {outcome}" for outcome, n in sorted(done.outcomes.items()))
        if done.skipped_lines:
            self.stdout.write(f"{done.skipped_lines} lines were imported before.")
        self.stdout.write(f"{done.lines} lines imported" + (f": {summary}." if summary else "."))
