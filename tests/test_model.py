"""The transformer of Section 3.3 against a loop over positions, against BERT, and its exact properties."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from transformers import BertConfig, BertForMaskedLM

from tools.bench import First
from topiclib.documents import PAD
from topiclib.losses import masked_loss
from topiclib.masking import MaskedDocuments
from topiclib.model import PARAMETERS, WEIGHTS, ModelSettings, TopicTransformer, frobenius_norms
from topiclib.settings import BIASES
from topiclib.vocabulary import MASK, Vocabulary

WORDS = Vocabulary(3, 2)  # V = 7; with N = 6 and 4, d = 5, d_a = 4, B = 3 and M = 2 no two dimensions agree but by accident
TOKENS = torch.tensor([[1, 0, 4, 4, 6, 2], [3, 5, 0, 1, PAD, PAD], [2, PAD, PAD, PAD, PAD, PAD]])
POSITIONS = torch.tensor([[5, 1], [2, 2], [0, 0]])
TINY = ModelSettings.tiny()
ONE_HOT = ModelSettings(WORDS, attention_dim=4, one_hot=True, init_scale=0.5)
UNIFORM = ModelSettings.tiny(uniform_attention=True)
EXACT = {"rtol": 0, "atol": 1e-12}


def make_model(settings: ModelSettings = TINY, seed: int = 0) -> TopicTransformer:
    """A model in float64 whose biases are not 0, so that forgetting one is seen."""
    model = TopicTransformer(settings, seed).double()
    generator = torch.Generator().manual_seed(seed + 100)
    for name in (*BIASES, "b_pred"):
        fixed_at_zero = name in settings.frozen_names()
        if not fixed_at_zero:
            value = torch.randn(settings.shape_of(name), generator=generator, dtype=torch.float64)
            model.set_weight(name, value, freeze=False)
    return model


def by_hand(model: TopicTransformer, document: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Attention (N, N) and predictions (V, N) of one document without padding, one position after the other."""
    w = {name: getattr(model, name).detach().numpy() for name in PARAMETERS}
    z = [w["W_E"][:, token] for token in document]
    n, d_a = len(document), model.settings.d_a
    attention, predictions = np.zeros((n, n)), np.zeros((model.settings.vocabulary.size, n))
    for j in range(n):
        query = w["W_Q"] @ z[j] + w["b_Q"]
        scores = [float((w["W_K"] @ z[i] + w["b_K"]) @ query) / d_a**0.5 for i in range(n)]
        total = sum(math.exp(score) for score in scores)
        output = np.zeros(model.settings.d)
        for i in range(n):
            attention[i, j] = math.exp(scores[i]) / total
            output += attention[i, j] * (w["W_V"] @ z[i] + w["b_V"])
        for token in range(model.settings.vocabulary.size):
            predictions[token, j] = float(w["W_E"][:, token] @ output) + w["b_pred"][token]
    return attention, predictions


def bert_twin(model: TopicTransformer, *, norm: bool) -> BertForMaskedLM:
    """BERT with one layer, one head and ``model``'s weights; what the paper removes hands on its input.

    With ``norm`` the embeddings' layer norm stays: one-hot columns all have mean 1/V and variance
    1/V - 1/V^2, so that with gamma = sqrt(variance + eps) and beta = mean it is the identity on them.
    """
    settings = model.settings
    v = settings.vocabulary.size
    config = BertConfig(
        vocab_size=v, hidden_size=settings.d, num_hidden_layers=1, num_attention_heads=1, intermediate_size=1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, max_position_embeddings=16, type_vocab_size=1,
        pad_token_id=None, attn_implementation="eager",
    )  # fmt: skip
    bert = BertForMaskedLM(config).double().eval()
    embeddings, layer, head = bert.bert.embeddings, bert.bert.encoder.layer[0], bert.cls.predictions
    self_attention = layer.attention.self
    assert head.decoder.weight is embeddings.word_embeddings.weight
    with torch.no_grad():
        embeddings.position_embeddings.weight.zero_()
        embeddings.token_type_embeddings.weight.zero_()
        embeddings.word_embeddings.weight.copy_(model.W_E.T)
        head.bias.copy_(model.b_pred)
        for linear, letter in ((self_attention.key, "K"), (self_attention.query, "Q"), (self_attention.value, "V")):
            linear.weight.copy_(getattr(model, f"W_{letter}"))
            linear.bias.copy_(getattr(model, f"b_{letter}"))
        embeddings.LayerNorm.weight.fill_(math.sqrt(1 / v - 1 / v**2 + config.layer_norm_eps))
        embeddings.LayerNorm.bias.fill_(1 / v)
    if not norm:
        embeddings.LayerNorm = First()
    layer.attention.output = layer.intermediate = layer.output = head.transform = First()
    return bert


