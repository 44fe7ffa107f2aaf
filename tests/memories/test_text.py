"""Text to index terms."""

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from memories.core.text import MAX_TERM_CHARS, STOP_WORDS, terms, tokens


def test_words_are_stemmed_and_stop_words_left_out():
    assert list(tokens("The databases are running on the servers")) == ["databas", "run", "server"]


def test_irregular_forms_meet_their_base():
    assert list(tokens("went bought children")) == list(tokens("go buy child"))


def test_terms_count_repetitions():
    assert terms("cache, Cache and caches") == Counter({"cach": 3})


def test_identifiers_stand_whole_beside_their_parts():
    assert list(tokens("auth.session")) == ["auth", "session", "auth.session"]
    assert list(tokens("us-east-1")) == ["east", "1", "us-east-1"]
    assert list(tokens("MAX_POOL_SIZE")) == ["max", "pool", "size", "max_pool_size"]
    assert list(tokens("v1.2.3")) == ["v1", "2", "3", "v1.2.3"]


def test_plain_words_joined_by_hyphens_are_their_parts_only():
    assert list(tokens("long-term and/or read-only")) == ["long", "term", "read"]


def test_camel_case_is_found_by_its_words():
    assert list(tokens("getUserById")) == ["get", "user", "id", "getuserbyid"]
    assert list(tokens("HTTPServer")) == ["http", "server", "httpserver"]


def test_numbers_meet_their_other_spellings():
    assert terms("1,000").keys() == terms("1000").keys()
    assert terms("30 s").keys() <= terms("30s").keys()
    assert terms("8 May").keys() == terms("8th May").keys()


def test_case_accents_and_typography_do_not_matter():
    assert terms("Café RÉSUMÉ don’t ﬁle") == terms("cafe resume don't file")


def test_scripts_without_spaces_become_pairs():
    assert list(tokens("東京の天気 in Tokyo")) == ["東京", "京の", "の天", "天気", "tokyo"]
    assert list(tokens("東")) == ["東"]


def test_query_of_stop_words_has_no_terms():
    assert terms("who are you?") == Counter()


def test_stop_words_are_lower_case_words():
    assert {"the", "not", "what"} <= STOP_WORDS
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


def test_stored_postings_match_this_version_of_the_analyser():
    # Postings are stored. When this fails, a migration has to index all memories again.
    sample = "Caroline's 2nd deploy of api-gateway v2.1 took 30s; it was rolled back on 8 May."
    assert list(tokens(sample)) == [
        "carolin", "2", "deploy", "api", "gateway", "v2", "1", "v2.1", "take", "30", "30s",
        "roll", "back", "8",
    ]  # fmt: skip


@given(st.text())
@example("\x00\ud800 \U0001f680")
@example("9" * 8000)
@example("a." * 4000)
def test_any_text_gives_short_terms_without_white_space(text):
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARS
        assert term == term.lower()
        assert not any(c.isspace() or c == "\x00" for c in term)


@given(st.text(max_size=60), st.text(max_size=60))
def test_terms_of_two_texts_add_up(a, b):
    assert terms(f"{a}\n{b}") == terms(a) + terms(b)
