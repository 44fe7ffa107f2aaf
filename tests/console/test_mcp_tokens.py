"""How much of a model's context the protocol takes.

Tokens are counted by the vocabulary of the local embedding model. It splits JSON and identifiers
into more pieces than the vocabularies of language models: 3,455 tokens of it for the list of tools
were 2,106 of o200k_base.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mcp import types
from tokenizers import Tokenizer

from engram.console.mcp.tools import TOOLS
from engram.kernel.minilm import model_directory
from tests.conftest import Tenant, build_tenant
from tests.console.mcp_door import opened, said, thread

pytestmark = pytest.mark.django_db(transaction=True)
FACTS = (
    "Refunds above 500 EUR need the approval of the shift lead and of finance.",
    "Refunds are paid back by the same means of payment within ten working days.",
    "A refund is refused when the order is older than two years.",
    "Refunds in cash are not possible in the harbour shop.",
    "The refund form is kept in the second drawer of the counter.",
)


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return build_tenant("acme")


@pytest.fixture(scope="module")
def tokens() -> Callable[[str], int]:
    """Return a function that counts the tokens of a text."""
    tokenizer = Tokenizer.from_file(str(model_directory() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def text_in(result: types.CallToolResult) -> str:
    """Return the text of a result, which has nothing else."""
    assert said(result)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def test_the_list_of_tools_is_short_and_complete(
    tenant: Tenant, tokens: Callable[[str], int]
) -> None:
    async with opened() as door, door.client(tenant.agent) as client:
        listed = await client.list_tools()
        told = client.instructions or ""
    assert len(listed.tools) == 8
    assert tokens(listed.model_dump_json(by_alias=True, exclude_none=True) + told) <= 3_700
    for tool in listed.tools:
        description = tool.description or ""
        assert "Example: {" in description
        assert any(word in description for word in ("Not ", "never", "Never", "instead")), tool.name
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
    hints = {tool.name: tool.annotations for tool in listed.tools}
    reads = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    changes = {name for name, hint in hints.items() if hint and hint.destructive_hint}
    assert reads == {"recall", "context", "questions"}
    assert changes == {"revise", "forget", "answer"}
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]


async def test_typical_answers_are_short(tenant: Tenant, tokens: Callable[[str], int]) -> None:
    bounds = {"remember": 80, "asked": 250, "recall": 600, "context": 400, "forget": 60}
    for fact in FACTS[1:]:
        await thread(tenant.agent.post, "memories", {"content": fact, "scope": "shop/refunds"})
    async with opened() as door, door.client(tenant.agent) as client:
        answers = [{"question": "Who approves refunds above 500 EUR?", "answer": "the shift lead"}]
        remember = {"content": FACTS[0], "scope": "shop/refunds", "answers": answers}
        results = {"asked": await client.call_tool("remember", remember)}
        of_another = remember | {"content": "Lisbon is warm in May.", "answers": []}
        results["remember"] = await client.call_tool("remember", of_another)
        query = "how are refunds handled?"
        results["recall"] = await client.call_tool("recall", {"query": query, "k": 5})
        results["context"] = await client.call_tool("context", {"task": query})
        ids = [said(results["asked"])["id"]]
        results["forget"] = await client.call_tool("forget", {"ids": ids, "confirm": True})
    assert len(said(results["recall"])["results"]) == 5
    used = {name: tokens(text_in(result)) for name, result in results.items()}
    assert {name: count for name, count in used.items() if count > bounds[name]} == {}, used
