"""`manage.py evaluate` measures the product on files, in workspaces that never were."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.console.demo.story import STORY
from engram.console.evaluation import (
    agent,
    drift,
    drift_pairs,
    extraction,
    extractors,
    histories,
    judge_bias,
    judging,
    matrix,
    pairs,
    predictor,
    probes,
    retrieval,
    stories,
    transcripts,
    weights,
)
from engram.console.evaluation.baseline import read_baseline, regressions
from engram.console.evaluation.lines import InputError
from engram.console.evaluation.outcome import (
    ModeResult,
    report,
    table,
    write_json,
    write_predictions,
)
from engram.console.evaluation.provenance import provenance

BAD_INPUT = 2

Advance = Callable[[int], object]


class RunFile(Protocol):
    """What a mode with one input file offers."""

    def __call__(self, path: Path, *, seed: int, advance: Advance) -> ModeResult:
        """Measure a file."""


@dataclass(frozen=True)
class FileMode:
    """A mode with one input file."""

    run: RunFile
    size: Callable[[Path], int]  # how many steps it takes
    metavar: str
    question: str
    shipped: Path | None = None  # read when the option names no file
    also_read: tuple[Path, ...] = ()


FILE_MODES: dict[str, FileMode] = {
    "conflicts": FileMode(
        stories.run,
        lambda path: len(stories.read(path)),
        "STORIES",
        "does the detective find what contradicts itself, and only that?",
    ),
    "histories": FileMode(
        histories.run,
        histories.size,
        "HISTORIES",
        "does it flag documents whose status came back, and few others?",
    ),
    "gate": FileMode(
        pairs.run,
        lambda path: len(pairs.read(path)),
        "PAIRS",
        "what does a commit do with a statement near to a stored one?",
    ),
    "drift": FileMode(
        drift.run,
        lambda path: len(drift_pairs.read(path)),
        "PAIRS",
        "does a changed note flag the memories that it no longer carries?",
    ),
    "judge": FileMode(
        judging.run,
        lambda path: len(judging.read(path)),
        "SESSIONS",
        "does the judge tell which memories a session was about, better than a plain cosine?",
    ),
    "extraction": FileMode(
        partial(extraction.measure, by=extractors.RULES),
        lambda path: len(transcripts.read(path)),
        "TRANSCRIPTS",
        "does what is kept of transcripts help later conversations, and is the rest left out?",
    ),
    "probes": FileMode(
        probes.run,
        probes.size,
        "PROBES",
        "does recall find what a team needs, in the demo's story? (default: the shipped probes)",
        shipped=probes.PROBES,
        also_read=(STORY,),
    ),
    "weights": FileMode(
        weights.run,
        probes.size,
        "PROBES",
        "which provenance weights serve best? (default: the shipped probes)",
        shipped=probes.PROBES,
        also_read=(STORY,),
    ),
}


class Command(BaseCommand):
    """Measure, print, write, compare; exit with 1 when a figure fell out of its interval."""

    help = (
        "Measure the product on files, in a scratch workspace that leaves no trace. "
        "Exit code 1: worse than the baseline; 2: a file cannot be read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the modes, of which one is named, and the options."""
        modes = parser.add_mutually_exclusive_group(required=True)
        modes.add_argument(
            "--retrieval",
            nargs=2,
            type=Path,
            metavar=("MEMORIES", "QUESTIONS"),
            help="does recall find what answers a question?",
        )
        modes.add_argument(
            "--matrix",
            nargs=2,
            type=Path,
            metavar=("MEMORIES", "QUESTIONS"),
            help="do links between memories improve recall? with and without reranking",
        )
        for name, mode in FILE_MODES.items():
            modes.add_argument(
                f"--{name}",
                type=Path,
                nargs="?" if mode.shipped else None,
                const=mode.shipped,
                metavar=mode.metavar,
                help=mode.question,
            )
        modes.add_argument(
            "--predictor",
            action="store_true",
            help="how well does the learned ranker rank for a simulated user, and does influence "
            "go to who earned it?",
        )
        parser.add_argument(
            "--seeds",
            type=int,
            default=predictor.SEEDS,
            help="with --predictor: simulated users of each kind (default %(default)s)",
        )
        parser.add_argument(
            "--sessions",
            type=int,
            default=predictor.SESSIONS,
            help="with --predictor: sessions that each lives through (default %(default)s)",
        )
        parser.add_argument(
            "--categories",
            nargs="+",
            default=[],
            metavar="NAME",
            help="with --matrix: only questions of these labels, structures or data sets",
        )
        parser.add_argument(
            "--agent",
            action="store_true",
            help="with --conflicts: a simulated agent answers what commits ask, by the labels",
        )
        parser.add_argument(
            "--answers",
            type=Path,
            metavar="ANSWERS",
            help="with --conflicts: commit each fact with what its writer says that it answers",
        )
        parser.add_argument(
            "--model",
            action="store_true",
            help="with --conflicts: the configured language model reads the stories too; with "
            "--judge it judges the sessions; reports its cost and time",
        )
        parser.add_argument(
            "--orders",
            type=int,
            choices=judge_bias.ORDERS,
            help="with --judge: orders of its memories in which each session is judged, to measure "
            "what a place in the list is worth (default 4)",
        )
        parser.add_argument(
            "--calibrate",
            action="store_true",
            help="with --drift: fit the weights of drift for the embedding model to the pairs, "
            "measure them on pairs left out, and store them in ENGRAM_HOME",
        )
        parser.add_argument(
            "--extractor",
            choices=extractors.EXTRACTORS,
            help="with --extraction: who reads the transcripts (default rules)",
        )
        parser.add_argument(
            "--against",
            choices=extractors.EXTRACTORS,
            help="with --extraction: a second extractor, for the verdict ship or pause",
        )
        parser.add_argument(
            "--prompt",
            type=Path,
            metavar="FILE",
            help="with --extractor model: the instructions in this file instead of the product's",
        )
        parser.add_argument(
            "--against-prompt",
            type=Path,
            metavar="FILE",
            help="with --against model: the instructions that it reads by; with --extractor model "
            "--against model two prompts are compared",
        )
        parser.add_argument("--json", type=Path, metavar="OUT", help="write figures here")
        parser.add_argument(
            "--predictions", type=Path, metavar="OUT", help="write every answer here, a row each"
        )
        parser.add_argument(
            "--baseline", type=Path, metavar="FILE", help="compare with what --json wrote earlier"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (default 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the mode."""
        try:
            stored = read_baseline(options["baseline"]) if options["baseline"] else None
            call_command("migrate", verbosity=0, interactive=False)  # a new home has no tables yet
            found = self._run(options)
            worse = regressions(found, stored) if stored else []
        except InputError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        for sentence in worse:
            self.stderr.write(self.style.ERROR(sentence))
        if worse:
            sys.exit(1)

    def _run(self, options: dict[str, Any]) -> dict[str, Any]:
        """Measure, print and write; return the report."""
        inputs, size, mode = self._mode(options)
        started, now = monotonic(), timezone.now()
        with tqdm(total=size(), unit="row", disable=None) as bar:
            outcome = mode(bar.update)
        came_from = provenance(inputs, now=now, seed=options["seed"])
        content = report(outcome, came_from | {"seconds": round(monotonic() - started, 1)})
        self.stdout.write(table(outcome))
        self.stdout.write(f"{content['provenance']['seconds']} s")
        if options["json"]:
            write_json(options["json"], content)
        if options["predictions"]:
            write_predictions(options["predictions"], outcome.predictions)
        return content

    def _mode(
        self, options: dict[str, Any]
    ) -> tuple[list[Path], Callable[[], int], Callable[[Advance], ModeResult]]:
        """Return the input files of the mode, its number of steps, and what runs it."""
        seed = options["seed"]
        _check_options(options)
        if options["matrix"]:
            memories, questions = options["matrix"]
            return _matrix(memories, questions, options["categories"], seed)
        if options["predictor"]:
            extent = predictor.Extent(options["seeds"], options["sessions"])
            return [], extent.steps, partial(_run_predictor, extent, seed)
        for name, mode in FILE_MODES.items():
            if path := options[name]:
                inputs = [path, *mode.also_read]
                if name == "conflicts" and options["answers"]:
                    inputs.append(options["answers"])
                inputs += filter(None, (options["prompt"], options["against_prompt"]))
                measured = _with_options(name, mode.run, options)
                return inputs, partial(mode.size, path), partial(_run_file, measured, path, seed)
        memories, questions = options["retrieval"]
        return (
            [memories, questions],
            lambda: retrieval.size(memories, questions),
            lambda advance: retrieval.run(memories, questions, seed=seed, advance=advance),
        )


def _check_options(options: dict[str, Any]) -> None:
    """Raise `InputError` for an option without the mode that it goes with."""
    if options["agent"] and not options["conflicts"]:
        raise InputError("--agent goes with --conflicts")
    if options["answers"] and not options["conflicts"]:
        raise InputError("--answers goes with --conflicts")
    if options["model"] and not (options["conflicts"] or options["judge"]):
        raise InputError("--model goes with --conflicts or with --judge")
    if options["model"] and options["agent"]:
        raise InputError("--model does not go with --agent")
    if options["orders"] and not options["judge"]:
        raise InputError("--orders goes with --judge")
    if (options["extractor"] or options["against"]) and not options["extraction"]:
        raise InputError("--extractor and --against go with --extraction")
    if options["prompt"] and options["extractor"] != extractors.MODEL:
        raise InputError("--prompt goes with --extractor model")
    if options["against_prompt"] and options["against"] != extractors.MODEL:
        raise InputError("--against-prompt goes with --against model")
    if options["calibrate"] and not options["drift"]:
        raise InputError("--calibrate goes with --drift")
    if options["categories"] and not options["matrix"]:
        raise InputError("--categories goes with --matrix")


def _with_options(name: str, run: RunFile, options: dict[str, Any]) -> RunFile:
    """Return what runs a mode with its own options."""
    if name == "conflicts" and options["agent"]:
        return partial(agent.run, answers=options["answers"])
    if name == "conflicts" and (options["answers"] or options["model"]):
        return partial(stories.run, answers=options["answers"], with_model=options["model"])
    if name == "judge":
        orders = options["orders"] or max(judge_bias.ORDERS)
        return partial(judging.run, with_model=options["model"], orders=orders)
    if name == "drift":
        return partial(drift.run, calibrated_at=timezone.now() if options["calibrate"] else None)
    if name == "extraction":
        by = extractors.extractor(options["extractor"] or "rules", options["prompt"])
        other = options["against"]
        against = extractors.extractor(other, options["against_prompt"]) if other else None
        return partial(extraction.measure, by=by, against=against)
    return run


def _matrix(
    memories: Path, questions: Path, categories: list[str], seed: int
) -> tuple[list[Path], Callable[[], int], Callable[[Advance], ModeResult]]:
    return (
        [memories, questions],
        lambda: matrix.size(memories, questions, categories),
        lambda advance: matrix.run(
            memories, questions, categories=categories, seed=seed, advance=advance
        ),
    )


def _run_predictor(extent: predictor.Extent, seed: int, advance: Advance) -> ModeResult:
    return predictor.run(extent, seed=seed, advance=advance)


def _run_file(run: RunFile, path: Path, seed: int, advance: Advance) -> ModeResult:
    return run(path, seed=seed, advance=advance)
