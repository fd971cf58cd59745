"""Equations 1 to 4 against the same written by hand, and what the L2 term does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from topiclib.documents import PAD
from topiclib.losses import LOSSES, cross_entropy, l2_penalty, masked_loss, selected_positions, squared
from topiclib.masking import MaskedDocuments
from topiclib.model import PARAMETERS, ModelSettings, TopicTransformer
from topiclib.training import TrainingSettings, sample_batch

TINY = ModelSettings.tiny()
TARGETS = np.array([[1, 3, 4, 4, 6, 2], [3, 5, 2, 1, PAD, PAD], [2, 6, PAD, PAD, PAD, PAD]])
SELECTED = np.array([[0, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]], dtype=bool)
INPUTS = np.array([[1, 0, 4, 4, 5, 0], [3, 5, 0, 1, PAD, PAD], [0, 6, PAD, PAD, PAD, PAD]])
BATCH = MaskedDocuments(INPUTS, TARGETS, SELECTED)


def make_model(seed: int = 0) -> TopicTransformer:
    model = TopicTransformer(TINY, seed).double()
    generator = torch.Generator().manual_seed(seed)
    for name in ("b_K", "b_Q", "b_V", "b_pred"):
        model.set_weight(name, torch.randn(TINY.shape_of(name), generator=generator), freeze=False)
    return model


def value(model: TopicTransformer, batch: MaskedDocuments, loss: str = "cross_entropy") -> float:
    """The masked loss as a number."""
    return float(masked_loss(model, batch, loss).detach())


def one_loss(x: np.ndarray, target: int, loss: str) -> float:
    """Equation 3 or 4, as the paper writes it: with a one-hot label, with exp and log."""
    if loss == "squared":
        return sum((float(x[i]) - (i == target)) ** 2 for i in range(len(x)))
    return -math.log(math.exp(x[target]) / sum(math.exp(entry) for entry in x))


def equation_1(model: TopicTransformer, batch: MaskedDocuments, loss: str) -> float:
    """Mean over documents of the mean over M, document by document and without padding."""
    documents = []
    for inputs, targets, selected in zip(batch.inputs, batch.targets, batch.selected, strict=True):
        n = int((targets != PAD).sum())
        with torch.no_grad():
            f = model(torch.from_numpy(inputs[None, :n]))[0].numpy()
        masked = [j for j in range(n) if selected[j]]
        documents.append(sum(one_loss(f[:, j], int(targets[j]), loss) for j in masked) / len(masked))
    return sum(documents) / len(documents)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_equations_3_and_4(loss: str) -> None:
    x = np.random.default_rng(0).normal(size=(2, 7, 3)) * 2
    targets = np.array([[0, 6, 3], [3, 3, 1]])
    got = {"cross_entropy": cross_entropy, "squared": squared}[loss](torch.from_numpy(x), torch.from_numpy(targets))
    expected = [[one_loss(x[b, :, m], targets[b, m], loss) for m in range(3)] for b in range(2)]
    np.testing.assert_allclose(got.numpy(), expected, rtol=0, atol=1e-12)


def test_values_that_one_knows() -> None:
    zeros, target = torch.zeros(1, 7, 1), torch.tensor([[4]])
    assert float(cross_entropy(zeros, target)) == pytest.approx(math.log(7))  # nats
    assert float(squared(zeros, target)) == 1
    right = torch.nn.functional.one_hot(target, 7).float().transpose(1, 2)
    assert float(squared(right, target)) == 0
    # Remark 1: cross-entropy ignores a constant added to every entry, squared loss does not.
    assert float(cross_entropy(right + 5, target)) == pytest.approx(float(cross_entropy(right, target)), abs=1e-6)
    assert float(squared(right + 5, target)) == 175


@pytest.mark.parametrize("loss", LOSSES)
def test_masked_loss_is_equation_1(loss: str) -> None:
    model = make_model()
    assert value(model, BATCH, loss) == pytest.approx(equation_1(model, BATCH, loss), abs=1e-12)
    settings = TrainingSettings.tiny()
    batch = sample_batch(settings, 20, 5)
    assert len(set(batch.selected.sum(axis=1))) > 1
    assert value(model, batch, loss) == pytest.approx(equation_1(model, batch, loss), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_document_weighs_the_same(loss: str) -> None:
    model = make_model()
    alone = [value(model, MaskedDocuments(INPUTS[[b]], TARGETS[[b]], SELECTED[[b]]), loss) for b in range(3)]
    assert value(model, BATCH, loss) == pytest.approx(sum(alone) / 3, abs=1e-12)
    assert len({round(a, 3) for a in alone}) == 3
    # The mean over positions, which it is not, differs.
    sizes = SELECTED.sum(axis=1)
    over_positions = sum(a * int(s) for a, s in zip(alone, sizes, strict=True)) / sizes.sum()
    assert abs(over_positions - value(model, BATCH, loss)) > 1e-3


def test_only_selected_positions_count() -> None:
    model = make_model()
    targets = np.where(SELECTED | (TARGETS == PAD), TARGETS, 1)  # other targets where nothing is predicted
    assert value(model, replace(BATCH, targets=targets)) == value(model, BATCH)
    extra = np.pad(INPUTS, ((0, 0), (0, 3)), constant_values=PAD), np.pad(TARGETS, ((0, 0), (0, 3)), constant_values=PAD)
    padded = MaskedDocuments(*extra, np.pad(SELECTED, ((0, 0), (0, 3))))
    assert value(model, padded) == pytest.approx(value(model, BATCH), abs=1e-12)


def test_default_loss_is_cross_entropy() -> None:
    model = make_model()
    assert value(model, BATCH) == value(model, BATCH, "cross_entropy")


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_is_that_of_finite_differences(loss: str) -> None:
    model = make_model()
    masked_loss(model, BATCH, loss).backward()
    for name in PARAMETERS:
        parameter = getattr(model, name)
        index = tuple(size - 1 for size in parameter.shape)
        nearby = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                parameter[index] += step
                nearby.append(value(model, BATCH, loss))
                parameter[index] -= step
        slope = (nearby[0] - nearby[1]) / 2e-5
        assert float(parameter.grad[index]) == pytest.approx(slope, abs=1e-8), name


def test_selected_positions() -> None:
    positions, real = selected_positions(SELECTED)
    assert positions.tolist() == [[1, 3, 4, 5], [2, 0, 0, 0], [0, 1, 0, 0]]
    assert real.tolist() == [[True] * 4, [True, False, False, False], [True, True, False, False]]
    with pytest.raises(ValueError, match=r"^selected has no position in document 1: must be"):
        selected_positions(np.array([[True, False], [False, False]]))


# --- L2 --------------------------------------------------------------------------------------------------------------


def test_l2_is_the_squared_norm_with_gradient_two_theta() -> None:
    model = make_model()
    penalty = 0.3 * l2_penalty(model.parameters())
    assert float(penalty.detach()) == pytest.approx(0.3 * sum(x**2 for p in model.parameters() for x in p.flatten().tolist()))
    penalty.backward()
    for p in model.parameters():
        torch.testing.assert_close(p.grad, 2 * 0.3 * p.detach(), rtol=0, atol=1e-14)


def trained_with(optimizer: type[torch.optim.Optimizer], l2_coef: float, weight_decay: float) -> torch.Tensor:
    model = make_model()
    chosen = optimizer(model.parameters(), lr=0.1, weight_decay=weight_decay)  # type: ignore[call-arg]
    for _ in range(5):
        chosen.zero_grad()
        (masked_loss(model, BATCH) + l2_coef * l2_penalty(model.parameters())).backward()
        chosen.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
def test_l2_is_weight_decay_of_twice_lambda(optimizer: type[torch.optim.Optimizer]) -> None:
    ours, theirs = trained_with(optimizer, 0.05, 0), trained_with(optimizer, 0, 0.1)
    # Adam divides by the gradient's size, so b_K, whose own gradient is rounding only, is compared less closely.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12 if optimizer is torch.optim.SGD else 1e-7)
    assert (ours - trained_with(optimizer, 0, 0.05)).abs().max() > 1e-3, "lambda itself is not the weight decay"


def test_decoupled_decay_is_not_l2() -> None:
    ours, theirs = trained_with(torch.optim.Adam, 0.05, 0), trained_with(torch.optim.AdamW, 0, 0.1)
    assert (ours - theirs).abs().max() > 1e-2


# --- bad inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["mse", "", None, 3])
def test_bad_loss(loss: Any) -> None:
    with pytest.raises(ValueError, match=r"^loss = .*must be one of 'cross_entropy', 'squared'"):
        masked_loss(make_model(), BATCH, loss)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selected": np.zeros_like(SELECTED)}, "^selected has no position in document 0: must be"),
        ({"selected": SELECTED | (TARGETS == PAD)}, "^selected marks a padded position: must be"),
        ({"selected": SELECTED.astype(int)}, r"^batch has .*selected \(booleans\) must"),
        ({"selected": SELECTED[:, :4]}, "^batch has shapes .*must have one shape"),
        ({"targets": TARGETS[:2]}, "^batch has shapes .*must have one shape"),
        ({"targets": np.where(SELECTED, 7, TARGETS)}, "^targets has an id outside 1 to 6 .*must be words"),
        ({"targets": np.where(SELECTED, 0, TARGETS)}, "^targets has an id outside 1 to 6 .*must be words"),
        ({"inputs": np.where(SELECTED, 7, INPUTS)}, "^tokens has ids from -1 to 7: must be from 0 to 6"),
        ({"inputs": INPUTS.astype(float)}, "^tokens has .*float64: must be"),
    ],
)
def test_bad_batch(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        masked_loss(make_model(), replace(BATCH, **changes))


def test_bad_parameters() -> None:
    with pytest.raises(ValueError, match=r"^parameters is empty: must"):
        l2_penalty([])
