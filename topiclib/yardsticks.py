"""What the best predictors of the sandbox's masked words reach, exactly: by the category, by the topic, by both.

Given the words that a document shows, the category of a masked word and its topic are independent: the grammar decides the
one, the document's mixture the other. So the best prediction is a product, its loss a sum, and each part has a yardstick.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topiclib.documents import FloatArray
from topiclib.grammar import SandboxDocuments, SandboxSettings
from topiclib.validation import check_type, shown

__all__ = ["best_parts", "category_posterior", "topic_posterior", "uninformed_parts"]

Booleans = npt.NDArray[np.bool_]


def _check(settings: SandboxSettings, documents: SandboxDocuments, hidden: Booleans, *, some: bool = False) -> None:
    """Raise TypeError or ValueError unless they fit together; with ``some`` every document must have a hidden word."""
    check_type("settings", settings, SandboxSettings)
    check_type("documents", documents, SandboxDocuments)
    found = documents.sentences.shape[1], documents.topic_weights.shape[1]
    if found != (settings.num_sentences, settings.num_topics):
        wanted = settings.num_sentences, settings.num_topics
        raise ValueError(f"documents has (num_sentences, num_topics) = {found}: must have the settings' {wanted}")
    shape = documents.tokens.shape
    if not isinstance(hidden, np.ndarray) or hidden.dtype != bool or hidden.shape != shape:
        raise ValueError(f"hidden = {shown(hidden)}: must be an array of booleans of shape {shape}")
    if (hidden & (documents.categories < 0)).any() or (some and not hidden.any(axis=1).all()):
        raise ValueError("hidden marks places after a document's end, or nothing in a document: must mark words in each")


def category_posterior(settings: SandboxSettings, documents: SandboxDocuments, hidden: Booleans) -> FloatArray:
    """P(category | all shown words, in their order), at every position; (B, N, C).

    A document is a walk: from a word of a sentence to its next, from its last to the first of a new one. The forward
    recursion collects the probability of what comes before a position, the backward recursion of what comes after it.
    ``hidden`` (B, N) marks the words that are not shown. Beyond a document's end the entries mean nothing.
    """
    _check(settings, documents, hidden)
    names, forms = settings.vocabulary.categories, settings.grammar.sentences
    category = np.array([names.index(name) for form in forms for name in form])  # of each place in each sentence
    last = np.cumsum([len(form) for form in forms]) - 1
    first = np.concatenate([[0], last[:-1] + 1])
    p = np.array(list(forms.values()))
    inside = np.setdiff1d(np.arange(len(category)), last)
    b, n = documents.categories.shape
    is_word = documents.categories >= 0
    allowed = (hidden[:, :, None] | (documents.categories[:, :, None] == category)).astype(float)  # (B, N, places)
    lengths = is_word.sum(axis=1)

    before = np.zeros((b, n, settings.num_sentences, len(category)))  # by position, sentence number, place
    before[:, 0, 0, first] = p
    before[:, 0] *= allowed[:, 0, None]
    for j in range(1, n):
        old, new = before[:, j - 1], before[:, j]
        new[:, :, inside + 1] = old[:, :, inside]
        new[:, 1:, first] += old[:, :-1, last].sum(axis=2, keepdims=True) * p
        new *= allowed[:, j, None]
    after = np.zeros_like(before)
    for j in range(n - 1, -1, -1):
        now = after[:, j]
        if j + 1 < n:
            reached = after[:, j + 1] * allowed[:, j + 1, None]
            now[:, :, inside] = reached[:, :, inside + 1]
            now[:, :-1, last] = (reached[:, 1:, first] @ p)[:, :, None]
        ends = np.flatnonzero(lengths == j + 1)
        now[ends] = 0
        now[ends[:, None], -1, last] = 1
    of_places = (before * after).sum(axis=2)  # (B, N, places)
    posterior = of_places @ np.eye(len(names))[category]
    total = posterior.sum(axis=2, keepdims=True)
    shares: FloatArray = np.divide(posterior, total, out=np.zeros_like(posterior), where=total > 0)
    return shares


def topic_posterior(settings: SandboxSettings, documents: SandboxDocuments, hidden: Booleans) -> FloatArray:
    """P(topic of a hidden content word | the shown words): (alpha + n_t) / (T alpha + n) with n_t their topics; (B, T)."""
    _check(settings, documents, hidden)
    topics = np.where(hidden, 0, documents.topics)
    counts = np.stack([(topics == t).sum(axis=1) for t in range(1, settings.num_topics + 1)], axis=1)
    seen = settings.dirichlet_alpha + counts
    shares: FloatArray = seen / seen.sum(axis=1, keepdims=True)
    return shares


def _mean_surprise(documents: SandboxDocuments, hidden: Booleans, surprise: FloatArray) -> float:
    """Mean over hidden positions, then over documents, as in equation 1."""
    return float((np.where(hidden, surprise, 0).sum(axis=1) / hidden.sum(axis=1)).mean())


def best_parts(settings: SandboxSettings, documents: SandboxDocuments, hidden: Booleans) -> FloatArray:
    """Loss of the best of all predictors on these documents, by ``loss_parts``'s parts: category, topic, word; (3,).

    Needs masks that show [MASK] at every hidden position (p_c = p_r = 0): then all shown words are true.
    """
    _check(settings, documents, hidden, some=True)
    categories = np.maximum(documents.categories, 0)
    of_category = np.take_along_axis(category_posterior(settings, documents, hidden), categories[:, :, None], axis=2)[:, :, 0]
    of_topic = np.take_along_axis(topic_posterior(settings, documents, hidden), np.maximum(documents.topics - 1, 0), axis=1)
    with np.errstate(divide="ignore"):
        surprises = -np.log(of_category), np.where(documents.topics > 0, -np.log(of_topic), 0.0)
    parts = [_mean_surprise(documents, hidden, surprise) for surprise in surprises]
    return np.array([*parts, np.log(settings.words_per_class)])


def uninformed_parts(settings: SandboxSettings, documents: SandboxDocuments, hidden: Booleans) -> FloatArray:
    """The same for a predictor that knows how frequent each word is and sees nothing; (3,)."""
    _check(settings, documents, hidden, some=True)
    names, grammar = settings.vocabulary.categories, settings.grammar
    share = grammar.frequencies()[[grammar.categories.index(name) for name in names]]
    category = -np.log(share)[np.maximum(documents.categories, 0)]
    topic = np.where(documents.topics > 0, np.log(settings.num_topics), 0.0)
    return np.array([*(_mean_surprise(documents, hidden, s) for s in (category, topic)), np.log(settings.words_per_class)])
