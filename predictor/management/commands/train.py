"""Train a workspace's ranker in this process."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError
from engram.kernel.tenancy import in_workspace
from predictor.core.gates import Gate
from predictor.models import Training, TrainingStatus
from predictor.services.models import checkpoint_file, store, transfer
from predictor.services.training.learn import TrainingResult
from predictor.services.training.material import Material
from predictor.services.training.promote import figures
from predictor.services.training.train import train_now, trial

NOT_TRAINED, BAD_INPUT, REJECTED = 1, 2, 3


def workspace_of(slug: str) -> Workspace:
    """Return the workspace of a slug, or end the command."""
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is None:
        raise CommandError(f"There is no workspace {slug!r}.", returncode=BAD_INPUT)
    return workspace


class Command(BaseCommand):
    """`manage.py train --workspace W [--full] [--dry-run] [--seed N] [--base-weights FILE]`."""

    help = (
        "Train a workspace's ranker and let it serve when every gate is passed. Ends with 0 when"
        " it serves (or would), 3 when a gate held it back, 2 when the input is wrong, else 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--workspace", required=True, help="its slug")
        parser.add_argument(
            "--full",
            action="store_true",
            help="learn from all sessions; else from the newest 80 and the 20 best before",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="learn and ask the gates, change nothing"
        )
        parser.add_argument("--seed", type=int, help="to learn the same again from the same data")
        parser.add_argument(
            "--base-weights",
            type=Path,
            metavar="FILE",
            help="a checkpoint that this and all later trainings start from; implies --full",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Train and print the result."""
        workspace = workspace_of(options["workspace"])
        if workspace.config.predictor_mode == "off":
            raise CommandError("The predictor is off in this workspace.", returncode=BAD_INPUT)
        seed = options["seed"]
        if seed is not None and not 0 <= seed < 2**62:
            raise CommandError("--seed: a number from 0 to 2^62 - 1.", returncode=BAD_INPUT)
        if options["base_weights"] is not None:
            self._take_base(workspace, options["base_weights"], is_dry=options["dry_run"])
        with in_workspace(workspace):
            unread = store.describe_unreadable_base(workspace.embedding_model)
        if unread:
            self.stdout.write(unread)
        is_full = options["full"] or options["base_weights"] is not None
        reason = "full" if is_full else "manual"
        if options["dry_run"]:
            self._try(workspace, reason, seed)
        else:
            self._train(workspace, reason, seed)

    def _take_base(self, workspace: Workspace, path: Path, *, is_dry: bool) -> None:
        if is_dry:
            raise CommandError("--base-weights would be stored: not with --dry-run.", returncode=2)
        try:
            version = transfer.import_checkpoint(
                workspace,
                checkpoint_file.read(path).to_bytes(),
                is_base=True,
                actor=SYSTEM,
                now=timezone.now(),
            )
        except RefusalError as error:
            raise CommandError(error.detail, returncode=BAD_INPUT) from None
        self.stdout.write(f"base weights    {version}, sha256 {version.sha256}")

    def _try(self, workspace: Workspace, reason: str, seed: int | None) -> None:
        seed = int(np.random.default_rng().integers(2**62)) if seed is None else seed
        material, result = trial(workspace, reason=reason, seed=seed, now=timezone.now())
        self._show_trial(material, result, seed)
        if not result.gates:
            raise CommandError("There is nothing to learn from.", returncode=NOT_TRAINED)
        if not result.may_serve:
            raise CommandError("A gate would hold it back.", returncode=REJECTED)
        self.stdout.write("It would serve. Nothing was changed.")

    def _train(self, workspace: Workspace, reason: str, seed: int | None) -> None:
        training = train_now(
            workspace, reason=reason, clock=timezone.now, rng=np.random.default_rng(), seed=seed
        )
        if training is None:
            raise CommandError("A training of it is on its way.", returncode=NOT_TRAINED)
        self._show(training)
        if training.status == TrainingStatus.REJECTED:
            raise CommandError("A gate held it back; the model before serves.", returncode=REJECTED)
        if training.status != TrainingStatus.PROMOTED:
            message = f"{TrainingStatus(training.status).label}: {training.error}"
            raise CommandError(message, returncode=NOT_TRAINED)
        self.stdout.write(f"model_v{training.version} serves.")

    def _show(self, training: Training) -> None:
        self._lines(
            {
                "training": training.pk,
                "reason": training.reason,
                "seed": training.seed,
                "sessions": f"{training.session_count} ({training.replay_count} replayed,"
                f" {training.skipped_count} skipped)",
                "labels": training.label_count,
                "loss": training.loss,
                "canary sessions": training.canary_count,
                "nDCG@10 before": training.canary_ndcg_before,
                "nDCG@10 after": training.canary_ndcg,
                "top-5 changed": training.canary_topk_churn,
                "processor ms": training.cpu_ms,
            }
        )
        self._gates([Gate(**gate) for gate in training.gates])

    def _show_trial(self, material: Material, result: TrainingResult, seed: int) -> None:
        canary = figures(result)
        skipped = material.skipped + (result.report.samples_skipped if result.report else 0)
        self._lines(
            {
                "seed": seed,
                "sessions": f"{len(material.sessions)} ({material.replay_count} replayed,"
                f" {skipped} skipped)",
                "labels": material.label_count,
                "loss": result.report.loss if result.report else None,
                "canary sessions": len(material.canary),
                "nDCG@10 before": canary["canary_ndcg_before"],
                "nDCG@10 after": canary["canary_ndcg"],
                "top-5 changed": canary["canary_topk_churn"],
                "processor ms": round(result.cpu_seconds * 1000),
            }
        )
        self._gates(result.gates)

    def _lines(self, rows: dict[str, object]) -> None:
        for name, value in rows.items():
            shown = "none" if value is None else value
            self.stdout.write(
                f"{name:16}{shown:.4f}" if isinstance(shown, float) else f"{name:16}{shown}"
            )

    def _gates(self, gates: list[Gate]) -> None:
        for gate in gates:
            verdict = "passed" if gate.is_passed else "FAILED"
            self.stdout.write(f"gate {gate.name:11}{verdict}: {gate.detail}")
