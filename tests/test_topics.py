"""LDA finds planted topics, repeats itself, and its words and coherence are what they are said to be."""

from itertools import pairwise
from math import log
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import topiclib.topics as module
from topiclib.topics import METHODS, TopicModel, TopicSettings, TopicWords, fit_topics, npmi, shuffled, topic_words

T, PER_TOPIC, DOCS = 4, 6, 120
SETTINGS = TopicSettings(num_topics=T, passes=60)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICLIB_CACHE", str(tmp_path / "cache"))


def planted(seed: int = 0, words: int = 40) -> csr_array:
    """Documents of one or two of T topics with disjoint words."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(DOCS):
        topics = rng.choice(T, rng.integers(1, 3), replace=False)
        drawn = rng.choice(topics, words) * PER_TOPIC + rng.integers(0, PER_TOPIC, words)
        rows.append(np.bincount(drawn, minlength=T * PER_TOPIC))
    return csr_array(np.array(rows))


def model_of(table: list[list[float]]) -> TopicModel:
    return TopicModel(np.array(table), TopicSettings(num_topics=len(table)), 0)


@pytest.mark.parametrize("method", METHODS)
def test_planted_topics_are_found(method: str) -> None:
    settings = TopicSettings(num_topics=T, method=method, passes=60 if method == "gibbs" else 20)
    model = fit_topics(planted(), settings, 0)
    found = {frozenset(model.top(topic, PER_TOPIC).tolist()) for topic in range(T)}
    assert found == {frozenset(range(PER_TOPIC * t, PER_TOPIC * (t + 1))) for t in range(T)}
    assert np.allclose(model.word_given_topic.sum(1), 1)
    assert all(model.word_given_topic[t, model.top(t, PER_TOPIC)].sum() > 0.97 for t in range(T))
    assert model.word_given_topic.shape == (T, T * PER_TOPIC)


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed twice, not read from the cache."""
    monkeypatch.setattr(module.cache, "remembered", lambda name, key, compute: compute())
    settings = TopicSettings(num_topics=T, method=method, passes=5)
    a, b, c = (fit_topics(planted(), settings, seed).word_given_topic for seed in (3, 3, 4))
    assert np.array_equal(a, b)
    assert not np.allclose(a, c)


def test_the_sampler_has_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """With several, which run at once, large collections of documents do not repeat themselves."""
    import tomotopy

    asked: list[dict[str, Any]] = []

    class Watched(tomotopy.LDAModel):  # type: ignore[misc]
        def train(self, *arguments: Any, **options: Any) -> Any:
            asked.append(options)
            return super().train(*arguments, **options)

    monkeypatch.setattr(tomotopy, "LDAModel", Watched)
    fit_topics(planted(), TopicSettings(num_topics=T, passes=2), 0)
    assert [options["workers"] for options in asked] == [1]


def test_a_fit_is_kept_under_all_that_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    fit = module._gibbs
    first = planted()

    def counted(counts: csr_array, settings: TopicSettings, seed: int) -> np.ndarray:
        calls.append((settings, seed))
        return fit(counts, settings, seed)

    monkeypatch.setattr(module, "_gibbs", counted)
    short = TopicSettings(num_topics=T, passes=3)
    a = fit_topics(first, short, 0)
    b = fit_topics(first.copy(), short, 0)
    assert len(calls) == 1
    assert np.array_equal(a.word_given_topic, b.word_given_topic)
    assert (b.settings, b.seed, b.num_topics) == (short, 0, T)
    other = first.copy()
    other.data[0] += 1
    wider = csr_array((first.data, first.indices, first.indptr), (DOCS, T * PER_TOPIC + 1))
    for counts, settings, seed in (
        (other, short, 0),
        (wider, short, 0),
        (first, short, 1),
        (first, TopicSettings(num_topics=T, passes=4), 0),
        (first, TopicSettings(num_topics=T, passes=3, eta=0.02), 0),
    ):
        fit_topics(counts, settings, seed)
    assert len(calls) == 6
    monkeypatch.setattr(module, "_gibbs", lambda counts, settings, seed: counted(counts, settings, seed))
    fit_topics(first, short, 0)
    assert len(calls) == 7, "another source of the method"