# --- against a loop over positions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [TINY, ONE_HOT, UNIFORM, ModelSettings.tiny(attention_biases=False)])
def test_model_is_the_loop_over_positions(settings: ModelSettings) -> None:
    model = make_model(settings)
    attention, predictions = model.attention(TOKENS).detach().numpy(), model(TOKENS).detach().numpy()
    for b, row in enumerate(TOKENS.tolist()):
        document = [token for token in row if token != PAD]
        n = len(document)
        expected_attention, expected = by_hand(model, document)
        np.testing.assert_allclose(attention[b, :n, :n], expected_attention, **EXACT)
        np.testing.assert_allclose(predictions[b, :, :n], expected, **EXACT)
        assert (attention[b, n:] == 0).all(), "padding must get weight exactly 0"


def test_chosen_positions_are_columns_of_the_whole() -> None:
    for settings in (TINY, ONE_HOT, UNIFORM):
        model = make_model(settings)
        whole, attention = model(TOKENS), model.attention(TOKENS)
        chosen, chosen_attention = model(TOKENS, POSITIONS), model.attention(TOKENS, POSITIONS)
        assert chosen.shape == (3, 7, 2)
        assert chosen_attention.shape == (3, 6, 2)
        for b, m in itertools.product(range(3), range(2)):
            j = int(POSITIONS[b, m])
            torch.testing.assert_close(chosen[b, :, m], whole[b, :, j], **EXACT)
            torch.testing.assert_close(chosen_attention[b, :, m], attention[b, :, j], **EXACT)


def test_equation_5_column_j_is_the_query() -> None:
    model = TopicTransformer(ModelSettings(Vocabulary(1, 2), one_hot=True, attention_dim=1), 0).double()
    # Keys: word 2 has key 1, the others 0. Queries: word 1 has query log 3, the others 0.
    model.set_weight("W_K", [[0, 0, 1]])
    model.set_weight("W_Q", [[0, math.log(3), 0]])
    a = model.attention(torch.tensor([[1, 2]]))[0]
    torch.testing.assert_close(a.detach(), torch.tensor([[1 / 4, 1 / 2], [3 / 4, 1 / 2]], dtype=torch.float64), **EXACT)


def test_columns_sum_to_one_and_scores_are_scaled() -> None:
    model = make_model()
    a = model.attention(TOKENS)
    torch.testing.assert_close(a.sum(dim=1), torch.ones(3, 6, dtype=torch.float64), **EXACT)
    z = model.embed(TOKENS[:1])
    keys, queries = model.W_K @ z + model.b_K[:, None], model.W_Q @ z + model.b_Q[:, None]
    ratio = (keys[0, :, 0] - keys[0, :, 1]) @ queries[0] / 2  # sqrt(d_a) = 2
    torch.testing.assert_close((a[0, 0] / a[0, 1]).log(), ratio, rtol=0, atol=1e-10)


def test_one_hot_is_equation_7() -> None:
    model = make_model(ONE_HOT)
    x = nn.functional.one_hot(TOKENS[:1], 7).double().transpose(1, 2)
    torch.testing.assert_close(model.embed(TOKENS[:1]), x, **EXACT)
    expected = model.W_V @ x @ model.attention(TOKENS[:1]) + model.b_V[:, None] + model.b_pred[:, None]
    torch.testing.assert_close(model(TOKENS[:1]), expected, **EXACT)


def test_uniform_attention_is_one_over_n() -> None:
    a = make_model(UNIFORM).attention(TOKENS)
    for b, n in enumerate((6, 4, 1)):
        torch.testing.assert_close(a[b, :n], torch.full((n, 6), 1 / n, dtype=torch.float64), **EXACT)
        assert (a[b, n:] == 0).all()


def test_uniform_attention_honours_weights_that_are_set() -> None:
    model, free = make_model(UNIFORM), make_model()
    for name in PARAMETERS:
        model.set_weight(name, getattr(free, name).detach())
    torch.testing.assert_close(model(TOKENS), free(TOKENS), **EXACT)


