"""The model on counts is the model on tokens: loss, every gradient, attention and predictions, position by position."""

import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch

from topiclib.counts import count_attention, count_loss, count_predictions, token_scores
from topiclib.documents import PAD, DocumentSettings
from topiclib.losses import masked_loss
from topiclib.masking import MaskedDocuments, MaskingSettings
from topiclib.model import PARAMETERS, ModelSettings, TopicTransformer
from topiclib.settings import LOSSES
from topiclib.word_counts import MaskedCounts, count_documents, sample_counts

MODELS = {
    "tiny": ModelSettings.tiny(),
    "d = 2, d_a = 1": ModelSettings.tiny(embedding_dim=2, attention_dim=1),
    "d = 3, d_a = 6": ModelSettings.tiny(embedding_dim=3, attention_dim=6),
    "d = V": ModelSettings.tiny(embedding_dim=None, attention_dim=None),
    "d > V": ModelSettings.tiny(embedding_dim=9),
    "one_hot": ModelSettings.tiny(embedding_dim=None, one_hot=True),
    "uniform": ModelSettings.tiny(uniform_attention=True),
    "one_hot, uniform": ModelSettings.tiny(embedding_dim=None, one_hot=True, uniform_attention=True),
    "no biases": ModelSettings.tiny(attention_biases=False),
}
DOCUMENTS = {
    "tiny": (DocumentSettings.tiny(), MaskingSettings(0.3)),
    "padding": (DocumentSettings.tiny(min_len=1, max_len=25), MaskingSettings(0.4, 0.3, 0.3)),
    "N = 1": (DocumentSettings.tiny(min_len=1, max_len=1), MaskingSettings(0.3, 0.3, 0.3)),
    "long": (DocumentSettings.tiny(min_len=43, max_len=60), MaskingSettings(0.9, 0.1, 0.8)),
}
every_model = pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS.keys())
every_documents = pytest.mark.parametrize("drawn", DOCUMENTS.values(), ids=DOCUMENTS.keys())


def random_model(settings: ModelSettings, seed: int) -> TopicTransformer:
    """In float64, with biases that are not 0 where the switches leave them free."""
    model = TopicTransformer(settings, seed).double()
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.trained().values():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model