def test_the_order_of_the_entries_does_not_matter() -> None:
    counts = planted()
    places = np.concatenate([np.arange(end - 1, start - 1, -1) for start, end in pairwise(counts.indptr)])
    turned = csr_array((counts.data[places], counts.indices[places], counts.indptr), counts.shape)
    assert not turned.has_sorted_indices
    assert np.array_equal(turned.toarray(), counts.toarray())
    a, b = (fit_topics(c, TopicSettings(num_topics=T, passes=3), 0).word_given_topic for c in (counts, turned))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("method", METHODS)
def test_documents_without_words_and_words_without_documents(method: str) -> None:
    """Neither breaks a fit; a word that is nowhere has no topic."""
    table = np.zeros((DOCS + 3, T * PER_TOPIC + 2), int)
    table[1:-2, 1:-1] = planted().toarray()
    model = fit_topics(csr_array(table), TopicSettings(num_topics=T, method=method, passes=10), 0)
    assert model.word_given_topic.shape == (T, T * PER_TOPIC + 2)
    assert np.allclose(model.word_given_topic.sum(1), 1)
    nowhere = model.word_given_topic[:, [0, -1]]
    assert nowhere.max() < 1e-3
    if method == "gibbs":
        assert not nowhere.any()


def test_one_word_documents() -> None:
    model = fit_topics(csr_array(np.repeat(np.eye(6, dtype=int), 20, axis=0)), TopicSettings(num_topics=2, passes=20), 0)
    assert np.allclose(model.word_given_topic.sum(1), 1)


def test_counts_and_not_only_presence_matter() -> None:
    """Two topics that share all words, in other proportions."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    counts = csr_array(np.array([rng.multinomial(100, shares[d % 2]) for d in range(200)]))
    model = fit_topics(counts, TopicSettings(num_topics=2, passes=100, dirichlet_alpha=0.05), 0)
    found = model.word_given_topic[np.argsort(-model.word_given_topic[:, 0])]
    assert np.abs(found - shares).max() < 0.05


@pytest.mark.parametrize(
    "counts", [np.zeros((3, 4), int), np.ones((3, 1), int), np.ones((0, 4), int)], ids=["none", "one", "empty"]
)
def test_counts_without_words_are_an_error(counts: np.ndarray) -> None:
    with pytest.raises(ValueError, match=f"counts: {len(counts)} documents with"):
        fit_topics(csr_array(counts), SETTINGS, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_topics": 1}, "num_topics = 1: must be a whole number from 2"),
        ({"num_topics": 2.0}, "num_topics = 2.0"),
        ({"passes": 0}, "passes = 0"),
        ({"method": "lsi"}, "method = 'lsi': must be one of 'gibbs', 'variational'"),
        ({"dirichlet_alpha": 0}, "dirichlet_alpha = 0"),
        ({"eta": -1}, "eta = -1"),
        ({"eta": float("nan")}, "eta = nan"),
        ({"dirichlet_alpha": "auto"}, "dirichlet_alpha = 'auto': must be a number > 0 for method 'gibbs'"),
        ({"eta": "none", "method": "variational"}, "eta = 'none'"),
    ],
)
def test_settings_are_checked(changes: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        TopicSettings(**changes)


def test_the_variational_method_learns_its_priors() -> None:
    settings = TopicSettings(num_topics=T, method="variational", dirichlet_alpha="auto", eta="auto", passes=20)
    assert np.allclose(fit_topics(planted(), settings, 0).word_given_topic.sum(1), 1)


VARIATIONAL = TopicSettings(num_topics=T, method="variational", passes=20)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Which of gensim's models are made, and with what; as if there was a cluster, of one process."""
    import gensim.models

    made: list[tuple[str, dict[str, Any]]] = []

    def watched(name: str) -> Any:
        model = getattr(gensim.models, name)

        def make(corpus: Any, **options: Any) -> Any:
            made.append((name, dict(options)))
            return model(corpus, **{key: value for key, value in options.items() if key != "distributed"})

        return make

    for name in ("LdaModel", "LdaMulticore"):
        monkeypatch.setattr(gensim.models, name, watched(name))
    return made


