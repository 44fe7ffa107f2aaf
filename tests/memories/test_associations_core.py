"""Entities of texts, and activation that spreads: pure functions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core import associations as core
from memories.core.co_recall import decayed
from memories.core.entities import ENTITIES_MAX, KEY_MAX_CHARS, entities, longest, named_in
from memories.core.graph_effect import Structure, Verdict, structure_of, verdict_of
from memories.core.metrics import Interval
from memories.core.spreading import Node, Weights, spread

NODES = [Node("memory", str(number)) for number in range(8)]
WEIGHTS = st.dictionaries(st.sampled_from(NODES), st.floats(0, 1), max_size=5)
GRAPHS = st.dictionaries(st.sampled_from(NODES), WEIGHTS, max_size=8)
RESTARTS = st.dictionaries(st.sampled_from(NODES), st.floats(0, 1), min_size=1, max_size=4)


def scaled(weights: dict[Node, float]) -> dict[Node, float]:
    """Weights that add up to at most 1."""
    total = max(1.0, sum(weights.values()))
    return {node: weight / total for node, weight in weights.items()}


def read(graph: dict[Node, dict[Node, float]], nodes: Collection[Node]) -> dict[Node, Weights]:
    return {node: scaled(graph[node]) for node in nodes if node in graph}


@pytest.mark.parametrize(
    ("text", "about", "named"),
    [
        ("Orders runs on Postgres 16 in eu-west-1.", {"orders"}, {"postgres 16", "eu-west-1"}),
        ("The Harbour Cafe opens at nine.", {"harbour cafe"}, set()),
        ("We moved the deploy script to ci/deploy.sh", set(), {"ci/deploy.sh"}),
        (
            "Payroll: Ingrid de Boer approves what Olu's team sends.",
            {"payroll"},
            {"ingrid de boer", "olu"},
        ),
        ('The reading group chose "a winter crossing" in March.', set(), {"winter crossing"}),
        ("In May we met Zoë Ångström.", set(), {"zoe angstrom"}),
        ("nothing here is a name", set(), set()),
    ],
)
def test_names_identifiers_and_titles_are_entities(
    text: str, about: set[str], named: set[str]
) -> None:
    found = entities(text)
    short = {key for key in found if len(key.split()) < 5}  # the start up to the first mark as well
    assert about <= {key for key in short if found[key]}
    assert named <= {key for key in short if not found[key]}
    assert short <= about | named | {"boer"} | {key for key in short if found[key]}


@pytest.mark.parametrize(
    ("one", "other", "key"),
    [
        ("Mr Halvorsen signs the leases.", "The leases go to Halvorsen", "halvorsen"),
        ("Ask in writing: Dr. Okafor reads mail.", "Then Okafor left", "okafor"),
        ("Prof. Ada Lind gives the talk.", "We met Ada Lind", "ada lind"),
        ("Restart billing-gw at night", "Billing-GW was moved", "billing-gw"),
        ("the log of orders-svc's queue", "Ola owns orders-svc", "orders-svc"),
        ("moved to payments-api today", "Is payments-api up?", "payments-api"),
    ],
)
def test_spellings_of_one_entity_have_one_key(one: str, other: str, key: str) -> None:
    assert {key} <= entities(one).keys() & entities(other).keys()
    assert key in named_in(one)


@pytest.mark.parametrize(
    "text",
    [
        "a long-term plan and a follow-up, to re-open the sign-up page",
        "the co-owner of a pre-prod and a non-https setup",
        "an up-to-date, state-of-the-art and css-based e-mail",
        "they asked on Monday, and quickly in May",
        "give it to the doctor or to Mr and Mrs",
    ],
)
def test_ordinary_words_are_no_entities(text: str) -> None:
    assert [key for key, begins in entities(text).items() if not begins] == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Nightly backups of db-main start at 02:15 UTC.", {"db-main"}),
        ("Every export of Beacon runs weekly, from 9:30 to 10:00 CET.", {"beacon"}),
        ("Tonight the mix is 1:1000, as always.", set()),
        ("Yesterday we read the Daily Mail.", {"daily mail"}),
        ("Berlin Time is what Night Owl shows at 7:42 EST.", {"berlin time", "night owl"}),
        ("The proxy listens on 10.0.0.4:8080 and db:5432.", {"10.0.0.4:8080", "db:5432"}),
    ],
)
def test_times_zones_and_frequencies_are_no_entities_alone(text: str, named: set[str]) -> None:
    assert {key for key in entities(f"So, {text}") if key != "so"} == named


def test_a_start_of_few_words_is_what_the_text_is_about() -> None:
    assert entities("list of harbours. Oslo is one.")["list of harbours"] is True


@given(st.text(max_size=400))
def test_entities_are_bounded_and_the_same_for_the_same_text(text: str) -> None:
    found = entities(text)
    assert len(found) <= ENTITIES_MAX
    assert all(2 <= len(key) <= KEY_MAX_CHARS for key in found)
    assert list(entities(text).items()) == list(found.items())
    assert "\x00" not in "".join(found) or "\x00" in text


def test_a_query_names_the_longest_known_key() -> None:
    known = {"harbour cafe", "cafe", "orders"}
    named = named_in("when does the harbour cafe's owner open for orders?")
    assert longest(named, known) == ["harbour cafe", "orders"]
    assert named["harbour cafe"] == (2, 5)  # with the article
    assert "when" not in named


@given(RESTARTS, GRAPHS)
def test_mass_is_never_made(
    restart: dict[Node, float], graph: dict[Node, dict[Node, float]]
) -> None:
    found = spread(restart, lambda n: read(graph, n), steps=5, damping=0.9, frontier=100)
    most = sum(restart.values()) * sum(0.9**step for step in range(1, 6))
    assert sum(found.activation.values()) <= most + 1e-6
    assert all(mass > 0 for mass in found.activation.values())


@given(RESTARTS, GRAPHS, st.randoms())
def test_the_order_of_rows_changes_nothing(
    restart: dict[Node, float], graph: dict[Node, dict[Node, float]], rng: random.Random
) -> None:
    def shuffled(nodes: Collection[Node]) -> dict[Node, Weights]:
        found = [(node, list(weights.items())) for node, weights in read(graph, nodes).items()]
        rng.shuffle(found)
        for _, weights in found:
            rng.shuffle(weights)
        return {node: dict(weights) for node, weights in found}

    plain = spread(restart, lambda n: read(graph, n), steps=4, damping=0.9, frontier=3)
    other = spread(restart, shuffled, steps=4, damping=0.9, frontier=3)
    assert repr(sorted(plain.activation.items())) == repr(sorted(other.activation.items()))
    assert [plain.path(node) for node in NODES] == [other.path(node) for node in NODES]


@given(RESTARTS, GRAPHS)
def test_a_path_begins_at_a_start_and_follows_links(
    restart: dict[Node, float], graph: dict[Node, dict[Node, float]]
) -> None:
    found = spread(restart, lambda n: read(graph, n), steps=4, damping=0.9, frontier=100)
    for node in found.activation:
        path = found.path(node)
        assert path[-1] == node
        assert restart[path[0]] > 0
        assert all(graph[a][b] > 0 for a, b in itertools.pairwise(path))
        assert len(set(path[:-1])) == len(path[:-1])


def test_a_node_that_no_link_names_is_not_walked_through() -> None:
    start, hidden, behind = NODES[:3]
    graph = {start: {hidden: 1.0}, hidden: {behind: 1.0}}
    assert behind in spread({start: 1.0}, lambda n: read(graph, n), **OPTIONS).activation
    live = {start: {}, hidden: {behind: 1.0}}
    assert spread({start: 1.0}, lambda n: read(live, n), **OPTIONS).activation == {}


OPTIONS: dict[str, Any] = {"steps": 6, "damping": 0.9, "frontier": 16}


def test_a_cycle_of_ten_thousand_reads_a_bounded_number_of_nodes() -> None:
    ring = [Node("memory", f"{number:05}") for number in range(10_000)]
    asked: list[Node] = []

    def links_of(nodes: Collection[Node]) -> dict[Node, Weights]:
        asked.extend(nodes)
        found: dict[Node, Weights] = {}
        for node in nodes:
            at = int(node.key)
            found[node] = {ring[(at + 1) % 10_000]: 0.5, ring[at - 1]: 0.5}
        return found

    found = core.associate({ring[0]: 1.0}, {}, links_of)
    assert len(asked) <= core.STEPS * core.FRONTIER
    assert max(found.activation.values()) <= 1.0
    assert len(found.activation) == 2 * core.STEPS + 1  # so many steps each way, and the start


def test_a_hub_of_ten_thousand_passes_little_to_each() -> None:
    members = {Node("memory", f"{number:05}"): False for number in range(10_000)}
    assert sum(core.out_of_hub(members).values()) == pytest.approx(1.0)
    assert max(core.out_of_hub(members).values()) < 0.001


def test_weights_that_add_up_to_more_than_one_are_refused() -> None:
    start, other = NODES[:2]
    with pytest.raises(ValueError, match="at most 1"):
        spread({start: 1.0}, lambda _: {start: {other: 1.1}}, **OPTIONS)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_links_raise_no_score_above_the_best(direct: float, activation: float, best: float) -> None:
    assert 0 <= core.joined(direct, activation, best) <= max(direct, best) + 1e-12


@given(st.lists(st.floats(0.2, 1), min_size=1, max_size=12, unique=True))
def test_links_that_lead_nowhere_leave_scores_as_they_are(scores: list[float]) -> None:
    direct = {Node("memory", f"{number}"): score for number, score in enumerate(scores)}
    own = core.own_of(direct, {})
    best, most = max(scores), max(own.values())
    for node, score in direct.items():
        assert core.joined(score, own[node] / most, best) == pytest.approx(score)


def test_of_two_that_fit_alike_the_one_that_links_lead_to_is_first() -> None:
    start, linked, other = NODES[:3]
    direct = {start: 0.9, linked: 0.5, other: 0.52}
    graph = {start: {linked: 0.5}, linked: {}, other: {}}
    found = core.associate(direct, {}, lambda nodes: read(graph, nodes)).activation
    fused = {node: core.joined(score, found[node], 0.9) for node, score in direct.items()}
    assert fused[start] > fused[linked] > fused[other]
    assert core.associate(direct, {}, lambda _: {}).activation == {}


def test_a_common_entity_links_nothing() -> None:
    assert core.most_memories(10) == core.LEAST_MEMORIES
    assert core.most_memories(1_500) == 15
    assert core.most_memories(10**6) == core.MOST_MEMORIES
    assert core.rarity(2, 1000) == 1.0 > core.rarity(20, 1000) > 0


def test_a_pair_is_worth_half_after_a_month() -> None:
    assert decayed(0.8, 30) == pytest.approx(0.4)
    assert decayed(0.8, -5) == 0.8


@pytest.mark.parametrize(
    ("question", "gold", "label", "expected"),
    [
        ("When did it open?", 1, "single_hop", Structure.LOOKUP),
        ("Where did her father die?", 2, "3hop1", Structure.MULTI_HOP),
        ("Which of them?", 2, "bridge_comparison", Structure.MULTI_HOP),
        ("Which tools does the team use?", 3, "open_domain", Structure.AGGREGATION),
        ("When did it open?", 1, "", Structure.TEMPORAL),
        ("Who runs the shop that Olu opened?", 2, "", Structure.MULTI_HOP),
        ("Who runs the shop?", 1, "", Structure.LOOKUP),
    ],
)
def test_the_structure_of_a_question(
    question: str, gold: int, label: str, expected: Structure
) -> None:
    assert structure_of(question, gold, label) == expected


@pytest.mark.parametrize(
    ("effect", "n", "aggregate", "is_inside", "expected"),
    [
        (0.02, 100, 0.01, True, Verdict.KEEP),
        (0.02, 99, 0.01, True, Verdict.INSUFFICIENT_POWER),
        (0.02, 500, 0.01, False, Verdict.INSUFFICIENT_POWER),
        (0.005, 100, 0.0, True, Verdict.KILL),
        (-0.01, 100, -0.02, True, Verdict.KILL),
        (0.0, 100, 0.01, True, Verdict.INSUFFICIENT_POWER),
        (0.0, 99, 0.0, True, Verdict.INSUFFICIENT_POWER),
    ],
)
def test_verdict_table(
    effect: float, n: int, aggregate: float, is_inside: bool, expected: Verdict
) -> None:
    found = verdict_of(
        Interval(effect, effect, effect, n),
        Interval(aggregate, aggregate, aggregate, n),
        is_inside=is_inside,
    )
    assert found == expected


def test_nodes_with_hardly_any_mass_are_not_read() -> None:
    start, near, far, behind = NODES[:4]
    graph = {start: {near: 0.99, far: 0.01}, near: {start: 1.0}, far: {behind: 1.0}, behind: {}}
    asked: list[list[Node]] = []

    def links_of(nodes: Collection[Node]) -> dict[Node, Weights]:
        asked.append(sorted(nodes))
        return read(graph, nodes)

    found = spread({start: 1.0}, links_of, **OPTIONS, least=0.05)
    assert asked == [[start], [near, far]]  # `behind` has .01 of the mass
    assert found.path(behind) == [start, far, behind]


def test_links_that_were_read_ahead_are_not_asked_for() -> None:
    graph = {NODES[0]: {NODES[1]: 1.0}, NODES[1]: {NODES[2]: 1.0}, NODES[2]: {NODES[0]: 1.0}}
    asked: list[list[Node]] = []

    def links_of(nodes: Collection[Node]) -> dict[Node, Weights]:
        asked.append(sorted(nodes))
        return read(graph, [*nodes, NODES[2]])

    found = spread({NODES[0]: 1.0}, links_of, **OPTIONS)
    assert asked == [[NODES[0]], [NODES[1]]]
    one_by_one = spread({NODES[0]: 1.0}, lambda nodes: read(graph, nodes), **OPTIONS)
    assert found.activation == one_by_one.activation