def test_padding_changes_nothing() -> None:
    for settings in (TINY, ONE_HOT, UNIFORM):
        model = make_model(settings)
        alone = model(TOKENS[1:2, :4])
        for padded in (TOKENS[1:2], nn.functional.pad(TOKENS[1:2], (0, 7), value=PAD)):
            torch.testing.assert_close(model(padded)[:, :, :4], alone, **EXACT)
    assert (make_model().embed(TOKENS)[1, :, 4:] == 0).all()


# --- against BERT ----------------------------------------------------------------------------------------------------


# BERT with one head has d_a = d.
@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(WORDS, one_hot=True, init_scale=0.5),
        ModelSettings(WORDS, one_hot=True, init_scale=0.5, attention_biases=False),
        ModelSettings(WORDS, embedding_dim=5, init_scale=0.5),
    ],
)
def test_bert_with_the_same_weights_agrees(settings: ModelSettings) -> None:
    model = make_model(settings)
    bert = bert_twin(model, norm=settings.one_hot)
    is_token = TOKENS != PAD
    labels = torch.where(is_token, torch.tensor([[5, 3, 4, 1, 6, 2], [3, 5, 2, 1, 0, 0], [2, 0, 0, 0, 0, 0]]), -100)
    out = bert(TOKENS.clamp(min=0), attention_mask=is_token.long(), labels=labels, output_attentions=True)
    a, f = model.attention(TOKENS), model(TOKENS)
    loss = nn.functional.cross_entropy(f, labels)
    real = is_token[:, None, :]
    torch.testing.assert_close(a * real, out.attentions[0][:, 0].transpose(1, 2) * real, **EXACT)
    torch.testing.assert_close(f * real, out.logits.transpose(1, 2) * real, **EXACT)
    torch.testing.assert_close(loss, out.loss, **EXACT)
    loss.backward()
    out.loss.backward()
    twin = bert.bert.encoder.layer[0].attention.self
    for ours, theirs in ((model.W_K, twin.key), (model.W_Q, twin.query), (model.W_V, twin.value)):
        assert ours.grad is not None
        assert ours.grad.norm() > 1e-3
        torch.testing.assert_close(ours.grad, theirs.weight.grad, **EXACT)
    for bias, theirs in ((model.b_K, twin.key), (model.b_Q, twin.query), (model.b_V, twin.value)):
        if settings.attention_biases:
            torch.testing.assert_close(bias.grad, theirs.bias.grad, **EXACT)
    torch.testing.assert_close(model.b_pred.grad, bert.cls.predictions.bias.grad, **EXACT)
    if not settings.one_hot:  # tied in both: the gradient is the sum over both uses
        torch.testing.assert_close(model.W_E.grad, bert.bert.embeddings.word_embeddings.weight.grad.T, **EXACT)


def test_masked_loss_is_bert_loss() -> None:
    model = make_model(ModelSettings(WORDS, one_hot=True, init_scale=0.5))
    words = torch.tensor([[1, 3, 4, 4, 6, 2], [2, 2, 1, 6, 5, 3]])
    selected = np.array([[0, 1, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0]], dtype=bool)  # as many in each: BERT averages over positions
    inputs = np.where(selected, MASK, words.numpy())
    labels = torch.from_numpy(np.where(selected, words.numpy(), -100))
    theirs = bert_twin(model, norm=True)(torch.from_numpy(inputs), labels=labels).loss
    torch.testing.assert_close(masked_loss(model, MaskedDocuments(inputs, words.numpy(), selected)), theirs, **EXACT)


# --- identities ------------------------------------------------------------------------------------------------------


def test_permuting_a_document_permutes_the_columns() -> None:
    model, order = make_model(), torch.tensor([3, 0, 5, 1, 4, 2])
    document = TOKENS[:1]
    a, permuted = model.attention(document)[0], model.attention(document[:, order])[0]
    torch.testing.assert_close(permuted, a[order][:, order], **EXACT)
    torch.testing.assert_close(model(document[:, order])[0], model(document)[0][:, order], **EXACT)


def test_documents_of_a_batch_do_not_touch() -> None:
    model = make_model()
    together = model(TOKENS)
    for b in range(3):
        torch.testing.assert_close(model(TOKENS[b : b + 1])[0], together[b], **EXACT)