@pytest.mark.parametrize("eta", [0.01, "auto"])
def test_several_workers_find_the_planted_topics(asked: list[tuple[str, dict[str, Any]]], eta: float | str) -> None:
    settings = TopicSettings(num_topics=T, method="variational", passes=20, eta=eta)
    model = fit_topics(planted(), settings, 0, workers=2)
    found = {frozenset(model.top(topic, PER_TOPIC).tolist()) for topic in range(T)}
    assert found == {frozenset(range(PER_TOPIC * t, PER_TOPIC * (t + 1))) for t in range(T)}
    assert np.allclose(model.word_given_topic.sum(1), 1)
    assert npmi(model, planted(), PER_TOPIC).min() > 0.3
    ((name, options),) = asked
    assert name == "LdaMulticore"
    assert (options["workers"], options["chunksize"]) == (2, DOCS // 2), "each worker has documents"


def test_a_large_collection_is_dealt_out_in_gensims_portions(asked: list[tuple[str, dict[str, Any]]]) -> None:
    counts = csr_array(np.random.default_rng(0).poisson(0.5, (4001, 5)))
    fit_topics(counts, TopicSettings(num_topics=2, method="variational", passes=1), 0, workers=2)
    assert asked[0][1]["chunksize"] == 2000


def test_one_worker_is_gensims_model_to_the_last_bit() -> None:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    counts, words = planted(), {word: str(word) for word in range(T * PER_TOPIC)}
    corpus = Sparse2Corpus(counts, documents_columns=False)
    right = LdaModel(corpus, num_topics=T, id2word=words, alpha=0.1, eta=0.01, passes=20, random_state=3).get_topics()
    for options in ({}, {"workers": 1}):
        assert np.array_equal(fit_topics(counts, VARIATIONAL, 3, **options).word_given_topic, right)


def test_the_cluster_is_gensims(asked: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    fit_topics(planted(), VARIATIONAL, 0, distributed=True)
    fit_topics(planted(), VARIATIONAL, 0)
    assert [(name, options["distributed"]) for name, options in asked] == [("LdaModel", True), ("LdaModel", False)]


def test_fits_with_other_workers_are_kept_apart(asked: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    settings = TopicSettings(num_topics=T, method="variational", passes=1)
    for options in ({}, {"workers": 2}, {"workers": 3}, {"distributed": True}) * 2:
        fit_topics(planted(), settings, 0, **options)
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("settings", "options", "error", "says"),
    [
        (SETTINGS, {"workers": 2}, ValueError, "workers = 2: must be 1 with method 'gibbs'"),
        (SETTINGS, {"distributed": True}, ValueError, "distributed = True: must be False with method 'gibbs'"),
        (VARIATIONAL, {"workers": 0}, ValueError, "workers = 0: must be a whole number >= 1"),
        (VARIATIONAL, {"workers": 1.5}, TypeError, "workers = 1.5: must be a whole number >= 1"),
        (VARIATIONAL, {"distributed": 1}, TypeError, "distributed = 1: must be True or False"),
        (VARIATIONAL, {"workers": 2, "distributed": True}, ValueError, "workers = 2: must be 1 with distributed = True"),
        (VARIATIONAL, {"distributed": True}, ImportError, "distributed = True: needs the package Pyro4"),
        (
            TopicSettings(num_topics=T, method="variational", dirichlet_alpha="auto"),
            {"workers": 2},
            ValueError,
            "dirichlet_alpha = 'auto': must be a number > 0 with workers = 2",
        ),
        (
            TopicSettings(num_topics=T, method="variational", dirichlet_alpha="auto"),
            {"distributed": True},
            ValueError,
            "dirichlet_alpha = 'auto': must be a number > 0 with distributed = True",
        ),
    ],
)
def test_what_several_workers_cannot_do(
    monkeypatch: pytest.MonkeyPatch, settings: TopicSettings, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(error, match="^" + says):
        fit_topics(planted(), settings, 0, **options)


def test_errors_of_fit_topics() -> None:
    with pytest.raises(TypeError, match="settings = 4"):
        fit_topics(planted(), 4, 0)  # type: ignore[arg-type]
    for seed in (-1, 2**32):
        with pytest.raises(ValueError, match=f"seed = {seed}"):
            fit_topics(planted(), SETTINGS, seed)


def test_top_words_in_their_order() -> None:
    model = model_of([[0.1, 0.4, 0.1, 0.4], [0.25, 0.25, 0.25, 0.25]])
    assert model.top(0, 3).tolist() == [1, 3, 0]
    assert model.top(1, 2).tolist() == [0, 1]
    for topic in (-1, 2):
        with pytest.raises(ValueError, match=f"topic = {topic}"):
            model.top(topic)


def test_npmi_by_hand() -> None:
    """Five documents; words 0 and 1 together in two of three each, 0 and 2 never, 3 everywhere."""
    counts = csr_array(np.array([[1, 2, 0, 1], [3, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 4]]))
    pairs = {
        (0, 1): log((2 / 5) / (3 / 5 * 3 / 5)) / -log(2 / 5),
        (0, 2): -1.0,
        (1, 2): log((1 / 5) / (3 / 5 * 2 / 5)) / -log(1 / 5),
        (0, 3): 0.0,
        (1, 3): 0.0,
    }
    model = model_of([[0.5, 0.3, 0.15, 0.05], [0.4, 0.05, 0.15, 0.4], [0.1, 0.6, 0.0, 0.3]])
    assert npmi(model, counts, 2) == pytest.approx([pairs[0, 1], pairs[0, 3], pairs[1, 3]], abs=1e-12)
    assert npmi(model, counts, 3)[0] == pytest.approx((pairs[0, 1] + pairs[0, 2] + pairs[1, 2]) / 3, abs=1e-12)


def test_npmi_of_extremes() -> None:
    model = model_of([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    together = csr_array(np.array([[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]]))
    assert npmi(model, together, 2) == pytest.approx([1, 1])
    apart = csr_array(np.array([[1, 0, 1, 0], [0, 1, 0, 0]]))
    assert npmi(model, apart, 2) == pytest.approx([-1, -1])


def test_npmi_tells_planted_topics_from_noise() -> None:
    counts = planted()
    found = npmi(fit_topics(counts, SETTINGS, 0), counts, PER_TOPIC)
    assert found.min() > 0.3
    noise = np.random.default_rng(1).dirichlet(np.ones(T * PER_TOPIC), T)
    assert npmi(model_of(noise.tolist()), counts, PER_TOPIC).mean() < found.min()


def test_errors_of_npmi() -> None:
    model = model_of([[0.5, 0.5, 0], [0, 0.5, 0.5]])
    for number in (1, 4):
        with pytest.raises(ValueError, match=f"number = {number}"):
            npmi(model, csr_array(np.ones((2, 3))), number)
    with pytest.raises(ValueError, match="counts: are of 4 words, the model of 3"):
        npmi(model, csr_array(np.ones((2, 4))), 2)


TABLE = [
    [0.30, 0.25, 0.20, 0.10, 0.10, 0.05, 0.0],
    [0.05, 0.26, 0.10, 0.30, 0.05, 0.24, 0.0],
    [0.10, 0.05, 0.30, 0.05, 0.40, 0.10, 0.0],
]
"""Word 6 is nowhere. The best topics of words 0 to 5 are 0, 1, 2, 1, 2, 1."""


@pytest.mark.parametrize(
    ("number", "several", "wanted"),
    [
        (2, False, [[0], [1, 3], [2, 4]]),
        (3, False, [[0], [1, 3, 5], [2, 4]]),
        (7, False, [[0], [1, 3, 5], [2, 4]]),
        (2, True, [[0, 1], [1, 3], [2, 4]]),
        (3, True, [[0, 1, 2], [1, 3, 5], [0, 2, 4]]),
        (7, True, [[0, 1, 2, 3, 4, 5]] * 3),
    ],
)
def test_words_of_each_topic(number: int, several: bool, wanted: list[list[int]]) -> None:
    topics = topic_words(model_of(TABLE), number, several=several)
    assert [topics.of(t).tolist() for t in range(3)] == wanted
    assert topics.words.tolist() == sorted({word for words in wanted for word in words})
    assert topics.num_topics == 3
    assert topics.pairs_per_topic.tolist() == [len(words) * (len(words) - 1) // 2 for words in wanted]
    shared = [[sum(i in words and j in words for words in wanted) for j in topics.words] for i in topics.words]
    assert topics.shared().toarray().tolist() == shared
    if not several:
        assert topics.member.sum(0).max() == 1


def test_one_topic_for_each_word_is_the_one_that_gives_it_the_highest_probability() -> None:
    rng = np.random.default_rng(0)
    model = model_of(rng.dirichlet(np.full(60, 0.3), 5).tolist())
    topics = topic_words(model, 9)
    for topic in range(5):
        for word in topics.of(topic):
            assert model.word_given_topic[:, word].argmax() == topic
        assert len(topics.of(topic)) <= 9
        # Of the words that are the topic's own, those with the highest probability
        own = np.flatnonzero(model.word_given_topic.argmax(0) == topic)
        best = own[np.argsort(-model.word_given_topic[topic, own])][:9]
        assert set(topics.of(topic).tolist()) == set(best.tolist())


def test_fewer_than_two_topics_with_two_words_are_an_error() -> None:
    """The second topic wins a single word, so that there are no two topics to compare."""
    model = model_of([[0.4, 0.4, 0.2], [0.1, 0.1, 0.8]])
    with pytest.raises(ValueError, match="fewer than two topics of 2 keep two words"):
        topic_words(model, 3)
    assert topic_words(model, 3, several=True).pairs_per_topic.tolist() == [3, 3]


@pytest.mark.parametrize("number", [0, 1, 8])
def test_the_number_of_words_is_checked(number: int) -> None:
    with pytest.raises(ValueError, match=f"number = {number}: must be a whole number from 2 to 7"):
        topic_words(model_of(TABLE), number)


def test_of_is_checked() -> None:
    topics = topic_words(model_of(TABLE), 3)
    for topic in (-1, 3):
        with pytest.raises(ValueError, match=f"topic = {topic}"):
            topics.of(topic)
    with pytest.raises(TypeError, match="several = 1"):
        topic_words(model_of(TABLE), 3, several=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("several", [False, True])
def test_shuffled_topics_keep_their_sizes(several: bool) -> None:
    rng = np.random.default_rng(0)
    topics = topic_words(model_of(rng.dirichlet(np.full(60, 0.3), 5).tolist()), 12, several=several)
    other = shuffled(topics, 1)
    assert isinstance(other, TopicWords)
    assert other.several == several
    assert np.array_equal(other.words, topics.words)
    assert np.array_equal(other.member.sum(1), topics.member.sum(1))
    assert sorted(other.member.sum(0)) == sorted(topics.member.sum(0))
    assert (other.member != topics.member).any()
    assert np.array_equal(shuffled(topics, 1).member, other.member)
    assert (shuffled(topics, 2).member != other.member).any()


def test_shuffling_forgets_the_topics() -> None:
    """Two words that share a topic share one again as often as any two words do."""
    member = np.kron(np.eye(4, dtype=bool), np.ones(5, bool)).astype(bool)
    topics = TopicWords(np.arange(20), member)
    together = [shuffled(topics, seed).shared()[[0]].toarray()[0, 1:] > 0 for seed in range(400)]
    share = np.mean(together, 0)
    assert np.abs(share - 4 / 19).max() < 4.5 * np.sqrt(4 / 19 * 15 / 19 / 400)
