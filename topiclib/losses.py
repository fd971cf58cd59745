"""Masked losses of Section 3.2 (equations 1, 3 and 4) and the L2 penalty of equation 2."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from topiclib.documents import PAD
from topiclib.masking import MaskedDocuments
from topiclib.model import TopicTransformer
from topiclib.settings import LOSSES
from topiclib.validation import check_choice, check_type


def cross_entropy(predictions: Tensor, targets: Tensor) -> Tensor:
    """l_ce(x, y) = -log(exp(x_i) / sum_j exp(x_j)) in nats (equation 4), for each column.

    ``predictions`` (B, V, M), ``targets`` (B, M) token ids; returns (B, M).
    """
    return torch.nn.functional.cross_entropy(predictions, targets, reduction="none")


def squared(predictions: Tensor, targets: Tensor) -> Tensor:
    """l_sq(x, y) = ||x - y||^2 with y the one-hot target (equation 3), for each column.

    Expanded to ||x||^2 - 2 x_i + 1, which needs no one-hot matrix. Shapes as ``cross_entropy``.
    """
    at_target = predictions.gather(1, targets[:, None, :])[:, 0]
    return predictions.square().sum(dim=1) - 2 * at_target + 1


def selected_positions(selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positions M of each document as a padded array.

    ``selected`` (B, N) booleans -> positions (B, M) with 0 as filler, and (B, M) booleans, True where real.
    Raises ValueError for an empty row: equation 1 divides by |M|.
    """
    sizes = selected.sum(axis=1)
    if not sizes.all():
        raise ValueError(f"selected has no position in document {int(np.argmin(sizes))}: must be at least one in each")
    real = np.arange(sizes.max()) < sizes[:, None]
    positions = np.zeros(real.shape, dtype=np.int64)
    positions[real] = np.nonzero(selected)[1]
    return positions, real


def masked_loss(model: TopicTransformer, batch: MaskedDocuments, loss: str = "cross_entropy") -> Tensor:
    """L = mean over documents of (1/|M|) sum over j in M of l(f(X~)_:j, X_:j) (equation 1).

    Parameters
    ----------
    model : the transformer; predictions are computed at the selected positions only
    batch : masked documents, every mask non-empty
    loss : ``"cross_entropy"`` (equation 4, nats) or ``"squared"`` (equation 3)

    Returns a scalar with gradient. Every document weighs the same, however many positions it masks.
    """
    check_type("model", model, TopicTransformer)
    check_type("batch", batch, MaskedDocuments)
    check_choice("loss", loss, LOSSES)
    shapes = {array.shape for array in (batch.inputs, batch.targets, batch.selected)}
    if len(shapes) > 1 or batch.selected.dtype != bool:
        raise ValueError(f"batch has shapes {sorted(shapes)}: inputs, targets and selected (booleans) must have one shape, (B, N)")
    device, num_words = model.W_E.device, model.settings.vocabulary.num_words
    positions, real = selected_positions(batch.selected)
    targets = np.take_along_axis(batch.targets, positions, axis=1)
    if (targets[real] == PAD).any():
        raise ValueError("selected marks a padded position: must be words only")
    if (targets[real] < 1).any() or (targets[real] > num_words).any():
        raise ValueError(f"targets has an id outside 1 to {num_words} at a selected position: must be words")
    at, kept = torch.from_numpy(positions).to(device), torch.from_numpy(real).to(device)
    wanted = torch.from_numpy(np.where(real, targets, 0)).to(device)
    predictions = model(torch.from_numpy(batch.inputs).to(device), at)  # (B, V, M)
    each = (cross_entropy if loss == "cross_entropy" else squared)(predictions, wanted)  # (B, M)
    return ((each * kept).sum(dim=1) / kept.sum(dim=1)).mean()


def l2_penalty(parameters: Iterable[Tensor]) -> Tensor:
    """||theta||^2: the sum of squared Frobenius norms, with gradient 2 theta (equation 2).

    Multiply by lambda and add to the loss. The norm is squared, as equation 2 has it. For SGD and
    torch's Adam this equals ``weight_decay = 2 lambda``; the decoupled decay of AdamW is something else.
    """
    terms = [p.square().sum() for p in parameters]
    if not terms:
        raise ValueError("parameters is empty: must have at least one trained parameter")
    return torch.stack(terms).sum()
