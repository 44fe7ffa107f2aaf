"""Compose texts of other kinds from public sets, for `evaluate --retrieval`.

    python -m benchmarks.ground.texts PUBLIC_FOLDER OUT_FOLDER

Reads LoCoMo (turns, observations, questions) and passages with their questions, as JSON Lines, and
writes `KIND_memories.jsonl` and `KIND_questions.jsonl` for each kind:

turns6, turns20  the turns of 6 or 20 in a row, joined for each speaker: long turns of a chat
facts            one observation a memory; half of them within 600 to 6,000 characters of passages
sessions         the same, eight in a session that have nothing to do with each other
documents        ten passages a memory, cut at 8,000 characters

The memories that hold a question's answer are its gold ones, wherever in the text that stands.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count, groupby
from pathlib import Path
from typing import Any

MAX_CHARS = 8_000
FILLER_CHARS = (600, 1_500, 3_000, 6_000)
SESSION = 8
PASSAGES = 10

Row = dict[str, Any]
Kind = tuple[list[Row], list[Row]]


def main(public: Path, out: Path) -> None:
    """Write all kinds."""
    turns, observations, asked, passages, hops = (
        read(public / f"{name}.jsonl")
        for name in (
            "locomo_memories", "locomo_observations", "locomo_questions",
            "multihop_passages", "multihop_questions",
        )
    )  # fmt: skip
    facts = compose_facts(observations, asked, passages, random.Random(9))
    kinds = {
        "turns6": join_turns(turns, asked, 6),
        "turns20": join_turns(turns, asked, 20),
        "facts": facts,
        "sessions": (put_in_sessions(facts[0], random.Random(3)), facts[1]),
        "documents": join_passages(passages, hops, random.Random(5)),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, (memories, questions) in kinds.items():
        write(out / f"{name}_memories.jsonl", memories)
        write(out / f"{name}_questions.jsonl", questions)


def join_turns(turns: Iterable[Row], asked: Iterable[Row], most: int) -> Kind:
    """Join the turns of each speaker among `most` turns in a row."""
    memories: list[Row] = []
    holder: dict[str, str] = {}
    numbers = count()
    for _, session in groupby(turns, key=lambda turn: (turn["conv"], turn["session"])):
        for part in batches(list(session), most):
            for speaker in dict.fromkeys(turn["speaker"] for turn in part):
                own = [turn for turn in part if turn["speaker"] == speaker]
                holder |= {turn["id"]: own[0]["id"] for turn in own}
                pictures = (
                    f" [shares image: {turn['caption']}]" if turn.get("caption") else ""
                    for turn in own
                )
                said = zip((turn["text"] for turn in own), pictures, strict=True)
                text = " ".join(words + picture for words, picture in said)
                kept = {key: own[0][key] for key in ("id", "conv", "session", "time", "speaker")}
                memories.append(kept | {"seq": next(numbers), "text": text[:MAX_CHARS]})
    return memories, [with_gold(question, holder) for question in asked]


def compose_facts(
    observations: Iterable[Row], asked: Iterable[Row], passages: Iterable[Row], rng: random.Random
) -> Kind:
    """Put every second observation within passages, at a random place."""
    filler = [passage["text"] for passage in passages]
    rng.shuffle(filler)
    memories: list[Row] = []
    holders: dict[str, list[str]] = defaultdict(list)
    for number, observation in enumerate(observations):
        text = observation["text"]
        if number % 2:
            parts: list[str] = []
            size = rng.choice(FILLER_CHARS)
            while sum(map(len, parts)) < size:
                parts.append(filler.pop())
            parts.insert(rng.randrange(len(parts) + 1), text)
            joined = " ".join(parts)
            text = joined if len(joined) <= MAX_CHARS else text
        name = f"{observation['conv']}/{number}"
        speaker = observation["speaker"]
        memories.append({"id": name, "conv": observation["conv"], "seq": number} | {
            "speaker": speaker, "text": text,
        })  # fmt: skip
        for turn in observation["source"]:
            holders[turn].append(name)
    questions = [
        question | {"gold": sorted({name for turn in question["gold"] for name in holders[turn]})}
        for question in asked
    ]
    return memories, questions


def put_in_sessions(memories: Iterable[Row], rng: random.Random) -> list[Row]:
    """Return the memories in sessions of eight, in random order."""
    by_group: dict[str, list[Row]] = defaultdict(list)
    for memory in memories:
        by_group[memory["conv"]].append(memory)
    found = []
    for rows in by_group.values():
        rng.shuffle(rows)
        for number, row in enumerate(rows):
            session = str(number // SESSION)
            time = f"2025-01-01T{number // SESSION // 60:02}:{number // SESSION % 60:02}:00Z"
            found.append(row | {"seq": number, "session": session, "time": time})
    return found


def join_passages(passages: Iterable[Row], asked: Iterable[Row], rng: random.Random) -> Kind:
    """Join ten random passages of a data set."""
    by_group: dict[str, list[Row]] = defaultdict(list)
    for passage in passages:
        by_group[passage["ds"]].append(passage)
    memories: list[Row] = []
    holder: dict[str, str] = {}
    for name, rows in by_group.items():
        rng.shuffle(rows)
        for number, part in enumerate(batches(rows, PASSAGES)):
            document, text = f"{name}/document{number}", ""
            for passage in part:
                text += f"{passage.get('title') or ''}. {passage['text']}\n\n"
                if len(text) <= MAX_CHARS:
                    holder[passage["id"]] = document
            memories.append({"id": document, "ds": name, "text": text[:MAX_CHARS]})
    return memories, [with_gold(question, holder) for question in asked]


def batches(rows: list[Row], size: int) -> Iterator[list[Row]]:
    """Yield rows in order, `size` at a time."""
    return (rows[start : start + size] for start in range(0, len(rows), size))


def with_gold(question: Row, holder: dict[str, str]) -> Row:
    """Return a question with the memories that hold its gold texts."""
    return question | {"gold": sorted({holder[i] for i in question["gold"] if i in holder})}


def read(path: Path) -> list[Row]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write JSON Lines."""
    path.write_text("".join(f"{line}\n" for line in _lines(rows)))


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) for row in rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
