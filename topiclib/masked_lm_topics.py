"""Where topic structure stands in a small encoder's weights and attention, step by step.

Three places, as in the theory of one layer: the embeddings (e_i . e_j), the values (e_j . W^O W^V e_i: what attention to word i
adds to the prediction of word j, directly), the scores ((W^Q e_j) . (W^K e_i)). Each is a form e_j . A e_i, so that means over
all pairs of words come from the topics' sums, without a matrix of all pairs.

A ratio of means says nothing while both are near 0, as they are at the start. The contrast is therefore the difference of
the means in units of the standard deviation over all pairs, less that of topics that mean nothing: there each word is replaced by
one of about the same frequency, since frequent words are alike in all small models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from topiclib.attention_pairs import AttentionPairs
from topiclib.corpus import ContentWords
from topiclib.masked_lm import Windows, build_model
from topiclib.masked_lm_training import MaskedLMRun
from topiclib.topics import TopicWords
from topiclib.validation import as_rng, check_choice, check_int, check_type

__all__ = ["PARTS", "FormContrast", "form_contrast", "forms", "same_frequency", "window_pairs"]

PARTS = ("cosine", "dot", "value", "score")
WORDS = "bert.embeddings.word_embeddings.weight"
BLOCK = 16
"""Words of about the same frequency, among which a control exchanges."""
Form = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FormContrast:
    """How much more a form gives to pairs of the same topic.

    same, different : means over ordered pairs of different words
    contrast : (same - different) / standard deviation over all pairs, less the mean of the same over the controls
    low, high : 95 % bootstrap interval over topics
    control_error : standard deviation of the contrast over the controls
    """

    same: float
    different: float
    contrast: float
    low: float
    high: float
    control_error: float

    @property
    def z(self) -> float:
        """The contrast in units of the controls' standard deviation."""
        return self.contrast / self.control_error if self.control_error else float("nan")


def forms(run: MaskedLMRun, step: int, ids: np.ndarray, part: str, layer: int = 1) -> Form:
    """A part of a run's weights as a form: (left, A, right) with left_j . A right_i for the words ``ids``, rows in their order.

    Parameters
    ----------
    run, step : a step of the run's snapshots
    ids : (n,) the words' ids in the run's windows
    part : "cosine", "dot": of the embeddings; "value": e_j . W^O W^V e_i; "score": the mean over heads of
        (W^Q e_j) . (W^K e_i) / sqrt(d_head), j the query and i the key
    layer : 1 to the number of layers, for the last two
    """
    check_type("run", run, MaskedLMRun)
    check_choice("part", part, PARTS)
    number = check_int("layer", layer, 1, run.settings.num_layers) - 1
    if step not in run.snapshots:
        raise KeyError(f"step = {step}: must be one of {sorted(run.snapshots)}")
    weights = run.snapshots[step]
    e = weights[WORDS][ids].astype(np.float64)
    if part == "cosine":
        e = e / np.linalg.norm(e, axis=1, keepdims=True)
    if part in ("cosine", "dot"):
        return e, np.eye(e.shape[1]), e
    prefix = f"bert.encoder.layer.{number}.attention."
    w = {
        name: weights[f"{prefix}{name}.weight"].astype(np.float64)
        for name in ("self.key", "self.query", "self.value", "output.dense")
    }
    if part == "value":
        return e, w["output.dense"] @ w["self.value"], e
    heads = run.settings.num_heads
    return e, w["self.query"].T @ w["self.key"] / (heads * (run.settings.hidden / heads) ** 0.5), e


def _dealt(order: np.ndarray, rng: np.random.Generator, block: int) -> np.ndarray:
    """(n,) a permutation of words that stays within blocks of words of about the same frequency; ``order`` sorts by frequency."""
    new = np.empty(len(order), int)
    for start in range(0, len(order), block):
        some = order[start : start + block]
        new[some] = rng.permutation(some)
    return new


def same_frequency(topics: TopicWords, frequency: np.ndarray, rng: np.random.Generator | int, block: int = BLOCK) -> TopicWords:
    """Topics that mean nothing: the words are dealt out anew within blocks of ``block`` words of about the same frequency.

    ``frequency`` (n,) of ``topics.words``. As ``topics.shuffled``, but rare words stay among rare ones.
    """
    check_type("topics", topics, TopicWords)
    check_int("block", block, 2)
    # Of equals the first comes first.
    new = _dealt(np.argsort(_frequencies(frequency, topics), kind="stable"), as_rng(rng), block)
    return TopicWords(topics.words, topics.member[:, new], topics.several)


def _frequencies(frequency: np.ndarray, topics: TopicWords) -> np.ndarray:
    """``frequency`` as an array, if it has one for each word."""
    found = np.asarray(frequency)
    if found.shape != topics.words.shape:
        raise ValueError(f"frequency has shape {found.shape}: must be {topics.words.shape}, one for each word of topics")
    return found


