"""Checks of the exercises of Section 4."""

from __future__ import annotations

import numpy as np

from topiclib.checks.base import Answer, as_array, close, expect, register
from topiclib.documents import DocumentSettings, infinite_documents
from topiclib.masking import MaskingSettings, masked_distribution
from topiclib.vocabulary import MASK, Relation, Vocabulary


@register("4-optimal-bias")
def optimal_bias(answer: Answer) -> None:
    for masking, t, v in ((MaskingSettings(0.2, 0.1, 0.3), 3, 2), (MaskingSettings(0.15, 0.1, 0.1), 10, 10)):
        size = t * v + 1
        b = as_array(answer(masking.p_m, masking.p_c, masking.p_r, t, v), (size,), "the bias")
        expect(
            close(b[MASK], 0),
            "mask-entry",
            "no original word is [MASK] and no random word is either, so there is nothing to subtract at entry 0.",
        )
        expect((b[1:] <= 0).all(), "sign", "the bias subtracts the random words' share: its entries are not positive.")
        # What it is for: block embeddings plus this bias give each document's own distribution back.
        documents = infinite_documents(DocumentSettings.theory(topics_per_doc=2, num_topics=t, words_per_topic=v))
        block = np.kron(np.eye(t), np.ones((v, v))) / (masking.true_fraction * v)
        predicted = masked_distribution(documents, masking)[:, 1:] @ block + b[1:]
        share = masking.random_fraction / (t * v)
        expect(
            not close(b[1:], -share) or close(share, share / masking.true_fraction),
            "before-the-matrix",
            "the random words pass through E = J/(a v) before the bias is added; you subtract their share as it is before.",
        )
        expect(close(predicted, documents[:, 1:]), "not-denoised", "with the block-wise E, prediction plus bias is not p_w.")


@register("4-smallest-embedding")
def smallest_embedding(answer: Answer) -> None:
    for a, t, v in ((0.865, 10, 10), (0.5, 3, 4)):
        size = t * v + 1
        w = as_array(answer(a, t, v), (t, size), "W_E")
        expect(
            close(w[:, MASK], 0),
            "mask-column",
            "with every u equal to 0 the embedding of [MASK], column 0, is the zero vector.",
        )
        gram = w.T @ w
        same = Vocabulary(t, v).relations() != Relation.DIFFERENT_TOPIC
        expect(close(gram[~same], 0), "not-orthogonal", "embeddings of words of different topics must have dot product 0.")
        block = gram[1 : v + 1, 1 : v + 1]
        expect(np.allclose(block, block[0, 0]), "not-constant", "with d = T all words of a topic share one embedding.")
        total = block[0].sum()
        expect(
            not close(total, 1 / (a * a * v)) and not close(total, 1 / (a * a)),
            "no-square-root",
            "E = W_E^T W_E squares the entries of W_E: they are square roots of the entries of E.",
        )
        expect(
            not close(total, v / a),
            "not-divided-by-v",
            "each of the v words of a topic contributes: it is their sum that must be 1/a, not each entry.",
        )
        expect(close(total, 1 / a), "block-sum", "Theorem 1, point 3(a): with u = 0 each row of a topic's block sums to 1/a.")


@register("4-excess-loss")
def excess_loss(answer: Answer) -> None:
    settings = DocumentSettings.theory(topics_per_doc=2, num_topics=4, words_per_topic=3)
    documents, masking = infinite_documents(settings), MaskingSettings(0.3, 0.2, 0.2)
    seen = masked_distribution(documents, masking)
    size = documents.shape[1]
    bias = np.full(size, -masking.random_fraction / (masking.true_fraction * (size - 1)))
    bias[MASK] = 0
    block = np.zeros((size, size))
    block[1:, 1:] = np.kron(np.eye(4), np.ones((3, 3))) / (masking.true_fraction * 3)
    best = float(as_array(answer(block, bias, seen, documents), (), "the loss as a single number"))
    expect(
        not close(best, 1 - 1 / 6),
        "whole-loss",
        "this is the loss itself: the excess leaves out the part 1 - 1/(tau v) that no predictor can avoid.",
    )
    expect(close(best, 0), "optimum-not-zero", "an optimum of Theorem 1 has excess loss 0; yours is not.")
    # A matrix that is not symmetric tells E x from x E; a constant error tells squares from norms and means from sums.
    shift = float(as_array(answer(block, bias + 0.1, seen, documents), (), "the loss as a single number"))
    expect(not close(shift, 0.1 * size**0.5), "not-squared", "the norm of equation 3 is squared.")
    expect(not close(shift, 0.01), "mean-over-words", "equation 3 sums the squared errors over the tokens; yours is their mean.")
    expect(
        not close(shift, 0.01 * size * len(documents)),
        "sum-over-documents",
        "equation 1 takes the mean over documents, not the sum.",
    )
    expect(close(shift, 0.01 * size), "wrong-scale", "a prediction that is off by 0.1 in each token has excess loss 0.01 V.")
    skewed = block.copy()
    skewed[1, MASK] += 1
    by_hand = float(np.mean(seen[:, MASK] ** 2))
    value = float(as_array(answer(skewed, bias, seen, documents), (), "the loss as a single number"))
    expect(
        close(value, by_hand), "transposed", "the prediction is E times the column x: entry (i, j) of E weighs token j for word i."
    )
    # An error that differs between documents: in word 1, by what each of them shows of word 1.
    varied = block.copy()
    varied[1, 1] += 1
    error = seen[:, 1]
    value = float(as_array(answer(varied, bias, seen, documents), (), "the loss as a single number"))
    hint = "every document counts: yours is the loss of the first one only."
    expect(not close(value, error[0] ** 2), "first-document-only", hint)
    hint = "take the squared norm for each document and the mean after it: errors of two documents must not cancel."
    expect(not close(value, error.mean() ** 2), "mean-before-square", hint)
    expect(close(value, np.mean(error**2)), "wrong-loss", "the mean over documents of the squared norm is off; try two documents.")
