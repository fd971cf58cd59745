"""The masking scheme of Section 3.2: p_m, p_c, p_r, and [MASK] otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from topiclib.documents import PAD, FloatArray, IntArray
from topiclib.validation import as_rng, check_real, check_type
from topiclib.vocabulary import MASK, Vocabulary


@dataclass(frozen=True)
class MaskingSettings:
    """Probabilities of Section 3.2.

    Parameters
    ----------
    p_m : probability in (0, 1) that a position is selected for prediction
    p_c : given that it is selected, probability that its word is kept (correct)
    p_r : given that it is selected, probability that a random word of the Tv replaces it

    p_c + p_r <= 1, which the paper leaves unsaid; a selected position becomes [MASK] with the rest.
    """

    p_m: float = 0.15
    p_c: float = 0.1
    p_r: float = 0.1

    def __post_init__(self) -> None:
        check_real("p_m", self.p_m, 0, 1, open_low=True, open_high=True)
        check_real("p_c", self.p_c, 0, 1)
        check_real("p_r", self.p_r, 0, 1)
        # The slack lets decimals such as .7 and .3 through, which need not sum to 1 exactly.
        if self.p_c + self.p_r > 1 + 1e-12:
            raise ValueError(f"p_c + p_r = {self.p_c + self.p_r:g}: must be at most 1")

    @classmethod
    def paper(cls, **changes: object) -> MaskingSettings:
        """Section 6.1, after Devlin et al. (2019): p_m = 0.15, p_c = p_r = 0.1. ``changes`` replace fields."""
        return replace(cls(), **changes)  # type: ignore[arg-type]

    @property
    def mask_fraction(self) -> float:
        """p_m (1 - p_c - p_r): the fraction of positions that become [MASK]."""
        return max(0.0, self.p_m * (1 - self.p_c - self.p_r))

    @property
    def true_fraction(self) -> float:
        """1 - (1 - p_c) p_m: the fraction that still shows the document's own word on purpose."""
        return 1 - (1 - self.p_c) * self.p_m

    @property
    def random_fraction(self) -> float:
        """p_m p_r: the fraction that shows a random word."""
        return self.p_m * self.p_r


@dataclass(frozen=True)
class MaskedDocuments:
    """A batch of masked documents; all three arrays have shape (B, N).

    inputs : what the model sees, w-tilde: token ids, ``PAD`` at the end
    targets : the original words w, ``PAD`` at the end
    selected : True at the positions M to predict; at least one in every row
    """

    inputs: IntArray
    targets: IntArray
    selected: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.inputs)


def _select(words: npt.NDArray[np.bool_], p_m: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Select each word with probability p_m, given that no row of M stays empty.

    Equation 1 divides by |M|, so it is undefined for an empty mask. A row with an empty mask is drawn
    again, now given |M| >= 1: first its first selected word, then each later word with probability p_m.
    At N = 100 and p_m = 0.15 a row is empty about once in ten million draws, so the condition matters
    for short documents only.
    """
    selected = (rng.random(words.shape) < p_m) & words
    empty = np.flatnonzero(~selected.any(axis=1))
    rows = words[empty]
    count = rows.cumsum(axis=1)
    # P(one of the first k words is selected | one of all n is) = (1 - (1 - p_m)^k) / (1 - (1 - p_m)^n)
    reached = np.expm1(count * np.log1p(-p_m)) / np.expm1(count[:, -1:] * np.log1p(-p_m))
    first = (rng.random((len(empty), 1)) < reached).argmax(axis=1)
    later = np.arange(words.shape[1]) > first[:, None]
    selected[empty] = rows & later & (rng.random(rows.shape) < p_m)
    selected[empty, first] = True
    return selected


def mask_documents(
    tokens: npt.ArrayLike,
    vocabulary: Vocabulary,
    settings: MaskingSettings,
    rng: np.random.Generator | int,
) -> MaskedDocuments:
    """Draw one fresh mask for each document (Section 3.2).

    Parameters
    ----------
    tokens : (B, N) word ids 1 to Tv, with ``PAD`` at the end of shorter documents
    vocabulary : random words are drawn from its Tv words, never [MASK]
    settings : p_m, p_c, p_r
    rng : a Generator, or a seed

    Never returns an empty mask (see ``_select``). Raises ValueError for anything but words and
    ``PAD``, and for a document without words.
    """
    check_type("vocabulary", vocabulary, Vocabulary)
    check_type("settings", settings, MaskingSettings)
    rng = as_rng(rng)
    original = np.asarray(tokens)
    if original.ndim != 2 or not np.issubdtype(original.dtype, np.integer):
        raise ValueError(f"tokens has shape {original.shape} and dtype {original.dtype}: must be (documents, positions) of ids")
    words = original != PAD
    wrong = words & ((original < 1) | (original > vocabulary.num_words))
    if wrong.any():
        allowed = f"words from 1 to {vocabulary.num_words}, or PAD = {PAD}"
        raise ValueError(f"tokens contains {int(original[wrong][0])}: must be {allowed}")
    if original.shape[1] == 0 or not words.any(axis=1).all():
        raise ValueError(f"tokens of shape {original.shape} has a document without words: must have at least one in each")
    selected = _select(words, settings.p_m, rng)
    # One uniform number decides what a selected position shows: kept, random, or [MASK].
    fate = rng.random(original.shape)
    random_words = rng.integers(1, vocabulary.num_words, size=original.shape, endpoint=True)
    shown = np.where(fate < settings.p_c + settings.p_r, random_words, MASK)
    shown = np.where(fate < settings.p_c, original, shown)
    inputs = np.where(selected, shown, original).astype(np.int64)
    return MaskedDocuments(inputs, original.astype(np.int64), selected)


def masked_distribution(word_probabilities: FloatArray, settings: MaskingSettings) -> FloatArray:
    """Token distribution of an infinitely long document after masking (equation D.17).

    Parameters
    ----------
    word_probabilities : (..., V) the document's p_w, with 0 for [MASK]

    Returns (..., V): m = p_m(1 - p_c - p_r) for [MASK], and
    (1 - (1 - p_c) p_m) p_w(i) + p_m p_r / (Tv) for word i.
    """
    check_type("settings", settings, MaskingSettings)
    p = np.asarray(word_probabilities, dtype=np.float64)
    if p.ndim == 0 or p.shape[-1] < 2 or not np.allclose(p.sum(axis=-1), 1) or (p < 0).any() or p[..., MASK].any():
        raise ValueError(f"word_probabilities of shape {p.shape}: must be (..., V), >= 0, 0 for [MASK], and sum to 1")
    masked: FloatArray = settings.true_fraction * p + settings.random_fraction / (p.shape[-1] - 1)
    masked[..., MASK] = settings.mask_fraction
    return masked
