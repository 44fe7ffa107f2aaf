"""The manifest of a backup: what it holds, and whether this version can restore it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.db.migrations.loader import MigrationLoader
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

FORMAT: Literal["engram-backup"] = "engram-backup"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
HomeFile = Literal["secret_key", "demo.json", "drift_calibrations.json"]
HOME_FILES: tuple[HomeFile, ...] = (
    "secret_key",
    "demo.json",
    "drift_calibrations.json",
)

Node = tuple[str, str]  # a package and one of its migrations
Count = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
Text = Annotated[str, Field(max_length=500)]


class BackupError(ValueError):
    """A backup that cannot be made, read or restored; the message says why."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoredTable(_Part):
    """The rows of a table in PostgreSQL's text format, ordered by its key."""

    name: Name
    columns: list[Name]
    rows: Count
    bytes: Count
    sha256: Digest

    @property
    def path(self) -> str:
        """Return where the archive holds it."""
        return f"tables/{self.name}.copy"


class StoredFile(_Part):
    """A file of the home."""

    name: HomeFile
    bytes: Annotated[int, Field(ge=0, le=2**20)]
    sha256: Digest

    @property
    def path(self) -> str:
        """Return where the archive holds it."""
        return f"home/{self.name}"


class StoredSequence(_Part):
    """The state of a sequence."""

    name: Name
    last_value: int
    is_called: bool


class Manifest(_Part):
    """All that a backup says about itself; `migrations` are all that were applied."""

    format: Literal["engram-backup"]
    format_version: int
    product_version: Text
    server_version: Text
    created_at: AwareDatetime
    workspaces: Count
    migrations: list[tuple[Text, Text]]
    tables: list[StoredTable]
    sequences: list[StoredSequence]
    files: list[StoredFile]

    @property
    def members(self) -> list[StoredTable | StoredFile]:
        """Return all that the archive holds beside the manifest."""
        return [*self.tables, *self.files]

    @property
    def rows(self) -> int:
        """Return the number of rows of all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def bytes(self) -> int:
        """Return the number of bytes of all members, before compression."""
        return sum(member.bytes for member in self.members)


def read_manifest(value: Any) -> Manifest:
    """Return the manifest that JSON holds; raise `BackupError` unless it can be restored here."""
    found = value.get("format_version") if isinstance(value, dict) else None
    if isinstance(found, int) and found > FORMAT_VERSION:
        raise BackupError(
            f"The backup has the format {found}; this version reads up to {FORMAT_VERSION}. "
            "Restore it with the version that made it, or a newer one."
        )
    try:
        manifest = Manifest.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BackupError(f"The manifest is not valid: {place}: {first['msg']}.") from None
    paths = [member.path for member in manifest.members]
    if len(set(paths)) < len(paths):
        raise BackupError("The manifest names a table or file twice.")
    applied_nodes(manifest)
    return manifest


def applied_nodes(manifest: Manifest) -> set[Node]:
    """Return the migrations of this version that were applied to what was backed up.

    Raise `BackupError` when others were, or only some of those that a squashed one replaces.
    """
    loader = MigrationLoader(None, replace_migrations=False)
    disk = loader.disk_migrations
    replaced = {step for migration in disk.values() for step in migration.replaces}
    applied = {(app, name) for app, name in manifest.migrations}
    by = f"The backup was made by version {manifest.product_version}"
    if unknown := sorted(applied - set(disk) - replaced):
        app, name = unknown[0]
        raise BackupError(
            f"{by}, whose migration {app}.{name} this version does not have. Restore it with "
            "that version or a newer one."
        )
    whole = {node for node, migration in disk.items() if applied.issuperset(migration.replaces)}
    nodes = {node for node in disk if node in applied or (disk[node].replaces and node in whole)}
    covered = {step for node in nodes for step in disk[node].replaces}
    if cut := sorted(applied - nodes - covered):
        app, name = cut[0]
        raise BackupError(
            f"{by}, at its migration {app}.{name}, which this version has only as part of a "
            "later one. Restore it with that version, and upgrade it there."
        )
    return nodes
