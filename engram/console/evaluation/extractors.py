"""What reads the transcripts of an evaluation: the rules, the model by some prompt, or a part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from engram.console.evaluation.lines import InputError
from engram.console.evaluation.model_cost import require_model
from engram.console.scratch import EVALUATOR
from engram.kernel import job_queue
from engram.kernel.models import Job, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.extraction.describing import Describing
from memories.core.extraction.extract import extract
from memories.core.extraction.prompt import PROMPT, Prompt
from memories.models import Extraction
from memories.services.extraction import ask_model, run
from memories.services.extraction.queue import KIND, queue_transcript
from memories.services.extraction.write import TranscriptReading, write_reading

NOW: Final = datetime(2025, 1, 1, tzinfo=UTC)
MODEL: Final = "model"

Read = Callable[[Workspace, Job, str], TranscriptReading]


def _read_by_rules(workspace: Workspace, job: Job, transcript: str) -> TranscriptReading:
    return run.read_by_rules(Describing(transcript))


def _with_worth(worth: float) -> Read:
    def read_all(workspace: Workspace, job: Job, transcript: str) -> TranscriptReading:
        found = extract(transcript, lambda _: worth)
        return TranscriptReading(transcript, found.kept, found.refused)

    return read_all


# By name: the rules in use, and two that show what each part is worth.
_WITHOUT_MODEL: Final[Mapping[str, Read]] = {
    "rules": _read_by_rules,
    "floor": _with_worth(1.0),  # everything that no rule bars
    "requests": _with_worth(0.0),  # only what the user asks to remember
}
EXTRACTORS: Final = (*_WITHOUT_MODEL, MODEL)


@dataclass(frozen=True, slots=True)
class Extractor:
    """An extractor by its name; the model has a prompt, read from a file or the product's own."""

    name: str
    prompt: Prompt | None = None

    @property
    def details(self) -> dict[str, str] | None:
        """Return by which prompt it reads, with its checksum; None where it has none."""
        if self.prompt is None:
            return None
        checksum = hashlib.sha256(self.prompt.instructions.encode()).hexdigest()
        return {"prompt": self.prompt.version, "sha256": checksum}

    def read(self, workspace: Workspace, job: Job, transcript: str) -> TranscriptReading:
        """Read a transcript as a worker does at the last attempt, when rules take over."""
        if self.prompt is None:
            return _WITHOUT_MODEL[self.name](workspace, job, transcript)
        job.attempts = ask_model.MODEL_ATTEMPTS
        return ask_model.read_by_model(
            workspace, job, transcript, clock=lambda: NOW, prompt=self.prompt
        )


RULES: Final = Extractor("rules")


def extractor(name: str, prompt: Path | None = None) -> Extractor:
    """Return an extractor; raise `InputError` where it cannot be used, or not with this prompt."""
    if name not in EXTRACTORS:
        raise InputError(f"no extractor is called {name}; known: {', '.join(EXTRACTORS)}")
    if name != MODEL:
        return Extractor(name)
    found = PROMPT if prompt is None else Prompt(_read_prompt(prompt), prompt.name)
    require_model(f"the extractor {MODEL}")
    return Extractor(name, found)


def _read_prompt(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text") from error
    if not text.strip():
        raise InputError(f"{path}: holds no instructions")
    return text


def extract_into(workspace: Workspace, transcript: str, by: Extractor) -> Mapping[str, Any]:
    """Queue a transcript and do the job, as a worker does; return its result."""
    queued = queue_transcript(workspace, transcript, actor=EVALUATOR, now=NOW)
    job = job_queue.acquire(workspace, KIND, NOW)
    assert job is not None  # noqa: S101  it was just queued, and nobody else sees it
    with in_workspace(workspace):
        extraction = Extraction.objects.get(pk=queued.pk)
    reading = by.read(workspace, job, extraction.transcript)
    write_reading(workspace, job, extraction, reading, actor=EVALUATOR, now=NOW)
    with in_workspace(workspace):
        result: Mapping[str, Any] = Job.objects.values_list("result", flat=True).get(pk=job.pk)
    return result
