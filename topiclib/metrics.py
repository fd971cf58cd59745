"""How much topic structure a matrix, an embedding or an attention pattern holds, by relation of the words.

Relations are Assumption 2's: the same word, different words of the same topic, different topics. Entries
that involve [MASK] are left out of every mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from topiclib.documents import PAD, FloatArray
from topiclib.model import TopicTransformer
from topiclib.validation import check_type
from topiclib.vocabulary import MASK, Relation, Vocabulary


@dataclass(frozen=True)
class ByRelation:
    """Mean and spread (standard deviation over entries) for each relation; NaN where no pair has it.

    ``contrast`` is same_topic - different_topic, with the same-word entries (the diagonal) left out, so
    that a merely diagonal matrix has contrast 0.
    """

    same_word: float
    same_topic: float
    different_topic: float
    same_word_std: float
    same_topic_std: float
    different_topic_std: float

    @property
    def contrast(self) -> float:
        """same_topic - different_topic."""
        return self.same_topic - self.different_topic

    @property
    def standardized_contrast(self) -> float:
        """contrast / pooled standard deviation of the two groups (Cohen's d): unit-free; NaN where undefined (0 / 0)."""
        pooled = np.sqrt((self.same_topic_std**2 + self.different_topic_std**2) / 2)
        return float(self.contrast / pooled) if pooled > 0 else self.contrast * float("inf")

    @property
    def ratio(self) -> float:
        """same_topic / different_topic, as Table 1 reports (meaningful for positive means only)."""
        return self.same_topic / self.different_topic if self.different_topic else float("nan")


def _summary(groups: list[FloatArray]) -> ByRelation:
    means = [float(g.mean()) if g.size else float("nan") for g in groups]
    stds = [float(g.std()) if g.size else float("nan") for g in groups]
    return ByRelation(*means, *stds)


def _as_floats(matrix: npt.ArrayLike | torch.Tensor) -> FloatArray:
    return np.asarray(matrix.detach().cpu() if isinstance(matrix, torch.Tensor) else matrix, dtype=np.float64)


_WORD_RELATIONS = (Relation.SAME_WORD, Relation.SAME_TOPIC, Relation.DIFFERENT_TOPIC)


def block_contrast(matrix: npt.ArrayLike | torch.Tensor, vocabulary: Vocabulary) -> ByRelation:
    """Means of a (V, V) matrix over its same-word, same-topic and different-topic entries.

    Row and column 0 ([MASK]) are left out. Use it on W_V (one-hot embeddings), on W_E^T W_E, or on
    W_E^T W_V W_E. Raises ValueError for a wrong shape or an entry that is not finite.
    """
    check_type("vocabulary", vocabulary, Vocabulary)
    m = _as_floats(matrix)
    if m.shape != (vocabulary.size, vocabulary.size):
        raise ValueError(f"matrix has shape {m.shape}: must be (V, V) = {(vocabulary.size, vocabulary.size)}")
    if not np.isfinite(m).all():
        raise ValueError(f"matrix contains {m[~np.isfinite(m)][0]}: must be finite everywhere")
    relations = vocabulary.relations()
    return _summary([m[relations == r] for r in _WORD_RELATIONS])


def embedding_gram(w_e: npt.ArrayLike | torch.Tensor, *, cosine: bool = False) -> FloatArray:
    """E = W_E^T W_E, the dot products of all token embeddings (Theorem 1's E), or their cosines; (V, V).

    ``w_e`` is (d, V). A zero column has no direction: with ``cosine`` it raises ValueError.
    """
    w = _as_floats(w_e)
    if w.ndim != 2:
        raise ValueError(f"w_e has shape {w.shape}: must be (d, V)")
    if cosine:
        norms = np.linalg.norm(w, axis=0)
        if not norms.all():
            raise ValueError(f"w_e has a zero column ({int(np.argmin(norms))}): must have none for cosines")
        w = w / norms
    return w.T @ w


def embedding_similarity(w_e: npt.ArrayLike | torch.Tensor, vocabulary: Vocabulary, *, cosine: bool = False) -> ByRelation:
    """Dot products (or cosines) of word embeddings by relation, as in Section 6.1 and Table 1."""
    check_type("vocabulary", vocabulary, Vocabulary)
    return block_contrast(embedding_gram(w_e, cosine=cosine), vocabulary)


def attention_by_relation(model: TopicTransformer, tokens: npt.NDArray[np.int64], *, include_self: bool = False) -> ByRelation:
    """Average attention weight by relation of the two words, times N: uniform attention gives 1.

    Section 6.1 and Appendix E.2 compare the same word, the same topic and different topics. Each document's
    weights A[i, j] are averaged over its pairs of each relation; the mean and the spread are over documents.

    Parameters
    ----------
    model : the transformer
    tokens : (B, N) ids, masked or not, ``PAD`` at the end; pairs with [MASK] or padding are left out
    include_self : count a position's attention to itself (i = j) as the same word
    """
    vocabulary = check_type("model", model, TopicTransformer).settings.vocabulary
    ids = np.asarray(tokens)
    with torch.no_grad():
        a = model.attention(torch.from_numpy(ids).to(model.W_E.device)).double().cpu().numpy()  # (B, N, N)
    a = a * (ids != PAD).sum(axis=1)[:, None, None]
    clean = np.where(ids == PAD, MASK, ids)
    relation = vocabulary.relations()[clean[:, :, None], clean[:, None, :]]  # (B, N, N)
    if not include_self:
        np.einsum("bii->bi", relation)[:] = Relation.MASK
    groups = []
    for r in _WORD_RELATIONS:
        pairs = relation == r
        number = pairs.sum(axis=(1, 2))
        total = np.where(pairs, a, 0).sum(axis=(1, 2))
        groups.append(total[number > 0] / number[number > 0])
    return _summary(groups)