def _sums(form: Form, member: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sums and numbers of pairs of different words: of each topic (K,), and between each two topics (K, K)."""
    left, a, right = form
    size = np.asarray(member.sum(axis=1))
    table = (member @ left) @ a @ (member @ right).T
    within = np.diag(table)
    own = member @ np.einsum("nd,nd->n", left @ a, right)
    return within - own, size**2 - size, table - np.diag(within), np.outer(size, size) - np.diag(size**2)


def _within(mapped: np.ndarray, right: np.ndarray, label: np.ndarray) -> float:
    """Sum over the ordered pairs of different words of one topic; ``label`` (n,) is each word's topic, ``mapped`` left A."""
    order = np.argsort(label, kind="stable")
    first = np.flatnonzero(np.diff(label[order], prepend=-1))
    sums = [np.add.reduceat(side[order], first, axis=0) for side in (mapped, right)]
    return float(np.vdot(*sums) - np.vdot(mapped, right))


def _difference(sums: tuple[np.ndarray, ...], weights: np.ndarray) -> np.ndarray:
    """same - different for each row of (draws, K) weights of the topics."""
    same, same_pairs, across, pairs = sums
    with np.errstate(invalid="ignore"):  # a draw of one topic alone has no other to compare with
        inside = (weights @ same) / (weights @ same_pairs)
        return np.asarray(inside - ((weights @ across) * weights).sum(axis=1) / ((weights @ pairs) * weights).sum(axis=1))


def _deviation(form: Form) -> float:
    """Standard deviation of the form over all ordered pairs of different words."""
    left, a, right = form
    number = len(left) * (len(left) - 1)
    own = np.einsum("nd,nd->n", left @ a, right)
    mean = (left.sum(axis=0) @ a @ right.sum(axis=0) - own.sum()) / number
    square = (np.einsum("ij,ij->", left.T @ left @ a, a @ (right.T @ right)) - (own**2).sum()) / number
    return float(np.sqrt(max(square - mean**2, 0.0)))


def form_contrast(
    form: Form, topics: TopicWords, frequency: np.ndarray, rng: np.random.Generator | int, *, draws: int = 200, controls: int = 50
) -> FormContrast:
    """The contrast of a form between pairs of the same and of different topics; every word must stand for one topic.

    Parameters
    ----------
    form : (left, A, right) of the words of ``topics``, in their order (``forms``)
    topics : which words stand for which topic, each for one
    frequency : (n,) how often each of these words occurs
    rng : generator or seed of the bootstrap and of the controls
    draws, controls : of the bootstrap over topics; of the topics of the same frequencies
    """
    check_type("topics", topics, TopicWords)
    check_int("draws", draws, 2)
    check_int("controls", controls, 2)
    if (topics.member.sum(axis=0) != 1).any():
        raise ValueError("topics: has words that stand for several topics; must be made with several=False")
    if any(len(side) != len(topics.words) for side in (form[0], form[2])):
        raise ValueError(
            f"form has {len(form[0])} and {len(form[2])} rows: must be {len(topics.words)}, one for each word of topics"
        )
    frequency, rng, unit = _frequencies(frequency, topics), as_rng(rng), _deviation(form)
    if not unit > 0:
        raise ValueError("form: is the same for all pairs; its contrast is undefined")
    k = topics.num_topics
    sums = _sums(form, csr_array(topics.member.astype(np.float64)))
    found = _difference(sums, np.ones((1, k)))[0] / unit
    label, order, mapped = topics.member.argmax(axis=0), np.argsort(frequency, kind="stable"), form[0] @ form[1]
    inside = np.array([_within(mapped, form[2], label[_dealt(order, rng, BLOCK)]) for _ in range(controls)])
    none = (inside / sums[1].sum() - (sums[0].sum() + sums[2].sum() - inside) / sums[3].sum()) / unit
    drawn = _difference(sums, rng.multinomial(k, np.full(k, 1 / k), draws).astype(np.float64)) / unit - none.mean()
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    same = sums[0].sum() / sums[1].sum()
    return FormContrast(
        float(same), float(same - found * unit), float(found - none.mean()), float(low), float(high), float(none.std(ddof=1))
    )


def window_pairs(run: MaskedLMRun, step: int, windows: Windows, words: ContentWords, numbers: np.ndarray) -> AttentionPairs:
    """Attention between different content words in some windows, without masks, of the model at a step of the snapshots.

    Parameters
    ----------
    run, step : a step of the run's snapshots
    windows : those that the run was trained on, or others in the same vocabulary
    words : content words, with the tokenizer's ids; those that are ``RARE`` are left out
    numbers : which windows

    A word counts where its piece stands, also if a longer word begins with it. Means over heads. Raises ValueError if no window
    has two different content words.
    """
    if step not in run.snapshots:
        raise KeyError(f"step = {step}: must be one of {sorted(run.snapshots)}")
    tokens = check_type("windows", windows, Windows).tokens[np.asarray(numbers, int)]
    length = tokens.shape[1]
    model = build_model(run.settings, len(windows.pieces), length, 0, attention="eager").eval()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in run.snapshots[step].items()}, strict=False)
    index = np.full(len(windows.pieces), -1)
    of_words = windows.ids_of(words.ids)
    index[of_words[of_words > 1]] = np.flatnonzero(of_words > 1)
    at = index[tokens]
    different = (at[:, :, None] >= 0) & (at[:, None, :] >= 0) & (at[:, :, None] != at[:, None, :])
    document, query, key = np.nonzero(different)
    if not len(document):
        raise ValueError(f"windows: none of {len(tokens)} has two different content words")
    parts = []
    with torch.no_grad():
        for start in range(0, len(tokens), 64):
            some = model.bert(torch.from_numpy(tokens[start : start + 64]), output_attentions=True).attentions
            heads = torch.stack([layer.mean(dim=1) for layer in some], dim=-1).numpy()  # (B, L, L, layers)
            parts.append(heads[different[start : start + 64]])
    scaled = np.concatenate(parts) * length
    return AttentionPairs(
        document, at[document, query], at[document, key], key - query, scaled, np.full(len(tokens), length), len(words)
    )