def test_attention_over_tokens_is_attention_over_vocabulary_with_log_counts() -> None:
    model, document = make_model(), TOKENS[0]
    counts = torch.bincount(document, minlength=7).double()
    vocabulary = model.W_E  # column i is token i's embedding
    keys, queries = model.W_K @ vocabulary + model.b_K[:, None], model.W_Q @ vocabulary + model.b_Q[:, None]
    a = (keys.T @ queries / 2 + counts.log()[:, None]).softmax(dim=0)  # (V keys, V queries)
    f = model.W_E.T @ (model.W_V @ vocabulary @ a + model.b_V[:, None]) + model.b_pred[:, None]
    torch.testing.assert_close(model(document[None])[0], f[:, document], **EXACT)
    torch.testing.assert_close(model.attention(document[None])[0], (a / counts[:, None])[document][:, document], **EXACT)


def test_b_k_changes_nothing_and_b_v_adds_a_constant() -> None:
    model = make_model()
    a, f = model.attention(TOKENS), model(TOKENS)
    model.set_weight("b_K", [5.0, -3.0, 2.0, 7.0])
    torch.testing.assert_close(model.attention(TOKENS), a, **EXACT)
    shift = torch.tensor([1.0, -2.0, 0.5, 3.0, 4.0], dtype=torch.float64)
    model.set_weight("b_V", model.b_V + shift)
    torch.testing.assert_close(model.attention(TOKENS), a, **EXACT)
    torch.testing.assert_close(model(TOKENS) - f, (model.W_E.T @ shift)[None, :, None].expand(3, 7, 6), **EXACT)
    model.set_weight("b_Q", model.b_Q + 1)
    assert (model.attention(TOKENS) - a).abs().max() > 0.01, "b_Q does matter"


# --- gradients and freezing ------------------------------------------------------------------------------------------

SWITCHES = [
    ModelSettings(WORDS, None if one_hot else 5, 4, one_hot, uniform, biases, frozen, 0.5)
    for one_hot, uniform, biases in itertools.product((False, True), repeat=3)
    for frozen in ((), ("W_V",), ("W_K", "W_Q"), ("W_E", "b_pred"), ("b_V", "b_Q"))
]


@pytest.mark.parametrize("settings", SWITCHES)
def test_gradients_reach_the_trained_parts_only(settings: ModelSettings) -> None:
    model = TopicTransformer(settings, 3).double()
    targets = torch.tensor([[5, 3, 4, 1, 6, 2], [3, 5, 2, 1, -100, -100], [2, -100, -100, -100, -100, -100]])
    nn.functional.cross_entropy(model(TOKENS), targets).backward()
    frozen = settings.frozen_names()
    assert set(model.trained()) == set(PARAMETERS) - frozen
    for name in PARAMETERS:
        gradient = getattr(model, name).grad
        if name in frozen:
            assert gradient is None, name
        elif name == "b_K":
            # A constant added to every key adds one number to a whole column of scores, which softmax ignores.
            assert gradient.abs().max() < 1e-14
        else:
            assert gradient.norm() > 1e-4, name
    one_hot, uniform, biases = settings.one_hot, settings.uniform_attention, settings.attention_biases
    expected = set(settings.frozen) | ({"W_E"} if one_hot else set()) | (set() if biases else set(BIASES))
    assert frozen == expected | ({"W_K", "W_Q", "b_K", "b_Q"} if uniform else set())


@pytest.mark.parametrize("settings", [TINY, ONE_HOT, UNIFORM])
def test_gradcheck(settings: ModelSettings) -> None:
    model = make_model(settings)
    names = list(model.trained())

    def predictions(*values: Tensor) -> Tensor:
        f: Tensor = functional_call(model, dict(zip(names, values, strict=True)), (TOKENS, POSITIONS))
        return f

    assert torch.autograd.gradcheck(predictions, tuple(model.trained().values()))


# --- seeds, shapes, set_weight ---------------------------------------------------------------------------------------


def test_the_seed_decides_the_start_and_nothing_else_does() -> None:
    torch.manual_seed(1)
    first = TopicTransformer(TINY, 7)
    torch.manual_seed(2)
    again, other = TopicTransformer(TINY, 7), TopicTransformer(TINY, 8)
    for name in PARAMETERS:
        assert torch.equal(getattr(first, name), getattr(again, name)), name
        assert torch.equal(getattr(first, name), getattr(other, name)) == (name not in WEIGHTS), name
    before = torch.get_rng_state()
    TopicTransformer(TINY, 7)
    assert torch.equal(torch.get_rng_state(), before), "the global state must stay as it is"


