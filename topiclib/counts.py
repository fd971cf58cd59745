"""The paper's transformer on word counts: the same function as ``model.TopicTransformer``, read from counts.

Without positions, two keys that show the same token have the same score, so the softmax over N positions is one over
the V tokens with each exponential counted as often as its token appears:

    A[i, j] = c_i exp(S[i, j]) / sum_k c_k exp(S[k, j]) = softmax_i(S[i, j] + log c_i),

with c the document's counts and S (V, V) the scores between tokens, once for all documents. Two queries of a document
that show the same token share their column of A and their prediction. Nothing is approximated. It ends where positions
begin, or a second layer: there a token's vector depends on its document.

This module reads like the equations and leaves the gradient to autograd; ``engine`` computes the same by hand, faster.
"""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor

from topiclib.losses import cross_entropy, squared
from topiclib.model import TopicTransformer
from topiclib.settings import LOSSES
from topiclib.validation import check_choice, check_type
from topiclib.word_counts import MaskedCounts

__all__ = ["count_attention", "count_loss", "count_predictions", "token_scores"]


def token_scores(model: TopicTransformer) -> Tensor:
    """S = (W_K W_E + b_K)^T (W_Q W_E + b_Q) / sqrt(d_a): the score of key i for query j (equation 5); shape (V, V)."""
    check_type("model", model, TopicTransformer)
    keys = model.W_K @ model.W_E + model.b_K[:, None]  # (d_a, V)
    queries = model.W_Q @ model.W_E + model.b_Q[:, None]  # (d_a, V)
    return keys.T @ queries / sqrt(model.settings.d_a)


def count_attention(model: TopicTransformer, counts: Tensor, docs: Tensor, queries: Tensor) -> Tensor:
    """Attention of each pair's query to every token of its document, all its appearances together (equation 5).

    ``counts`` (D, V) shown tokens of each document; ``docs``, ``queries`` (P,) the pairs. Returns (V, P): columns sum
    to 1, and entry [i, p] is c_i times the weight that one appearance of token i gets.
    """
    log_counts = counts.to(model.W_V.dtype).log()  # -inf where a token does not appear
    return (token_scores(model)[:, queries] + log_counts[docs].T).softmax(dim=0)


def count_predictions(model: TopicTransformer, counts: Tensor, docs: Tensor, queries: Tensor) -> Tensor:
    """f(X~) at each pair (equation 6, or 7 if one-hot): W_E^T (W_V W_E + b_V) A + b_pred; shape (V, P)."""
    a = count_attention(model, counts, docs, queries)  # (V, P)
    values = model.W_V @ model.W_E + model.b_V[:, None]  # (d, V)
    return model.W_E.T @ (values @ a) + model.b_pred[:, None]


def count_loss(model: TopicTransformer, batch: MaskedCounts, loss: str = "cross_entropy") -> Tensor:
    """Equation 1 on counts: equals ``masked_loss`` on the same documents up to rounding, and so do its gradients.

    ``loss`` is ``"cross_entropy"`` (equation 4, nats) or ``"squared"`` (equation 3). Returns a scalar with gradient.
    """
    check_type("model", model, TopicTransformer)
    check_type("batch", batch, MaskedCounts)
    check_choice("loss", loss, LOSSES)
    if batch.counts.shape[1] != model.settings.vocabulary.size:
        raise ValueError(f"batch has counts of {batch.counts.shape[1]} tokens: must be V = {model.settings.vocabulary.size}")
    device, pairs = model.W_E.device, batch.pairs()
    arrays = (batch.counts, pairs.docs, pairs.queries, pairs.index, batch.targets)
    counts, docs, queries, index, targets = (torch.from_numpy(array).to(device) for array in arrays)
    predictions = count_predictions(model, counts, docs, queries)  # (V, P)
    at_positions = predictions.T[index]  # (M, V): positions with the same pair share their prediction
    each = (cross_entropy if loss == "cross_entropy" else squared)(at_positions.T[None], targets[None])[0]  # (M,)
    weights = torch.from_numpy(batch.weights()).to(each)
    return (each * weights).sum() / len(batch)
