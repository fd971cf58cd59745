"""Topics of real text: Latent Dirichlet Allocation (Blei et al., 2003), its coherence, and the words of each topic.

The theory knows which word belongs to which topic. Real text does not say; the paper fits LDA and keeps, of each topic, the
words to which it gives the highest probability.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiclib import cache
from topiclib.validation import as_rng, check_bool, check_choice, check_int, check_real, check_type, shown

__all__ = ["METHODS", "TopicModel", "TopicSettings", "TopicWords", "fit_topics", "npmi", "shuffled", "topic_words"]

METHODS = ("gibbs", "variational")


@dataclass(frozen=True)
class TopicSettings:
    """How LDA is fitted.

    Parameters
    ----------
    num_topics : K
    dirichlet_alpha : concentration of the topics in a document, each topic's; "auto" (variational only): learned
    eta : concentration of the words in a topic, each word's; "auto" (variational only): learned
    method : "gibbs", the collapsed sampler of Griffiths and Steyvers (tomotopy), or "variational", the online variational
        Bayes of Hoffman et al. (gensim, the paper's tool)
    passes : sweeps of the sampler, or passes over the documents
    """

    num_topics: int = 100
    dirichlet_alpha: float | str = 0.1
    eta: float | str = 0.01
    method: str = "gibbs"
    passes: int = 300

    def __post_init__(self) -> None:
        check_int("num_topics", self.num_topics, 2, 10_000)
        check_choice("method", self.method, METHODS)
        check_int("passes", self.passes, 1)
        for name in ("dirichlet_alpha", "eta"):
            value = getattr(self, name)
            if value != "auto":
                check_real(name, value, 0, open_low=True)
            elif self.method == "gibbs":
                raise ValueError(f"{name} = 'auto': must be a number > 0 for method 'gibbs' ('auto' is gensim's)")


@dataclass(frozen=True, eq=False)
class TopicModel:
    """Fitted topics: ``word_given_topic`` (K, W), rows sum to 1, with the settings and the seed that gave them."""

    word_given_topic: np.ndarray
    settings: TopicSettings
    seed: int

    @property
    def num_topics(self) -> int:
        """K."""
        return len(self.word_given_topic)

    def top(self, topic: int, number: int = 10) -> np.ndarray:
        """Indices of the ``number`` most probable words of a topic, the first the most probable."""
        check_int("topic", topic, 0, self.num_topics - 1)
        return _ranked(self.word_given_topic[topic])[: check_int("number", number, 1)]


def _ranked(values: np.ndarray) -> np.ndarray:
    """Indices from the largest to the smallest; of equals the first comes first."""
    return np.argsort(-values, kind="stable")


def fit_topics(counts: csr_array, settings: TopicSettings, seed: int, *, workers: int = 1, distributed: bool = False) -> TopicModel:
    """Fit LDA to documents; a fit is kept in the cache.

    Parameters
    ----------
    counts : (D, W) how often each word is in each document (``Corpus.counts``)
    settings : number of topics, priors, method
    seed : of the method's own generator, 0 to 2^32 - 1
    workers : more than one: processes of gensim's ``LdaMulticore``, for method "variational" alone. Beside them this process
        deals out the documents, so that one less than there are cores is best
    distributed : gensim's own cluster, for method "variational" alone. It needs Pyro4 and, started before on hosts of one network,
        a name server, any number of workers and one dispatcher, all with PYRO_SERIALIZERS_ACCEPTED=pickle PYRO_SERIALIZER=pickle
        in the environment, as this process too:

            python -m Pyro4.naming -n 0.0.0.0
            python -m gensim.models.lda_worker
            python -m gensim.models.lda_dispatcher

        Pickles run code: only in a network whose hosts trust each other

    With one worker the seed decides the fit. With several it does not: each starts the topics of a document at random by a
    generator of its own, and what they find is summed in the order in which it comes. The topics are as good.

    Raises ValueError for counts without any word, or of fewer than two words, or more than one worker where the method or a
    prior that is to be learned allows but one; ImportError without Pyro4; RuntimeError if gensim finds no cluster.
    """
    check_type("settings", settings, TopicSettings)
    check_int("seed", seed, 0, 2**32 - 1)
    parallel = _parallel(settings, workers, distributed)
    counts = _whole_counts(counts)
    if counts.shape[1] < 2 or counts.sum() == 0:
        raise ValueError(
            f"counts: {counts.shape[0]} documents with {counts.sum()} words of {counts.shape[1]}; must have two words at least"
        )
    fit = _gibbs if settings.method == "gibbs" else _variational
    inputs = (counts.data, counts.indices, counts.indptr, list(counts.shape), settings, int(seed), fit)
    key = cache.content_key(*inputs, *parallel.items(), packages=("gensim", "tomotopy"))
    arrays = cache.remembered("topics", key, lambda: {"word_given_topic": fit(counts, settings, int(seed), **parallel)})
    return TopicModel(arrays["word_given_topic"], settings, int(seed))


def _parallel(settings: TopicSettings, workers: int, distributed: bool) -> dict[str, Any]:
    """What the variational method is asked for beyond one process; nothing for one."""
    check_int("workers", workers, 1)
    check_bool("distributed", distributed)
    if workers == 1 and not distributed:
        return {}
    asked = "distributed = True" if distributed else f"workers = {workers}"
    if settings.method != "variational":
        raise ValueError(
            f"{asked}: must be {'False' if distributed else 1} with method {settings.method!r}; 'variational' takes it"
        )
    if distributed and workers > 1:
        raise ValueError(f"workers = {workers}: must be 1 with distributed = True, where those work that were started")
    if settings.dirichlet_alpha == "auto":
        raise ValueError(f"dirichlet_alpha = 'auto': must be a number > 0 with {asked}; gensim learns it in one process only")
    if distributed and find_spec("Pyro4") is None:
        raise ImportError("distributed = True: needs the package Pyro4 on every host (pip install Pyro4)")
    return {"distributed": True} if distributed else {"workers": int(workers)}


def _whole_counts(counts: object) -> csr_array:
    """``counts`` as a sparse table with sorted rows; ValueError if it is no table (D, W) of whole numbers >= 0."""
    try:
        table = csr_array(counts)
        whole = (
            table.ndim == 2 and np.issubdtype(table.dtype, np.number) and bool(((table.data >= 0) & (table.data % 1 == 0)).all())
        )
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise ValueError(f"counts = {shown(counts)}: must be a table (D, W) of whole numbers >= 0")
    table = csr_array(table.astype(np.int32))
    table.sort_indices()
    return table


def _gibbs(counts: csr_array, settings: TopicSettings, seed: int) -> np.ndarray:
    """(K, W) by collapsed Gibbs sampling: the last sample's counts, smoothed by eta."""
    from tomotopy import LDAModel

    model = LDAModel(k=settings.num_topics, alpha=settings.dirichlet_alpha, eta=settings.eta, seed=seed)
    for row in range(counts.shape[0]):
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        model.add_doc([str(word) for word in np.repeat(counts.indices[part], counts.data[part])])
    # One worker: the samplers that run at once do not repeat themselves.
    model.train(settings.passes, workers=1)
    found = np.zeros((settings.num_topics, counts.shape[1]))
    used = np.array([int(word) for word in model.used_vocabs])
    for topic in range(settings.num_topics):
        found[topic, used] = model.get_topic_word_dist(topic)
    return found


def _variational(counts: csr_array, settings: TopicSettings, seed: int, workers: int = 1, distributed: bool = False) -> np.ndarray:
    """(K, W) by online variational Bayes."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel, LdaMulticore

    corpus = Sparse2Corpus(counts, documents_columns=False)
    options: dict[str, Any] = {
        "id2word": {word: str(word) for word in range(counts.shape[1])},
        "num_topics": settings.num_topics,
        "alpha": settings.dirichlet_alpha,
        "eta": settings.eta,
        "passes": settings.passes,
        "random_state": seed,
    }
    if workers == 1:
        model = LdaModel(corpus, distributed=distributed, **options)
    else:
        # gensim's 2000 documents at a time would leave workers with nothing to do where there are few
        size = min(2000, -(-counts.shape[0] // workers))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside a notebook's threads
            model = LdaMulticore(corpus, workers=workers, chunksize=size, **options)
    return np.asarray(model.get_topics(), float)


def npmi(model: TopicModel, counts: csr_array, number: int = 10) -> np.ndarray:
    """(K,) coherence of each topic: normalised pointwise mutual information of its ``number`` most probable words.

    For words i and j, with p the share of documents that hold them,

        NPMI = log(p_ij / (p_i p_j)) / (-log p_ij),

    averaged over the pairs: 1 if they are always together, 0 if independent, -1 if never. Bouma (2009); Lau et al. (2014).
    """
    check_type("model", model, TopicModel)
    check_int("number", number, 2, model.word_given_topic.shape[1])
    if counts.shape[1] != model.word_given_topic.shape[1]:
        raise ValueError(
            f"counts: are of {counts.shape[1]} words, the model of {model.word_given_topic.shape[1]}; must be the same"
        )
    present = csr_array(counts).astype(bool).astype(np.float64).tocsc()
    documents = present.shape[0]
    upper = np.triu_indices(number, 1)
    found = np.empty(model.num_topics)
    for topic in range(model.num_topics):
        chosen = present[:, model.top(topic, number)]
        together = (chosen.T @ chosen).toarray() / documents
        single = np.diag(together)
        p = together[upper]
        independent = single[upper[0]] * single[upper[1]]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(p / independent) / -np.log(p)
        # Never together: -1, the limit; in every document: 1.
        found[topic] = np.where(p == 0, -1.0, np.where(p == 1, 1.0, value)).mean()
    return found


@dataclass(frozen=True, eq=False)
class TopicWords:
    """Which words stand for which topic.

    words : (n,) indices of the words that stand for any topic, increasing
    member : (K, n) whether a word stands for a topic
    """

    words: np.ndarray
    member: np.ndarray
    several: bool = False

    @property
    def num_topics(self) -> int:
        """K."""
        return len(self.member)

    @property
    def pairs_per_topic(self) -> np.ndarray:
        """(K,) unordered pairs of different words in each topic."""
        size = self.member.sum(1)
        return np.asarray(size * (size - 1) // 2)

    def of(self, topic: int) -> np.ndarray:
        """Indices of the words of a topic."""
        return np.asarray(self.words[self.member[check_int("topic", topic, 0, self.num_topics - 1)]])

    def shared(self) -> csr_array:
        """(n, n) how many topics two words share; the diagonal says for how many a word stands."""
        member = csr_array(self.member.astype(np.int32))
        return csr_array(member.T @ member)


def topic_words(model: TopicModel, number: int, *, several: bool = False) -> TopicWords:
    """The ``number`` words of each topic to which it gives the highest probability.

    Parameters
    ----------
    model : fitted topics
    number : words per topic; the paper's "ambiguity threshold" is number / V
    several : False: a word stands only for the topic that gives it the highest probability, as in the paper's Table 1, so
        that a topic which wins few words has fewer than ``number``; True: for every topic that ranks it high (Table 5)

    Raises ValueError if fewer than two topics keep two words: then there are no pairs to compare.
    """
    check_type("model", model, TopicModel)
    check_int("number", number, 2, model.word_given_topic.shape[1])
    check_bool("several", several)
    table = model.word_given_topic
    seen = table.sum(0) > 0
    allowed = np.broadcast_to(seen, table.shape) if several else (np.arange(len(table))[:, None] == table.argmax(0)) & seen
    member = np.zeros(table.shape, bool)
    for topic, row in enumerate(table):
        ranked = _ranked(np.where(allowed[topic], row, -1.0))[:number]
        member[topic, ranked] = allowed[topic, ranked]
    if np.sum(member.sum(1) >= 2) < 2:
        raise ValueError(
            f"number = {number}: fewer than two topics of {len(table)} keep two words; must be larger, or fewer topics"
        )
    words = np.flatnonzero(member.any(0))
    return TopicWords(words, member[:, words], several)


def shuffled(topics: TopicWords, rng: np.random.Generator | int) -> TopicWords:
    """The same numbers of words in topics that mean nothing: the words are dealt out anew. The control for every ratio."""
    check_type("topics", topics, TopicWords)
    return TopicWords(topics.words, topics.member[:, as_rng(rng).permutation(len(topics.words))], topics.several)