@pytest.mark.parametrize(
    "changes", [{"frozen": ("W_E",)}, {"frozen": ("W_K", "W_V")}, {"uniform_attention": True}, {"attention_biases": False}]
)
def test_freezing_leaves_the_other_starts_as_they_were(changes: dict[str, Any]) -> None:
    whole, part = TopicTransformer(TINY, 7), TopicTransformer(ModelSettings.tiny(**changes), 7)
    for name in WEIGHTS:
        if not (changes.get("uniform_attention") and name in ("W_K", "W_Q")):
            assert torch.equal(getattr(whole, name), getattr(part, name)), name
    square = ModelSettings(WORDS, init_scale=0.5)  # d = V: one_hot replaces W_E only
    free, one_hot = TopicTransformer(square, 7), TopicTransformer(ModelSettings(WORDS, one_hot=True, init_scale=0.5), 7)
    assert torch.equal(one_hot.W_E, torch.eye(7))
    assert all(torch.equal(getattr(free, name), getattr(one_hot, name)) for name in ("W_K", "W_Q", "W_V"))


def test_initial_scale_and_shapes() -> None:
    model = TopicTransformer(ModelSettings.paper(), 0)
    assert {name: tuple(p.shape) for name, p in model.named_parameters()} == {
        "W_E": (101, 101), "W_K": (101, 101), "W_Q": (101, 101), "W_V": (101, 101),
        "b_K": (101,), "b_Q": (101,), "b_V": (101,), "b_pred": (101,),
    }  # fmt: skip
    for name in WEIGHTS:
        weight = getattr(model, name).detach()
        assert float(weight.std()) == pytest.approx(0.02, rel=0.03), name  # 10,201 entries: 0.7 % standard error
        assert abs(float(weight.mean())) < 0.001, name
    assert not any(getattr(model, name).any() for name in (*BIASES, "b_pred"))
    tiny = TopicTransformer(TINY, 0)
    assert {n: tuple(p.shape) for n, p in tiny.named_parameters()} == {
        "W_E": (5, 7), "W_K": (4, 5), "W_Q": (4, 5), "W_V": (5, 5), "b_K": (4,), "b_Q": (4,), "b_V": (5,), "b_pred": (7,),
    }  # fmt: skip
    assert set(tiny.trained()) == set(PARAMETERS)


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("kind", ["array", "list", "tensor"])
def test_set_weight(name: str, kind: str) -> None:
    model = TopicTransformer(TINY, 0)
    others = {n: p.detach().clone() for n, p in model.named_parameters() if n != name}
    array = np.arange(math.prod(TINY.shape_of(name)), dtype=np.float64).reshape(TINY.shape_of(name))
    given = {"array": array, "list": array.tolist(), "tensor": torch.from_numpy(array)}[kind]
    model.set_weight(name, given, freeze=False)
    assert getattr(model, name).requires_grad
    np.testing.assert_array_equal(getattr(model, name).detach().numpy(), array)
    model.set_weight(name, given)
    assert not getattr(model, name).requires_grad
    assert set(model.trained()) == set(PARAMETERS) - {name}
    assert all(torch.equal(getattr(model, n), value) for n, value in others.items())
    array += 1  # the model holds a copy
    assert not np.array_equal(getattr(model, name).detach().numpy(), array)


def test_frobenius_norms() -> None:
    model = TopicTransformer(TINY, 0)
    model.set_weight("W_V", np.full((5, 5), 2.0))
    norms = frobenius_norms(model)
    assert list(norms) == list(WEIGHTS)
    assert norms["W_V"] == pytest.approx(10)
    assert frobenius_norms(model, ["b_pred"]) == {"b_pred": 0.0}


