"""Statements of one batch meet each other."""

from collections import Counter

import pytest

from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from memories.core.content import CONTENT_MAX_CHARS
from memories.core.text import terms
from memories.models import CorpusSize, Memory, Posting, TermCount
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from tests.conftest import NOW


def test_a_statement_may_reword_one_of_its_own_batch(tenant):
    contents = [
        "Releases are tagged from main.",
        "Releases are tagged from main at 9:30.",
    ]

    results = commit_all(
        tenant.workspace, [Draft(content=content) for content in contents], actor=SYSTEM, now=NOW
    )

    assert [result.outcome for result in results] == ["created", "merged"]
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get()
        expected = terms(memory.content)
        assert memory.content == contents[1]
        assert Counter(dict(Posting.objects.values_list("term", "frequency"))) == expected
        counted = TermCount.objects.filter(memories__gt=0).values_list("term", "memories")
        assert dict(counted) == dict.fromkeys(expected, 1)
        size = CorpusSize.objects.get()
        assert (size.memories, size.words) == (1, expected.total())


def test_a_draft_that_is_too_long_is_refused_whoever_wrote_it(tenant):
    drafts = [Draft(content="a" * CONTENT_MAX_CHARS), Draft(content="b" * (CONTENT_MAX_CHARS + 1))]

    with pytest.raises(InvalidError) as error:
        commit_all(tenant.workspace, drafts, actor=SYSTEM, now=NOW)

    assert error.value.field == "memories.1.content"
    with in_workspace(tenant.workspace):
        assert not Memory.objects.exists()
