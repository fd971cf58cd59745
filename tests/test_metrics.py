from math import inf, isnan, nan

import numpy as np
import pytest
import torch

from topiclib.documents import PAD, DocumentSettings, sample_documents
from topiclib.metrics import ByRelation, attention_by_relation, block_contrast, embedding_gram, embedding_similarity
from topiclib.model import ModelSettings, TopicTransformer
from topiclib.vocabulary import MASK, Vocabulary

VOCABULARY = Vocabulary(2, 2)
# Row and column 0 are [MASK]'s and must not count.
BY_HAND = np.array(
    [
        [1e9, 1e9, 1e9, 1e9, 1e9],
        [-1e9, 10, 2, 0.5, 0.25],
        [-1e9, 4, 20, 0.75, 0],
        [-1e9, 0, 0.25, 30, 6],
        [-1e9, 0.25, 0, 8, 40],
    ]
)


def test_block_contrast_by_hand() -> None:
    result = block_contrast(BY_HAND, VOCABULARY)
    assert (result.same_word, result.same_topic, result.different_topic) == (25, 5, 0.25)
    assert result.same_word_std == pytest.approx(np.sqrt(125))
    assert result.same_topic_std == pytest.approx(np.sqrt(5))
    assert result.different_topic_std == pytest.approx(np.sqrt(0.5 / 8))
    assert result.contrast == 4.75
    assert result.ratio == 20
    assert result.standardized_contrast == pytest.approx(4.75 / np.sqrt((5 + 0.0625) / 2))


@pytest.mark.parametrize("kind", ["list", "float32", "tensor", "tensor with gradient"])
def test_block_contrast_takes_every_kind_of_matrix(kind: str) -> None:
    tensor = torch.tensor(BY_HAND)
    matrix = {
        "list": BY_HAND.tolist(),
        "float32": BY_HAND.astype(np.float32),
        "tensor": tensor,
        "tensor with gradient": tensor.clone().requires_grad_(),
    }[kind]
    assert block_contrast(matrix, VOCABULARY) == block_contrast(BY_HAND, VOCABULARY)


def test_block_contrast_agrees_with_a_loop() -> None:
    vocabulary = Vocabulary(4, 3)
    matrix = np.random.default_rng(0).normal(size=(13, 13))
    groups: dict[str, list[float]] = {"same_word": [], "same_topic": [], "different_topic": []}
    for i in range(1, 13):
        for j in range(1, 13):
            same_topic = (i - 1) // 3 == (j - 1) // 3
            groups["same_word" if i == j else "same_topic" if same_topic else "different_topic"].append(matrix[i, j])
    result = block_contrast(matrix, vocabulary)
    for name, values in groups.items():
        assert getattr(result, name) == pytest.approx(np.mean(values))
        assert getattr(result, f"{name}_std") == pytest.approx(np.std(values))


def test_a_diagonal_matrix_has_no_contrast() -> None:
    result = block_contrast(np.diag(np.arange(5.0)), VOCABULARY)
    assert result.contrast == 0
    assert result.same_word == 2.5


def test_a_relation_that_no_pair_has_is_nan() -> None:
    single = block_contrast(np.ones((6, 6)), Vocabulary(5, 1))
    assert isnan(single.same_topic)
    assert isnan(single.contrast)
    assert isnan(single.ratio)
    assert isnan(single.standardized_contrast)
    assert isnan(block_contrast(np.ones((6, 6)), Vocabulary(1, 5)).different_topic)


@pytest.mark.parametrize(
    ("same", "different", "spread", "expected"),
    [(3, 1, 2, 1), (1, 3, 2, -1), (3, 1, 0, inf), (1, 3, 0, -inf), (1, 1, 0, nan), (1, 1, 2, 0), (nan, 1, nan, nan)],
)
def test_standardized_contrast_at_the_edges(same: float, different: float, spread: float, expected: float) -> None:
    result = ByRelation(0, same, different, 0, spread, spread)
    assert result.standardized_contrast == pytest.approx(expected, nan_ok=True)


def test_ratio_by_zero_is_nan() -> None:
    assert isnan(ByRelation(0, 1, 0, 0, 1, 1).ratio)


W_E = np.array([[9, 1, 0, 2, 2], [9, 0, 2, 1, -1]])


def test_embedding_gram_by_hand() -> None:
    assert embedding_gram(W_E)[1:, 1:].tolist() == [[1, 0, 2, 2], [0, 4, 2, -2], [2, 2, 5, 3], [2, -2, 3, 5]]
    cosines = embedding_gram(torch.tensor(W_E), cosine=True)
    assert np.allclose(np.diag(cosines), 1, atol=1e-15)
    assert cosines[1, 3] == pytest.approx(2 / np.sqrt(5))
    assert cosines[2, 4] == pytest.approx(-1 / np.sqrt(5))