# --- bad inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "changes"),
    [
        ("vocabulary", {"vocabulary": 100}),
        ("embedding_dim", {"embedding_dim": 0}),
        ("embedding_dim", {"embedding_dim": 5.0}),
        ("embedding_dim", {"embedding_dim": 5, "one_hot": True}),
        ("attention_dim", {"attention_dim": -1}),
        ("one_hot", {"one_hot": 1}),
        ("uniform_attention", {"uniform_attention": "yes"}),
        ("attention_biases", {"attention_biases": None}),
        ("frozen", {"frozen": "W_E"}),
        ("frozen", {"frozen": ["W_E"]}),
        ("frozen", {"frozen": ("W_X",)}),
        ("init_scale", {"init_scale": -0.1}),
        ("init_scale", {"init_scale": float("nan")}),
        ("init_scale", {"init_scale": "0.1"}),
    ],
)
def test_bad_settings(argument: str, changes: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"^{argument}\b.*must be"):
        ModelSettings(**changes)


@pytest.mark.parametrize("seed", [-1, None, 1.5, True, 2**64])
def test_bad_seed(seed: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^seed = .*whole number"):
        TopicTransformer(TINY, seed)


@pytest.mark.parametrize(
    "tokens",
    [
        torch.tensor([1, 2]),  # one document without its batch
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([[1, 2]], dtype=torch.int32),
        torch.tensor([[1, 7]]),  # V = 7: ids end at 6
        torch.tensor([[1, -2]]),
        torch.tensor([[1, 2], [PAD, PAD]]),
        torch.zeros((0, 3), dtype=torch.int64),
        torch.zeros((2, 0), dtype=torch.int64),
    ],
)
@pytest.mark.parametrize("settings", [TINY, UNIFORM])
def test_bad_tokens(tokens: Tensor, settings: ModelSettings) -> None:
    model = TopicTransformer(settings, 0)
    for use in (model, model.attention, model.embed):
        with pytest.raises(ValueError, match=r"^tokens has .*must"):
            use(tokens)


@pytest.mark.parametrize(
    "positions",
    [
        torch.tensor([0, 1, 2]),
        torch.tensor([[0.0], [1.0], [2.0]]),
        torch.tensor([[0], [1]]),  # B = 3
        torch.tensor([[0], [1], [6]]),  # N = 6
        torch.tensor([[0], [-1], [2]]),
        torch.zeros((3, 0), dtype=torch.int64),
    ],
)
@pytest.mark.parametrize("settings", [TINY, UNIFORM])
def test_bad_positions(positions: Tensor, settings: ModelSettings) -> None:
    model = TopicTransformer(settings, 0)
    for use in (model, model.attention):
        with pytest.raises(ValueError, match=r"^positions has .*must be"):
            use(TOKENS, positions)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("W_X", [[1]], "^name = 'W_X': must be one of W_E"),
        ("W_V", np.eye(7), r"^W_V has shape \(7, 7\): must be \(5, 5\)"),
        ("W_K", np.zeros((5, 4)), r"^W_K has shape \(5, 4\): must be \(4, 5\)"),
        ("b_pred", np.zeros((7, 1)), r"^b_pred has shape"),
        ("W_Q", torch.full((4, 5), float("nan")), "^W_Q has an entry that is not finite"),
        ("b_V", np.full(5, np.inf), "^b_V has an entry that is not finite"),
        ("b_V", np.full(5, 1e300), r"^b_V has an entry that is not finite in torch.float32: must be finite"),
        ("b_V", torch.full((5,), -1e300, dtype=torch.float64), "^b_V has an entry that is not finite in torch.float32"),
    ],
)
def test_bad_weight(name: str, value: Any, message: str) -> None:
    model = TopicTransformer(TINY, 0)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    with pytest.raises(ValueError, match=message):
        model.set_weight(name, value)
    assert all(torch.equal(p, before[n]) and p.requires_grad for n, p in model.named_parameters()), "nothing is changed"


@pytest.mark.parametrize(
    "value", ["x", [[1.0], [1.0, 2.0]], len, None, np.full((5, 5), 1j), torch.full((5, 5), 1j), [1j] * 5, np.full((5, 5), "1")]
)
def test_a_weight_that_is_no_real_array(value: Any) -> None:
    model = TopicTransformer(TINY, 0)
    before = model.W_V.detach().clone()
    with pytest.raises((TypeError, ValueError), match=r"^W_V (= .*must be an array of real numbers|has shape \(\))"):
        model.set_weight("W_V", value)
    assert torch.equal(model.W_V, before)


def test_a_large_weight_is_taken_in_double_precision() -> None:
    model = TopicTransformer(TINY, 0).double()
    model.set_weight("b_V", np.full(5, 1e300))
    assert model.b_V.tolist() == [1e300] * 5
