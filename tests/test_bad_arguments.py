"""Bad arguments of the functions for real language: the error names the argument and what is allowed, never Python's inside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from small_encoders import save_small_encoder

from topiclib.attention_pairs import AttentionPairs, attention_pairs, debiased
from topiclib.cooccurrence import attention_table, pmi, same_topic_attention, second_order
from topiclib.corpus import Article, Corpus, content_words, passages, tokenize
from topiclib.encoders import Encoder, load_encoder
from topiclib.masked_lm import MaskedLMSettings, Windows
from topiclib.masked_lm_training import train_masked_lm
from topiclib.natural_language import measure_encoder
from topiclib.topic_contrast import attention_contrast
from topiclib.topics import TopicSettings, TopicWords, fit_topics

PAIRS = AttentionPairs(
    document=np.zeros(2, np.int32),
    query=np.array([0, 1], np.int32),
    key=np.array([1, 0], np.int32),
    offset=np.array([1, -1], np.int16),
    scaled=np.ones((2, 1), np.float16),
    length=np.array([4], np.int32),
    num_words=2,
)
TOPICS = TopicWords(np.arange(2), np.eye(2, dtype=bool))
WINDOWS = Windows(np.full((4, 6), 3), np.arange(9))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return load_encoder(save_small_encoder("bert", tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def corpus(encoder: Encoder) -> Corpus:
    return tokenize([Article("a", "water music film world")], encoder.tokenizer)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda e, c: Article("title", None), TypeError, "text = None: must be a str"),
        (lambda e, c: tokenize(None, e.tokenizer), TypeError, "articles = None: must be a list or stream of Article"),
        (lambda e, c: tokenize("text", e.tokenizer), TypeError, "articles = 'text': must be"),
        (lambda e, c: list(passages([1])), TypeError, "articles = 1: must be an Article"),
        (lambda e, c: content_words(None), TypeError, "corpus = None: must be a Corpus"),
        (lambda e, c: c.pick([0.7]), TypeError, r"numbers = \[0.7\]: must be a list of whole numbers from 0 to 0"),
        (lambda e, c: c.pick([1]), ValueError, "numbers has 1: must be whole numbers from 0 to 0"),
        (lambda e, c: debiased(PAIRS, None), TypeError, "steps = None: must be a list"),
        (lambda e, c: debiased(PAIRS, "key"), TypeError, "steps = 'key': must be a list"),
        (lambda e, c: debiased(PAIRS, layers=1), TypeError, "layers = 1: must be a list"),
        (lambda e, c: attention_pairs(e, c, None), TypeError, "words = None"),
        (lambda e, c: attention_contrast(PAIRS, [1.0], TOPICS, 0), ValueError, r"values has shape \(1,\): must be \(2,\)"),
        (lambda e, c: attention_contrast(PAIRS, ["a", "b"], TOPICS, 0), ValueError, "values has shape"),
        (lambda e, c: pmi(np.ones((2, 3)), 5), ValueError, r"table has shape \(2, 3\): must be \(W, W\)"),
        (lambda e, c: second_order(np.ones(3), 5), ValueError, r"table has shape \(3,\)"),
        (lambda e, c: attention_table(PAIRS, [1.0], [0, 1]), ValueError, r"values has shape \(1,\)"),
        (lambda e, c: attention_table(PAIRS, [1.0, 2.0], [0, 2]), ValueError, "words has 2: must be whole numbers from 0 to 1"),
        (lambda e, c: same_topic_attention(PAIRS, [1.0], TOPICS, 0), ValueError, r"values has shape \(1,\)"),
        (lambda e, c: e.run([np.array([10**6])]), ValueError, "documents has 1000000: must be whole numbers from 0 to"),
        (lambda e, c: e.run([np.array([0.5])]), TypeError, "documents = "),
        (lambda e, c: load_encoder("minilm", device="foo"), ValueError, "device = 'foo': must be a torch device"),
        (lambda e, c: measure_encoder(e, [], thresholds=None), TypeError, "thresholds = None: must be a list"),
        (lambda e, c: measure_encoder(e, [], thresholds=()), ValueError, "thresholds: there are none"),
        (lambda e, c: train_masked_lm((MaskedLMSettings(), 0), WINDOWS), TypeError, "runs = MaskedLMSettings"),
        (lambda e, c: train_masked_lm([(MaskedLMSettings(), 0)], WINDOWS, ranks=2), TypeError, "ranks = 2: must be a Ranks"),
        (lambda e, c: fit_topics(np.ones((3, 4)), TopicSettings(), 0, workers=4), ValueError, "workers = 4: must be 1 with method"),
        (lambda e, c: train_masked_lm([(MaskedLMSettings(),)], WINDOWS), ValueError, "must be .settings, seed."),
    ],
)
def test_the_error_names_the_argument(
    encoder: Encoder, corpus: Corpus, call: Callable[[Encoder, Corpus], object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(encoder, corpus)


def test_threads_are_checked(encoder: Encoder, corpus: Corpus) -> None:
    words = content_words(corpus, min_documents=1, max_share=1)
    with pytest.raises(ValueError, match="threads = -1: must be a whole number >= 1"):
        attention_pairs(encoder, corpus, words, threads=-1)
