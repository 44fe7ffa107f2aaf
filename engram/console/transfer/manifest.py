"""The manifest of an archive: what it holds, and whether this installation can read it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Annotated, Any, Literal
from uuid import UUID

from django.conf import settings
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

FORMAT = "engram-archive"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
APPS = ("kernel", "memories", "conflicts", "predictor", "console")
# Migrations that only add: rows of before them need no change.
ADDING = (
    operations.CreateModel,
    operations.AddField,
    operations.AddIndex,
    operations.RemoveIndex,
    operations.AddConstraint,
    operations.AlterModelOptions,
)

Text = Annotated[str, Field(max_length=500)]
Count = Annotated[int, Field(ge=0)]


class ArchiveError(ValueError):
    """An archive that cannot be read, or not imported here; the message says why."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ArchivedFile(_Part):
    """One file: the rows of one table, one JSON object a line."""

    table: Text
    path: Text
    columns: list[Text]
    rows: Count
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ArchivedWorkspace(_Part):
    """A workspace and its files, in the order in which their rows can be inserted.

    `training_due` is why its ranker was due for training; "" when it was not.
    """

    id: UUID
    slug: Annotated[str, Field(pattern=r"^[-a-zA-Z0-9_]{1,64}$")]
    name: Annotated[str, Field(min_length=1, max_length=120)]
    settings: dict[str, Any]
    embedding_model: Annotated[str, Field(min_length=1, max_length=120)]
    embedding_changed_at: AwareDatetime | None
    created_at: AwareDatetime
    training_due: Text
    files: list[ArchivedFile]

    @property
    def rows(self) -> int:
        """Return the number of rows of all its files."""
        return sum(file.rows for file in self.files)


class Manifest(_Part):
    """All that an archive says about itself; `migrations` are the last ones of each package."""

    format: Literal["engram-archive"]
    format_version: int
    product_version: Text
    created_at: AwareDatetime
    vectors: bool
    migrations: dict[str, str]
    workspaces: list[ArchivedWorkspace]

    @property
    def paths(self) -> list[str]:
        """Return the paths of all files."""
        return [file.path for workspace in self.workspaces for file in workspace.files]


def path_of(slug: str, table: str) -> str:
    """Return where an archive holds the rows of a table."""
    return f"{slug}/{table}.jsonl"


def product_version() -> str:
    """Return the version of this source."""
    text = (settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def migration_state() -> dict[str, str]:
    """Return the last migration of each package of this source."""
    leaves = MigrationLoader(None).graph.leaf_nodes()
    return {app: name for app, name in leaves if app in APPS}


def read_manifest(value: Any) -> Manifest:
    """Return the manifest that JSON holds; raise `ArchiveError` unless it can be read here."""
    found = value.get("format_version") if isinstance(value, dict) else None
    if isinstance(found, int) and found > FORMAT_VERSION:
        raise ArchiveError(
            f"The archive has the format {found}; this version reads up to {FORMAT_VERSION}. "
            "Import it with the version that made it, or a newer one."
        )
    try:
        manifest = Manifest.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ArchiveError(f"The manifest is not valid: {place}: {first['msg']}.") from None
    if manifest.format_version != FORMAT_VERSION:
        raise ArchiveError(f"The archive has an unknown format: {manifest.format_version}.")
    _check_migrations(manifest)
    _check_places(manifest)
    return manifest


def _check_places(manifest: Manifest) -> None:
    slugs = [workspace.slug for workspace in manifest.workspaces]
    if not slugs or len(set(slugs)) < len(slugs):
        raise ArchiveError("The manifest names no workspace, or one twice.")
    for workspace in manifest.workspaces:
        labels = [file.table for file in workspace.files]
        if len(set(labels)) < len(labels):
            raise ArchiveError(f"The manifest names a table of {workspace.slug} twice.")
        for file in workspace.files:
            if file.path != path_of(workspace.slug, file.table):
                raise ArchiveError(f"The manifest names a path that is not allowed: {file.path!r}.")


def _check_migrations(manifest: Manifest) -> None:
    """Refuse archives of newer versions, and of older ones whose rows would need a change."""
    graph = MigrationLoader(None).graph
    by = f"The archive was made by version {manifest.product_version}"
    for app, ours in sorted(migration_state().items()):
        theirs = manifest.migrations.get(app, "")
        if (app, theirs) not in graph.nodes:
            raise ArchiveError(
                f"{by}, whose migration {app}.{theirs or '?'} this version does not have: upgrade "
                "this installation, then import it."
            )
        before = set(graph.forwards_plan((app, theirs)))
        since = [node for node in graph.forwards_plan((app, ours)) if node not in before]
        for node in since:
            if node[0] == app and not _only_adds(graph.nodes[node].operations):
                raise ArchiveError(
                    f"{by}, before {app}.{node[1]}, which changes rows. Import it with that "
                    "version, upgrade that installation, and export it there again."
                )


def _only_adds(steps: Iterable[Any]) -> bool:
    return all(
        isinstance(step, ADDING)
        or (isinstance(step, operations.RunSQL) and "ROW LEVEL SECURITY" in str(step.sql))
        for step in steps
    )
