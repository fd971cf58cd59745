"""How much topic structure a matrix, an embedding or an attention pattern holds, by relation of the words; the two stages.

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
from topiclib.validation import check_type, shown
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


@dataclass(frozen=True)
class TwoStages:
    """When the norms of W^V, W^K and W^Q grow in a run (Figure 4); arrays over runs, steps interpolated between records.

    value_done : the step at which ||W^V|| has first done 90 % of its growth over the run; NaN if it did not grow
    attention_starts : the step at which ||W^K|| or ||W^Q||, whichever is first, has done 10 % of its growth; infinity if
        neither grew
    value_after : how much ||W^V|| still changes after ``attention_starts``: the largest distance from its value there, as
        a fraction of that; NaN if attention never starts
    """

    value_done: FloatArray
    attention_starts: FloatArray
    value_after: FloatArray

    @property
    def score(self) -> FloatArray:
        """log2(attention_starts / value_done): 1 if attention starts at twice the steps that W^V takes, below 0 if it starts
        before W^V is done, infinity if it never starts within the run."""
        with np.errstate(divide="ignore"):
            ratios: FloatArray = np.log2(self.attention_starts / self.value_done)
        return ratios


def _first_passage(steps: FloatArray, norms: FloatArray, fraction: float, never: float) -> FloatArray:
    """The step at which each row first passes ``fraction`` of its growth; ``never`` where it has not doubled by the end."""
    start, end = norms[:, :1], norms[:, -1:]
    passed = np.asarray(norms >= start + fraction * (end - start))
    after = passed.argmax(axis=1).clip(1)
    row = np.arange(len(norms))
    low, high = norms[row, after - 1], norms[row, after]
    share = (start[:, 0] + fraction * (end - start)[:, 0] - low) / np.where(high > low, high - low, 1)
    at = steps[after - 1] + share.clip(0, 1) * (steps[after] - steps[after - 1])
    return np.where((end > start)[:, 0] & (end >= 2 * start)[:, 0], at, never)  # a norm that stays 0 has not grown


def two_stages(steps: npt.ArrayLike, norm_w_v: npt.ArrayLike, norm_w_k: npt.ArrayLike, norm_w_q: npt.ArrayLike) -> TwoStages:
    """When W^V is done growing, and when attention starts: the two stages of Section 5.1, made measurable.

    A norm counts as grown if it is at least twice its start at the end of the run, so all depends on where the run ends: what
    would come later is not seen. A run with a norm that is not finite (diverged) gets NaN everywhere.

    Parameters
    ----------
    steps : (records,) the steps of the records, rising, at least two
    norm_w_v, norm_w_k, norm_w_q : (runs, records) Frobenius norms, as in ``Sweep.curves``; or (records,) of one run
    """
    named = {"steps": steps, "norm_w_v": norm_w_v, "norm_w_k": norm_w_k, "norm_w_q": norm_w_q}
    curves = {}
    for name, given in named.items():
        try:
            curves[name] = np.atleast_2d(_as_floats(given)) if name != "steps" else _as_floats(given)
        except (TypeError, ValueError):
            raise TypeError(f"{name} = {shown(given)}: must be an array of numbers") from None
        if (curves[name] < 0).any():
            raise ValueError(f"{name} = {shown(given)}: must not be negative")
    at = curves.pop("steps")
    if at.ndim != 1 or len(at) < 2 or not np.isfinite(at).all() or not (np.diff(at) > 0).all():
        raise ValueError(f"steps has shape {at.shape}, {shown(steps)}: must be (records,) with at least two, finite and rising")
    for name, curve in curves.items():
        if curve.ndim != 2 or curve.shape[1] != len(at) or curve.shape != curves["norm_w_v"].shape:
            raise ValueError(f"{name} has shape {curve.shape}: must be (runs, records) with {len(at)} records, the same for all")
    v, k, q = curves.values()
    finite: npt.NDArray[np.bool_] = np.asarray(np.isfinite(v + k + q).all(axis=1))
    v, k, q = (np.where(finite[:, None], curve, 0) for curve in (v, k, q))
    value_done = _first_passage(at, v, 0.9, np.nan)
    starts = np.minimum(_first_passage(at, k, 0.1, np.inf), _first_passage(at, q, 0.1, np.inf))
    began = np.isfinite(starts)
    there = np.array([np.interp(s, at, curve) for s, curve in zip(np.where(began, starts, at[0]), v, strict=True)])
    later = at >= np.where(began, starts, at[-1])[:, None]
    distance = np.where(later, np.abs(v - there[:, None]), 0).max(axis=1)
    after = np.where(began & (there > 0), distance / np.where(there > 0, there, 1), np.nan)
    lost = np.where(finite, 0, np.nan)
    return TwoStages(value_done + lost, starts + lost, after)
