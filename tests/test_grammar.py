from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from topiclib.documents import PAD, DocumentSettings
from topiclib.grammar import Grammar, SandboxSettings, sample_sandbox
from topiclib.masking import MaskingSettings, mask_documents
from topiclib.vocabulary import Vocabulary
from topiclib.yardsticks import best_parts, category_posterior, topic_posterior, uninformed_parts

TINY = SandboxSettings.tiny()
# One sentence or two words that can end early: small enough to enumerate whole documents.
SHORT = Grammar((("S", ("D", "N"), 0.3), ("S", ("D", "A", "N"), 0.5), ("S", ("A", "N"), 0.2)))
SMALL = SandboxSettings(SHORT, content=("N", "A"), num_topics=2, words_per_class=2, dirichlet_alpha=0.5, num_sentences=2)


class TestGrammar:
    def test_the_default_has_twelve_sentences_with_these_probabilities(self) -> None:
        sentences = Grammar().sentences
        assert len(sentences) == 12
        assert sum(sentences.values()) == pytest.approx(1)
        assert sentences["Det", "N", "V", "Det", "Adj", "N"] == pytest.approx(1 / 8)
        assert sentences["Det", "N", "V", "Det", "N", "P", "Det", "N"] == pytest.approx(1 / 16)
        assert max(map(len, sentences)) == 11

    def test_frequencies_are_those_of_words(self) -> None:
        grammar = Grammar()
        assert grammar.categories == ("Det", "N", "Adj", "V", "P")
        # A sentence has 2.5 noun phrases on average, half of them with an adjective, one verb, and half a preposition.
        np.testing.assert_allclose(grammar.frequencies(), np.array([2.5, 2.5, 1.25, 1, 0.5]) / 7.75)

    def test_a_recursive_grammar_is_cut_at_max_words_and_its_rest_drawn_again(self) -> None:
        grammar = Grammar((("S", ("S", "S"), 0.4), ("S", ("a",), 0.6)), max_words=3)
        weights = np.array([0.6, 0.4 * 0.6**2, 2 * 0.4**2 * 0.6**3])  # three words have two derivations
        found = [grammar.sentences[("a",) * n] for n in (1, 2, 3)]
        np.testing.assert_allclose(found, weights / weights.sum())

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"rules": 3}, "rules = 3: must be a tuple"),
            ({"rules": (("S", ("a",)),)}, r"must be a tuple of \(left, right, probability\)"),
            ({"rules": (("S", (), 1.0),)}, "at least one symbol on the right"),
            ({"rules": (("S", ("a",), 0.9),)}, "rules of S have probabilities that sum to 0.9: must be 1"),
            ({"rules": (("S", ("a",), 0.0), ("S", ("b",), 1.0))}, "probability = 0.0"),
            ({"rules": (("S", (1,), 1.0),)}, "right = 1"),
            ({"start": "X"}, "start = 'X': must be the left side of a rule"),
            ({"max_words": 0}, "max_words = 0"),
            ({"max_words": 4}, "rules give no sentence of at most max_words = 4 words"),
            ({"rules": (("S", ("S",), 0.5), ("S", ("a",), 0.5))}, "more than 100,000 derivations"),
        ],
    )
    def test_bad_grammars_are_named(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            Grammar(**arguments)


class TestVocabulary:
    def test_every_word_has_a_category_and_content_words_a_topic(self) -> None:
        v = TINY.vocabulary
        assert v.categories == ("N", "V", "Adj", "Det", "P")
        assert v.num_content == 3
        assert v.category_of.tolist() == [-1, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
        assert v.topic_of.tolist() == [-1, *[1] * 6, *[2] * 6, 0, 0, 0, 0]
        assert v.flat == Vocabulary(1, 16)

    def test_topics_are_blocks_as_in_the_course_s_vocabulary(self) -> None:
        settings = SandboxSettings()
        content = Vocabulary(settings.num_topics, len(settings.content) * settings.words_per_class)
        words = np.arange(1, content.size)
        assert (settings.vocabulary.topic_of[words] == content.topic_of(words)).all()
        assert (settings.vocabulary.topic_of[content.size :] == 0).all()

    def test_first_word_finds_the_class(self) -> None:
        v = SandboxSettings().vocabulary
        for c, t in zip(*np.nonzero(v.first_word >= 0), strict=True):
            word = v.first_word[c, t]
            assert (v.category_of[word], v.topic_of[word]) == (c, t)
            assert (v.category_of[word - 1], v.topic_of[word - 1]) != (c, t)
        assert (v.first_word >= 0).sum() == 3 * 5 + 2

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"num_topics": 0}, "num_topics = 0"),
            ({"words_per_class": 1.5}, "words_per_class = 1.5"),
            ({"num_sentences": 0}, "num_sentences = 0"),
            ({"dirichlet_alpha": 0}, "dirichlet_alpha = 0"),
            ({"content": ("N", "X")}, "must be distinct categories from Det, N, Adj, V, P"),
            ({"content": ("N", "N")}, "must be distinct"),
            ({"content": ()}, "must be distinct"),
            ({"grammar": None}, "grammar = None: must be a Grammar"),
        ],
    )
    def test_bad_settings_are_named(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            replace(TINY, **changes)


class TestDocuments:
    def test_a_seed_gives_the_same_documents_and_is_needed(self) -> None:
        one, other = sample_sandbox(TINY, 4, 1), sample_sandbox(TINY, 4, np.random.default_rng(1))
        np.testing.assert_array_equal(one.tokens, other.tokens)
        assert not np.array_equal(one.tokens[:, :5], sample_sandbox(TINY, 4, 2).tokens[:, :5])
        with pytest.raises(TypeError, match="rng = None"):
            sample_sandbox(TINY, 4, None)  # type: ignore[arg-type]

    def test_every_document_is_its_sentences_in_their_order(self) -> None:
        settings = SandboxSettings()
        v, forms = settings.vocabulary, list(settings.grammar.sentences)
        documents = sample_sandbox(settings, 50, 0)
        assert documents.tokens.shape[1] <= settings.max_len == 44
        for tokens, categories, topics, chosen in zip(
            documents.tokens, documents.categories, documents.topics, documents.sentences, strict=True
        ):
            expected = [name for k in chosen for name in forms[k]]
            length = len(expected)
            assert [v.categories[c] for c in categories[:length]] == expected
            assert (tokens[length:] == PAD).all()
            assert (categories[length:] == -1).all()
            assert (topics[length:] == -1).all()
            assert (v.category_of[tokens[:length]] == categories[:length]).all()
            assert (v.topic_of[tokens[:length]] == topics[:length]).all()
        assert (documents.tokens != PAD).sum(axis=1).max() == documents.tokens.shape[1]

    def test_words_follow_the_grammar_and_the_mixture(self) -> None:
        documents = sample_sandbox(replace(TINY, num_topics=3, num_sentences=4), 4000, 0)
        v = replace(TINY, num_topics=3).vocabulary
        total = (documents.tokens != PAD).sum()
        shares = [(documents.categories == c).sum() / total for c in range(5)]
        np.testing.assert_allclose(shares, np.array([2.5, 1, 1.25, 2.5, 0.5]) / 7.75, atol=0.01)
        is_content = documents.topics > 0
        for t in (1, 2, 3):
            share = (documents.topics == t).sum(axis=1) / is_content.sum(axis=1)
            assert abs((share - documents.topic_weights[:, t - 1]).mean()) < 0.01
        words = Counter(documents.tokens[documents.tokens != PAD].tolist())
        first, second = (words[int(v.first_word[0, 2]) + k] for k in (0, 1))
        assert abs(first - second) < 5 * np.sqrt(first + second)  # the words of a class are equally likely

    def test_they_can_be_masked(self) -> None:
        documents = sample_sandbox(TINY, 6, 0)
        masked = mask_documents(documents.tokens, TINY.vocabulary.flat, MaskingSettings(0.3, 0, 0), 0)
        assert masked.selected.any(axis=1).all()
        assert not masked.selected[documents.tokens == PAD].any()
        assert (masked.inputs[masked.selected] == 0).all()

    def test_bad_arguments_are_named(self) -> None:
        with pytest.raises(TypeError, match=r"settings = .*: must be a SandboxSettings"):
            sample_sandbox(DocumentSettings(), 4, 0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="num_docs = 0"):
            sample_sandbox(TINY, 0, 0)


class TestYardsticks:
    def test_the_category_posterior_is_that_of_enumerating_all_documents(self) -> None:
        v, forms = SMALL.vocabulary, SMALL.grammar.sentences
        every: Counter[tuple[str, ...]] = Counter()
        for one, other in product(forms, forms):
            every[one + other] += forms[one] * forms[other]  # type: ignore[assignment]
        documents = sample_sandbox(SMALL, 60, 3)
        hidden = (np.random.default_rng(4).random(documents.tokens.shape) < 0.8) & (documents.tokens != PAD)
        found = category_posterior(SMALL, documents, hidden)
        for b in range(60):
            length = int((documents.tokens[b] != PAD).sum())
            names = [v.categories[c] for c in documents.categories[b, :length]]
            fits = [d for d in every if len(d) == length and all(hidden[b, j] or d[j] == names[j] for j in range(length))]
            whole = sum(every[d] for d in fits)
            for j in np.flatnonzero(hidden[b]):
                expected = [sum(every[d] for d in fits if d[j] == name) / whole for name in v.categories]
                np.testing.assert_allclose(found[b, j], expected, atol=1e-12)
        assert (found[hidden].max(axis=1) < 0.99).sum() > 20  # not a test of certainties

    def test_the_topic_posterior_is_the_integral_over_mixtures(self) -> None:
        documents = sample_sandbox(SMALL, 30, 5)
        hidden = (np.random.default_rng(6).random(documents.tokens.shape) < 0.4) & (documents.tokens != PAD)
        found = topic_posterior(SMALL, documents, hidden)
        # theta = sin^2(x) with x uniform is Beta(1/2, 1/2), the Dirichlet(0.5) of two topics.
        theta = np.sin((np.arange(20_000) + 0.5) / 20_000 * np.pi / 2) ** 2
        for b in range(30):
            shown = documents.topics[b][~hidden[b]]
            likelihood = theta ** (shown == 1).sum() * (1 - theta) ** (shown == 2).sum()
            expected = (theta * likelihood).sum() / likelihood.sum()
            np.testing.assert_allclose(found[b], [expected, 1 - expected], atol=1e-6)

    def test_the_best_is_better_than_the_uninformed_in_every_part_that_can_be_learned(self) -> None:
        settings = SandboxSettings()
        documents = sample_sandbox(settings, 100, 7)
        hidden = mask_documents(documents.tokens, settings.vocabulary.flat, MaskingSettings(0.15, 0, 0), 7).selected
        best, uninformed = best_parts(settings, documents, hidden), uninformed_parts(settings, documents, hidden)
        assert best[0] < uninformed[0] - 1
        assert best[1] < uninformed[1] - 0.3
        assert best[2] == uninformed[2] == pytest.approx(np.log(4))

    def test_the_uninformed_parts_are_entropies_in_the_mean(self) -> None:
        settings = replace(SandboxSettings(), num_sentences=6)
        documents = sample_sandbox(settings, 3000, 8)
        hidden = mask_documents(documents.tokens, settings.vocabulary.flat, MaskingSettings(0.15, 0, 0), 8).selected
        shares = np.array([2.5, 2.5, 1.25, 1, 0.5]) / 7.75
        expected = [-(shares * np.log(shares)).sum(), 4.75 / 7.75 * np.log(5), np.log(4)]
        np.testing.assert_allclose(uninformed_parts(settings, documents, hidden), expected, atol=0.02)

    def test_when_everything_is_hidden_the_start_of_a_document_is_still_known(self) -> None:
        settings = replace(SandboxSettings(), num_sentences=1)
        documents = sample_sandbox(settings, 40, 9)
        everything = documents.tokens != PAD
        found = category_posterior(settings, documents, everything)
        np.testing.assert_allclose(found[:, 0, settings.vocabulary.categories.index("Det")], 1)
        np.testing.assert_allclose(topic_posterior(settings, documents, everything), 1 / 5)


def test_the_yardsticks_want_documents_and_places_that_fit() -> None:
    settings = SandboxSettings.tiny()
    documents = sample_sandbox(settings, 3, 0)
    shown = np.zeros(documents.tokens.shape, dtype=bool)
    beyond = documents.categories < 0
    cases = [
        (settings, shown, "hidden marks places after a document's end, or nothing"),
        (settings, shown[:2], "hidden = .*must be an array of booleans of shape"),
        (settings, shown * 1, "hidden = .*must be an array of booleans of shape"),
        (SandboxSettings.tiny(num_topics=3), ~beyond, "documents has"),
    ]
    cases += [(settings, shown | beyond, "hidden marks places after")] if beyond.any() else []
    for given, hidden, said in cases:
        with pytest.raises(ValueError, match=f"^{said}"):
            best_parts(given, documents, hidden)
