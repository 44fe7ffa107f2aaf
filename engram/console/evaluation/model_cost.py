"""What a language model takes to read the stories of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from conflicts.core.model_prompt import PROMPT_VERSION
from conflicts.models import DetectionRun
from engram.console.evaluation.lines import InputError
from engram.console.evaluation.outcome import ModeResult
from engram.kernel import llm
from memories.core import answer_prompt


def require_model(who: str = "--model") -> None:
    """Raise `InputError` when no model is configured."""
    if not llm.model_name():
        raise InputError(
            f"{who} needs an endpoint: set OPENAI_BASE_URL (any server with OpenAI's protocol)"
            " or OPENAI_API_KEY, and ENGRAM_MODEL to the model's name"
        )


@dataclass(slots=True)
class ModelCost:
    """What the answers and the narrative pass took over all stories."""

    batches: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0

    @classmethod
    def begin(cls) -> Self:
        """Return an account; raise `InputError` when no model is configured."""
        require_model()
        return cls()

    def add(self, runs: Iterable[DetectionRun]) -> None:
        """Add the runs about a story."""
        for run in runs:
            self.batches += run.batches
            self.tokens += run.tokens
            self.cost_usd += run.cost_usd
            self.seconds += run.duration_seconds or 0.0

    def added_to(self, found: ModeResult) -> ModeResult:
        """Return a result with the cost among its details."""
        took = {
            "model": llm.model_name(),
            "prompt": PROMPT_VERSION,
            "prompt of answers": answer_prompt.PROMPT_VERSION,
            "model batches": self.batches,
            "model tokens": self.tokens,
            "model cost in US dollars": round(self.cost_usd, 4),
            "model seconds": round(self.seconds, 1),
        }
        return replace(found, mode=f"{found.mode} with a model", details={**found.details, **took})