def test_embedding_similarity_by_hand() -> None:
    plain = embedding_similarity(W_E, VOCABULARY)
    assert (plain.same_word, plain.same_topic, plain.different_topic) == (15 / 4, 3 / 2, 1)
    cosine = embedding_similarity(W_E, VOCABULARY, cosine=True)
    assert cosine.same_word == pytest.approx(1)
    assert cosine.same_topic == pytest.approx(3 / 5 / 2)
    assert cosine.different_topic == pytest.approx((2 + 2 + 1 - 1) / np.sqrt(5) / 4)


def test_cosines_do_not_depend_on_the_lengths() -> None:
    scaled = W_E * np.array([1, 2, 3, 0.5, 10])
    assert np.allclose(embedding_gram(W_E, cosine=True), embedding_gram(scaled, cosine=True), atol=1e-15)


def slow_attention(model: TopicTransformer, tokens: np.ndarray, include_self: bool) -> dict[str, list[float]]:
    """Each document's mean of N A_ij over its pairs of each relation, one pair at a time, without padding."""
    w = {name: p.detach().double().numpy() for name, p in model.named_parameters()}
    v = model.settings.vocabulary.words_per_topic
    means: dict[str, list[float]] = {"same_word": [], "same_topic": [], "different_topic": []}
    for row in tokens:
        words = [int(i) for i in row if i != PAD]
        groups: dict[str, list[float]] = {name: [] for name in means}
        for j, query in enumerate(words):
            q = w["W_Q"] @ w["W_E"][:, query] + w["b_Q"]
            keys = [w["W_K"] @ w["W_E"][:, key] + w["b_K"] for key in words]
            weights = np.exp([k @ q / np.sqrt(len(q)) for k in keys])
            weights /= weights.sum()
            for i, key in enumerate(words):
                if MASK in (key, query) or (i == j and not include_self):
                    continue
                same_topic = (key - 1) // v == (query - 1) // v
                name = "same_word" if key == query else "same_topic" if same_topic else "different_topic"
                groups[name].append(weights[i] * len(words))
        for name, values in groups.items():
            if values:
                means[name].append(float(np.mean(values)))
    return means


def tokens_with_padding_and_mask() -> np.ndarray:
    tokens = sample_documents(DocumentSettings.tiny(min_len=2, max_len=12), 12, 1).tokens
    tokens[::2, 1] = MASK
    tokens[3, 1:] = PAD  # one word: no pair at all unless it may attend to itself
    return tokens


@pytest.mark.parametrize("include_self", [False, True])
def test_attention_by_relation_agrees_with_a_loop(include_self: bool) -> None:
    tokens = tokens_with_padding_and_mask()
    model = TopicTransformer(ModelSettings.tiny(init_scale=1.0), 2)
    model.set_weight("b_Q", [1, -1, 0.5, 2])
    result = attention_by_relation(model, tokens, include_self=include_self)
    for name, values in slow_attention(model, tokens, include_self).items():
        assert getattr(result, name) == pytest.approx(np.mean(values), rel=1e-5), name
        assert getattr(result, f"{name}_std") == pytest.approx(np.std(values), rel=1e-4), name


@pytest.mark.parametrize("include_self", [False, True])
def test_uniform_attention_is_1_for_every_relation(include_self: bool) -> None:
    model = TopicTransformer(ModelSettings.tiny(uniform_attention=True), 0)
    result = attention_by_relation(model, tokens_with_padding_and_mask(), include_self=include_self)
    assert (result.same_word, result.same_topic, result.different_topic) == pytest.approx((1, 1, 1), abs=1e-6)
    assert (result.same_word_std, result.same_topic_std, result.different_topic_std) == pytest.approx((0, 0, 0), abs=1e-6)


def test_attention_does_not_depend_on_the_padding() -> None:
    model = TopicTransformer(ModelSettings.tiny(init_scale=1.0), 3)
    tokens = np.array([[1, 2, 3, 1, 5]])
    wide = np.concatenate([tokens, np.full((1, 4), PAD)], axis=1)
    plain, padded = attention_by_relation(model, tokens), attention_by_relation(model, wide)
    assert plain.same_word == pytest.approx(padded.same_word, rel=1e-6)
    assert plain.different_topic == pytest.approx(padded.different_topic, rel=1e-6)


def test_self_attention_counts_only_if_asked() -> None:
    model = TopicTransformer(ModelSettings.tiny(), 0)
    tokens = np.array([[1, 3, 5]])
    assert isnan(attention_by_relation(model, tokens).same_word)
    assert attention_by_relation(model, tokens, include_self=True).same_word > 0


def test_attention_leaves_model_and_tokens_as_they_were() -> None:
    model, tokens = TopicTransformer(ModelSettings.tiny(), 0), tokens_with_padding_and_mask()
    before = tokens.copy()
    attention_by_relation(model, tokens)
    assert np.array_equal(tokens, before)
    assert all(p.grad is None for p in model.parameters())
