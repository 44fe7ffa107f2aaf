"""How does Engram compare with what a user would pick instead, with the same embedding?

    make peers BENCH_SIZE=full DATA=FOLDER
    BENCH_SIZE=full PYTHONPATH=. .venv-peers/bin/python benchmarks/peers.py --data FOLDER
        [--only speed|locomo|relations|stories] [--json OUT]

Peers: mem0 without a language model, on its default store and on pgvector; Chroma; LangGraph's
store on PostgreSQL. Those that are not installed are left out. All are called as libraries, Engram
as a service call and over HTTP to a process of its own. Databases of all lie on one PostgreSQL
server, and files of all on one disk. Calls take turns, so that each meets the same machine. FOLDER
holds `public/locomo_*.jsonl`, `relation_pairs.jsonl`, `conflict_stories*.jsonl`; at toy size a few
sentences replace it. `--json` keeps the parts of an existing file that were not measured again.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.utils import timezone

from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.peers import (
    PACKAGES,
    locomo,
    missing_packages,
    relations,
    speed,
    stories,
    toy,
)
from engram.console.evaluation.provenance import provenance

SIZES, ROUNDS = ((1_000, 20_000), 150) if IS_FULL else ((60,), 3)
PAIRS_EACH = 100 if IS_FULL else 2
STORIES = None if IS_FULL else 2

Part = Callable[[Path], dict[str, Any]]
Rows = Mapping[str, Mapping[str, Any]]


def measure_speed(_data: Path) -> dict[str, Any]:
    """Measure each size."""
    found = {}
    for size in SIZES:
        found[f"{size:,}"] = speed.measure(size, rounds=ROUNDS)
        print_part("speed", {f"{size:,}": found[f"{size:,}"]})
    return found


def measure_locomo(data: Path) -> dict[str, Any]:
    """Measure retrieval."""
    public = data / "public"
    return locomo.measure(public / "locomo_memories.jsonl", public / "locomo_questions.jsonl")


def measure_relations(data: Path) -> dict[str, Any]:
    """Measure what becomes of related statements."""
    return relations.measure(data / "relation_pairs.jsonl", each=PAIRS_EACH)


def measure_stories(data: Path) -> dict[str, Any]:
    """Measure each file of stories."""
    files = sorted(data.glob("conflict_stories*.jsonl"))
    return {path.stem: stories.measure(path, most=STORIES) for path in files}


PARTS: dict[str, Part] = {
    "speed": measure_speed,
    "locomo": measure_locomo,
    "relations": measure_relations,
    "stories": measure_stories,
}


def print_part(part: str, result: Mapping[str, Any]) -> None:
    """Print the tables of a part."""
    if part == "speed":
        for size, found in result.items():
            for call in ("recall", "commit"):
                print_rows(f"{call} at {size}", found[call])
            print(f"loaded a second: {found['loaded_a_second']}; load {found['load_average']}")
    elif part == "locomo":
        means = {n: {m: round(f["mean"], 3) for m, f in r.items()} for n, r in result.items()}
        print_rows("LoCoMo", means)
    elif part == "relations":
        for label in next(iter(result.values())):
            print_rows(label, {name: found[label] for name, found in result.items()})
    else:
        for name, rows in result.items():
            print_rows(name, {peer: _flat(row) for peer, row in rows.items()})


def print_rows(title: str, rows: Rows) -> None:
    """Print a table; a dash stands for what a peer cannot be asked."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    print(f"\n{title:<24}" + "".join(f"{name:>18}" for name in names))
    for name, row in rows.items():
        cells = ("-" if row.get(column) is None else row[column] for column in names)
        print(f"{name:<24}" + "".join(f"{cell:>18}" for cell in cells))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    cards = row["cards"] or {}
    return {name: value for name, value in row.items() if name != "cards"} | {
        f"cards: {name}": round(figure["mean"], 3) for name, figure in cards.items()
    }


@contextmanager
def data_folder(given: Path | None) -> Iterator[Path]:
    """Yield the folder of the input files."""
    if given is not None:
        yield given
    elif IS_FULL:
        raise SystemExit("--data FOLDER is needed at full size")
    else:
        with TemporaryDirectory() as folder:
            toy.write(Path(folder, "data"))
            yield Path(folder, "data")


def main() -> None:
    """Run the selected parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", action="append", choices=PARTS, help="may be repeated")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    missing = missing_packages()
    if missing:
        print(f"not installed: {', '.join(missing)} (make peers-venv); left out")
    known = options.json and options.json.exists()
    result: dict[str, Any] = json.loads(options.json.read_text()) if known else {}
    result |= {"benchmark": "peers", "size": "full" if IS_FULL else "toy"}
    with data_folder(options.data) as data, own_database():
        for part in options.only or PARTS:
            found = PARTS[part](data)
            if part != "speed":  # which prints each size
                print_part(part, found)
            inputs = sorted(path for path in data.rglob("*.jsonl") if _is_input(part, path))
            origin = provenance(inputs, now=timezone.now(), seed=0)
            origin["versions"] |= {
                package: version(package) for package in PACKAGES.values() if package not in missing
            }
            result[part] = {"rows": found, "provenance": origin}
            if options.json:  # a later part may fail
                options.json.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result | {"load_average": [round(load, 2) for load in os.getloadavg()]}))


def _is_input(part: str, path: Path) -> bool:
    wanted = {"locomo": "locomo_", "relations": "relation_pairs", "stories": "conflict_stories"}
    return part in wanted and path.name.startswith(wanted[part])


if __name__ == "__main__":
    main()