def gradients(model: TopicTransformer, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    trained = model.trained()
    found = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
    return {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(trained.items(), found, strict=True)}


def assert_same_gradients(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> None:
    assert a.keys() == b.keys()
    largest = max(float(g.abs().max()) for g in b.values())
    for name, gradient in a.items():
        assert torch.allclose(gradient, b[name], rtol=0, atol=1e-10 * largest), name


@every_documents
@every_model
@pytest.mark.parametrize("loss", LOSSES)
def test_loss_and_gradients_are_those_on_tokens(
    loss: str, settings: ModelSettings, drawn: tuple[DocumentSettings, MaskingSettings]
) -> None:
    for seed in range(3):
        model, batch = random_model(settings, seed), sample_counts(*drawn, 13, seed)
        counts, tokens = count_loss(model, batch, loss), masked_loss(model, batch.documents(), loss)
        assert float(counts.detach()) == pytest.approx(float(tokens.detach()), rel=1e-12)
        assert_same_gradients(gradients(model, counts), gradients(model, tokens))


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_any_trained_parts(loss: str) -> None:
    batch = sample_counts(*DOCUMENTS["padding"], 9, 1)
    for number in range(4):
        for frozen in combinations(PARAMETERS, number):
            model = random_model(MODELS["tiny"], 2)
            for name in frozen:
                getattr(model, name).requires_grad_(False)
            counts, tokens = count_loss(model, batch, loss), masked_loss(model, batch.documents(), loss)
            assert_same_gradients(gradients(model, counts), gradients(model, tokens))


def test_the_loss_weighs_every_document_the_same_by_hand() -> None:
    """b_pred alone predicts: one document hides word 1 twice, the other word 2 once."""
    model = TopicTransformer(ModelSettings.tiny(init_scale=0.0), 0).double()
    model.set_weight("b_pred", [0, 3, 1, 0, 0, 0, 0])
    batch = MaskedCounts(
        np.array([[1, 1, 0, 0, 0, 2, 0], [0, 0, 1, 0, 0, 0, 0]]), np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([1, 1, 2])
    )
    normaliser = np.log(np.exp(3) + np.exp(1) + 5)
    assert float(count_loss(model, batch).detach()) == pytest.approx(((normaliser - 3) + (normaliser - 1)) / 2, rel=1e-14)
    assert float(count_loss(model, batch, "squared").detach()) == pytest.approx(10 + 1 - (6 + 2) / 2, rel=1e-14)


def both_ways(model: TopicTransformer, batch: MaskedCounts) -> tuple[MaskedDocuments, tuple[torch.Tensor, ...], torch.Tensor]:
    """The batch on tokens; the arguments of ``count_...``; and which pair each selected position belongs to."""
    pairs = batch.pairs()
    arguments = tuple(torch.from_numpy(array) for array in (batch.counts, pairs.docs, pairs.queries))
    return batch.documents(), arguments, torch.from_numpy(pairs.index)


@every_documents
@every_model
def test_attention_is_that_of_the_tokens_position_by_position(
    settings: ModelSettings, drawn: tuple[DocumentSettings, MaskingSettings]
) -> None:
    model, batch = random_model(settings, 4), sample_counts(*drawn, 7, 4)
    tokens, arguments, index = both_ways(model, batch)
    with torch.no_grad():
        on_tokens = model.attention(torch.from_numpy(tokens.inputs))  # (B, N, N)
        on_counts = count_attention(model, *arguments)  # (V, P)
    assert torch.allclose(on_counts.sum(0), torch.ones(1, dtype=torch.float64), atol=1e-14)
    for number, (doc, position) in enumerate(np.argwhere(tokens.selected)):
        expected = np.zeros(settings.vocabulary.size)
        for key, token in enumerate(tokens.inputs[doc]):
            if token != PAD:
                expected[token] += float(on_tokens[doc, key, position])
        assert np.allclose(on_counts[:, index[number]].numpy(), expected, rtol=0, atol=1e-13)


@every_documents
@every_model
def test_predictions_are_those_of_the_tokens_position_by_position(
    settings: ModelSettings, drawn: tuple[DocumentSettings, MaskingSettings]
) -> None:
    model, batch = random_model(settings, 5), sample_counts(*drawn, 7, 5)
    tokens, arguments, index = both_ways(model, batch)
    with torch.no_grad():
        on_tokens = model(torch.from_numpy(tokens.inputs))  # (B, V, N)
        on_counts = count_predictions(model, *arguments)  # (V, P)
    assert on_counts.shape == (settings.vocabulary.size, len(arguments[1]))
    for number, (doc, position) in enumerate(np.argwhere(tokens.selected)):
        assert torch.allclose(on_counts[:, index[number]], on_tokens[doc, :, position], rtol=1e-11, atol=1e-11)


@every_model
def test_scores_between_tokens_are_equation_5_before_the_softmax(settings: ModelSettings) -> None:
    model = random_model(settings, 6)
    w = {name: p.detach().numpy() for name, p in model.named_parameters()}
    scores = token_scores(model).detach().numpy()
    for key in range(settings.vocabulary.size):
        for query in range(settings.vocabulary.size):
            k, q = w["W_K"] @ w["W_E"][:, key] + w["b_K"], w["W_Q"] @ w["W_E"][:, query] + w["b_Q"]
            assert scores[key, query] == pytest.approx(k @ q / np.sqrt(settings.d_a), rel=1e-12, abs=1e-13)


@every_model
@pytest.mark.parametrize("loss", LOSSES)
def test_shuffling_a_document_changes_nothing(loss: str, settings: ModelSettings) -> None:
    """On tokens up to rounding; on counts, which see no order, the counts are the same."""
    model, rng = random_model(settings, 7), np.random.default_rng(7)
    masked = sample_counts(*DOCUMENTS["padding"], 11, 7).documents()
    orders = rng.random(masked.inputs.shape)
    orders[masked.inputs == PAD] = 2  # padding stays at the end
    order = orders.argsort(axis=1)
    assert not np.array_equal(order, np.broadcast_to(np.arange(order.shape[1]), order.shape))
    shuffled = MaskedDocuments(*(np.take_along_axis(a, order, 1) for a in (masked.inputs, masked.targets, masked.selected)))
    one, other = (count_documents(batch, settings.vocabulary) for batch in (masked, shuffled))
    assert np.array_equal(one.counts, other.counts)
    with torch.no_grad():
        expected = float(masked_loss(model, masked, loss))
        for value in (masked_loss(model, shuffled, loss), count_loss(model, one, loss), count_loss(model, other, loss)):
            assert float(value) == pytest.approx(expected, rel=1e-12)


def test_one_hot_reads_the_matrices_themselves() -> None:
    """Equation 7: with W_E = I and no biases, scores are W_K^T W_Q / sqrt(V), and key i says column i of W_V."""
    settings = ModelSettings.tiny(embedding_dim=None, attention_dim=None, one_hot=True, attention_biases=False)
    model = random_model(settings, 8)
    assert torch.allclose(token_scores(model), model.W_K.T @ model.W_Q / 7**0.5, atol=1e-14)
    alone = torch.eye(7)  # seven documents of one token each, which has all the attention
    said = count_predictions(model, alone, torch.arange(7), torch.arange(7))
    assert torch.allclose(said, model.W_V + model.b_pred[:, None], atol=1e-14)


def test_a_token_that_does_not_appear_gets_exactly_0() -> None:
    model = random_model(MODELS["tiny"], 9)
    batch = sample_counts(*DOCUMENTS["N = 1"], 20, 9)
    _, arguments, _ = both_ways(model, batch)
    attention = count_attention(model, *arguments).detach().numpy()
    assert np.array_equal(attention, (batch.counts[batch.pairs().docs] > 0).T.astype(float))


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_in_the_thousands_give_what_the_tokens_give(loss: str) -> None:
    model = random_model(MODELS["tiny"], 10)
    with torch.no_grad():
        model.W_K *= 60
        model.W_Q *= 60
    assert float(token_scores(model).abs().max().detach()) > 3000
    batch = sample_counts(*DOCUMENTS["padding"], 20, 10)
    counts, tokens = count_loss(model, batch, loss), masked_loss(model, batch.documents(), loss)
    assert np.isfinite(float(counts.detach()))
    assert float(counts.detach()) == pytest.approx(float(tokens.detach()), rel=1e-10)


def test_the_loss_is_in_the_models_precision() -> None:
    batch = sample_counts(*DOCUMENTS["tiny"], 4, 0)
    assert count_loss(TopicTransformer(MODELS["tiny"], 0), batch).dtype == torch.float32
    assert count_loss(random_model(MODELS["tiny"], 0), batch).dtype == torch.float64


MODEL = TopicTransformer(MODELS["tiny"], 0)
BATCH = sample_counts(*DOCUMENTS["tiny"], 4, 0)
OTHER = sample_counts(DocumentSettings.tiny(num_topics=4), MaskingSettings(), 4, 0)
BAD: list[tuple[Callable[..., object], type[Exception], str]] = [
    (lambda: count_loss("x", BATCH), TypeError, "model = 'x': must be a TopicTransformer"),  # type: ignore[arg-type]
    (lambda: count_loss(MODEL, BATCH.documents()), TypeError, "batch = MaskedDocuments("),  # type: ignore[arg-type]
    (lambda: count_loss(MODEL, BATCH, "hinge"), ValueError, "loss = 'hinge': must be one of 'cross_entropy', 'squared'"),
    (lambda: count_loss(MODEL, BATCH, None), ValueError, "loss = None: must be one of"),  # type: ignore[arg-type]
    (lambda: count_loss(MODEL, OTHER), ValueError, "batch has counts of 9 tokens: must be V = 7"),
    (lambda: token_scores(None), TypeError, "model = None: must be a TopicTransformer"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "error", "begins"), BAD, ids=[begins[:20] for _, _, begins in BAD])
def test_errors_name_the_argument(call: Callable[[], Any], error: type[Exception], begins: str) -> None:
    with pytest.raises(error, match="^" + re.escape(begins)):
        call()
