"""The best loss that any predictor can have on masked documents, from both sides.

No predictor knows more than a document's topic weights theta, so the one that is told them bounds all others from below.
One that estimates them from the shown tokens is an honest predictor, so the best one is no worse. What a position shows
tells the rest: a word there was kept or put there at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topiclib.documents import Documents, DocumentSettings, FloatArray, topic_word_probabilities
from topiclib.masking import MaskedDocuments, MaskingSettings
from topiclib.settings import LOSSES
from topiclib.validation import check_choice, check_type
from topiclib.vocabulary import MASK
from topiclib.word_counts import MaskedCounts, count_documents

__all__ = ["BayesBounds", "bayes_bounds"]

ROUNDS = 30  # of estimating the topic weights; the last ones change nothing


@dataclass(frozen=True)
class BayesBounds:
    """The least loss of equation 1 over all predictors is at least ``lower`` and at most ``upper``, up to sampling.

    Each with its standard error over documents. Compare with a model's loss on the same documents, where most of it cancels.
    """

    lower: float
    upper: float
    lower_error: float
    upper_error: float


def bayes_bounds(
    settings: DocumentSettings, masking: MaskingSettings, documents: Documents, masked: MaskedDocuments, loss: str
) -> BayesBounds:
    """Losses of the predictor that knows theta, and of the one that estimates it, on the given documents.

    A selected position that shows [MASK] hides word i with probability p_i = sum_t theta_t P(i | t). One that shows word j
    kept it with probability k = p_c p_j / (p_c p_j + p_r / (Tv)), so word i is hidden with k 1[i = j] + (1 - k) p_i.

    Parameters
    ----------
    settings, masking : how documents and masks were drawn
    documents, masked : what was drawn: ``sample_documents``, then ``mask_documents`` of its tokens
    loss : ``"cross_entropy"`` (equation 4, nats) or ``"squared"`` (equation 3)
    """
    check_type("settings", settings, DocumentSettings)
    check_type("masking", masking, MaskingSettings)
    check_type("documents", documents, Documents)
    check_choice("loss", loss, LOSSES)
    counts = count_documents(masked, settings.vocabulary)
    if documents.topic_weights.shape != (len(counts), settings.num_topics):
        shape = documents.topic_weights.shape
        raise ValueError(f"documents has topic weights of shape {shape}: must be {(len(counts), settings.num_topics)} as masked")
    of_topic = topic_word_probabilities(settings)
    lower = _losses(documents.topic_weights @ of_topic, counts, masking, loss)
    upper = _losses(_estimate(settings, masking, counts) @ of_topic, counts, masking, loss)
    error = 1 / np.sqrt(len(counts))
    with np.errstate(invalid="ignore"):  # upper may be infinite: an estimate of tau topics can leave out the true one
        return BayesBounds(float(lower.mean()), float(upper.mean()), float(lower.std() * error), float(upper.std() * error))


def _estimate(settings: DocumentSettings, masking: MaskingSettings, counts: MaskedCounts) -> FloatArray:
    """Topic weights of each document from its shown words; (D, T).

    By turns: the share of each shown word that is due to each topic and not to random replacement, and the mean weights
    given these shares. With exactly tau topics, the tau with the largest shares, equally.
    """
    of_topic = topic_word_probabilities(settings)[:, 1:]  # (T, Tv)
    shown = counts.counts[:, 1:]  # (D, Tv)
    true, random = 1 - (1 - masking.p_c) * masking.p_m, masking.p_m * masking.p_r / shown.shape[1]
    prior = settings.dirichlet_alpha if settings.mixture == "dirichlet" else 1e-3
    theta = np.full((len(shown), settings.num_topics), 1 / settings.num_topics)
    for _ in range(ROUNDS):
        share = shown / (true * theta @ of_topic + random) * true
        weights = theta * (share @ of_topic.T) + prior
        theta = weights / weights.sum(axis=1, keepdims=True)
    if settings.mixture == "fixed":
        chosen = np.argsort(-theta, axis=1)[:, : settings.topics_per_doc]
        theta = np.zeros_like(theta)
        np.put_along_axis(theta, chosen, 1 / settings.topics_per_doc, axis=1)
    return theta


def _losses(words: FloatArray, counts: MaskedCounts, masking: MaskingSettings, loss: str) -> npt.NDArray[np.float64]:
    """Equation 1 of each document for the predictor with word distributions ``words`` (D, V); (D,)."""
    num_words = words.shape[1] - 1
    at_shown, at_target = words[counts.docs, counts.shown], words[counts.docs, counts.targets]
    kept = np.where(counts.shown == MASK, 0, masking.p_c * at_shown)
    random = masking.p_r / num_words
    k = np.divide(kept, kept + random, out=np.zeros_like(kept), where=kept > 0)
    right = k * (counts.shown == counts.targets) + (1 - k) * at_target
    if loss == "cross_entropy":
        with np.errstate(divide="ignore"):
            each = -np.log(right)
    else:
        # ||q||^2 - 2 q_target + 1 with q = k e_shown + (1 - k) p.
        square = (words**2).sum(axis=1)[counts.docs]
        each = k**2 + 2 * k * (1 - k) * at_shown + (1 - k) ** 2 * square - 2 * right + 1
    losses: npt.NDArray[np.float64] = np.bincount(counts.docs, weights=each * counts.weights(), minlength=len(words)).astype(float)
    return losses
