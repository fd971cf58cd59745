"""Bounds on the best loss: against the best of all predictors by enumeration, and against closed forms."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import digamma

from topiclib.bayes import BayesBounds, bayes_bounds
from topiclib.documents import PAD, Documents, DocumentSettings, sample_documents, topic_word_probabilities
from topiclib.masking import MaskedDocuments, MaskingSettings, mask_documents
from topiclib.settings import LOSSES
from topiclib.vocabulary import MASK
from topiclib.word_counts import count_documents

Drawn = tuple[Documents, MaskedDocuments]
pytestmark = pytest.mark.filterwarnings("error")
every_loss = pytest.mark.parametrize("loss", LOSSES)


def draw(settings: DocumentSettings, masking: MaskingSettings, num_docs: int, seed: int = 0) -> Drawn:
    documents = sample_documents(settings, num_docs, seed)
    return documents, mask_documents(documents.tokens, settings.vocabulary, masking, seed + 1)


def bounds(settings: DocumentSettings, masking: MaskingSettings, drawn: Drawn, loss: str) -> BayesBounds:
    return bayes_bounds(settings, masking, *drawn, loss)


# Every document and mask of a small setting, each as often as its probability says; then the mean over them is exact.


def outcomes(settings: DocumentSettings, masking: MaskingSettings, mixtures: list[Any], doc_len: int) -> Drawn:
    """All of them, as rows: the probabilities must be such that one position has a small common denominator."""
    table, size = topic_word_probabilities(settings), settings.vocabulary.size
    rows: list[Any] = []
    for theta in mixtures:
        words = np.asarray(theta) @ table
        ways = []  # (shown, target, selected), probability
        for word in range(1, size):
            p = words[word]
            ways.append(((word, word, False), p * (1 - masking.p_m)))
            ways.append(((word, word, True), p * masking.p_m * masking.p_c))
            ways += [((other, word, True), p * masking.p_m * masking.p_r / (size - 1)) for other in range(1, size)]
            ways.append(((MASK, word, True), p * masking.p_m * (1 - masking.p_c - masking.p_r)))
        exact = [Fraction(p).limit_denominator(1000) for _, p in ways]
        assert sum(exact) == 1
        unit = np.lcm.reduce([p.denominator for p in exact])
        position = [way for (way, _), p in zip(ways, exact, strict=True) for _ in range(int(p * unit))]
        rows += [(theta, document) for document in product(position, repeat=doc_len) if any(s for _, _, s in document)]
    inputs, targets, selected = np.moveaxis(np.array([[list(map(int, w)) for w in d] for _, d in rows]), 2, 0)
    weights = np.array([theta for theta, _ in rows], dtype=float)
    return Documents(targets, np.full(len(rows), doc_len), weights), MaskedDocuments(inputs, targets, selected.astype(bool))


def best_loss(drawn: Drawn, size: int, loss: str, told: bool) -> float:
    """The least loss of equation 1 over all predictors that see the shown tokens, and if ``told`` the topic weights."""
    documents, masked = drawn
    rows, positions = np.nonzero(masked.selected)
    weights = 1 / masked.selected.sum(axis=1)[rows] / len(documents)
    seen = np.column_stack([masked.inputs[rows], positions, *(documents.topic_weights[rows].T if told else ())])
    _, where = np.unique(seen, axis=0, return_inverse=True)
    mass = np.zeros((where.max() + 1, size))  # of each hidden word, given what is seen
    np.add.at(mass, (where.ravel(), masked.targets[rows, positions]), weights)
    total = mass.sum(axis=1, keepdims=True)
    if loss == "squared":
        return float(mass.sum() - ((mass**2) / total).sum())
    q = np.where(mass > 0, mass / total, 1)
    return float(-(mass * np.log(q)).sum())


TWO = DocumentSettings.theory(1, num_topics=2, words_per_topic=2, min_len=2, max_len=2)
HALF = MaskingSettings(0.5, 0.25, 0.25)
ONE_HOT = [[1, 0], [0, 1]]
ENUMERATED: dict[str, tuple[DocumentSettings, MaskingSettings, list[Any]]] = {
    "one topic": (TWO, HALF, ONE_HOT),
    "two of three": (replace(TWO, num_topics=3, words_per_topic=1, topics_per_doc=2), MaskingSettings(0.5, 0.25, 0.375),
                     [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]),
    "never kept": (TWO, MaskingSettings(0.5, 0.0, 0.5), ONE_HOT),
    "never random": (TWO, MaskingSettings(0.5, 0.5, 0.0), ONE_HOT),
    "never [MASK]": (TWO, MaskingSettings(0.5, 0.5, 0.5), ONE_HOT),
    "mixtures": (replace(TWO, mixture="dirichlet", words_per_topic=1), HALF, [[0.25, 0.75], [0.75, 0.25], [1, 0], [0.5, 0.5]]),
    "overlap": (replace(TWO, overlap=0.25, words_per_topic=1), HALF, ONE_HOT),
    "skew": (replace(TWO, num_topics=2, words_per_topic=2, word_skew=1.0), MaskingSettings(0.5, 0.5, 0.25), ONE_HOT),
}  # fmt: skip


@every_loss
@pytest.mark.parametrize("case", ENUMERATED.values(), ids=ENUMERATED.keys())
def test_the_best_predictor_lies_between_the_bounds(case: Any, loss: str) -> None:
    settings, masking, mixtures = case
    drawn = outcomes(settings, masking, mixtures, 2)
    found, size = bounds(settings, masking, drawn, loss), settings.vocabulary.size
    # The predictor that is told theta is the best of those that are told, exactly; it is better than all that are not.
    assert found.lower == pytest.approx(best_loss(drawn, size, loss, told=True), abs=1e-12)
    exact = best_loss(drawn, size, loss, told=False)
    assert found.lower < exact - 1e-3
    assert found.upper >= exact - 1e-12


@every_loss
def test_the_bounds_close_as_documents_grow(loss: str) -> None:
    gaps = []
    for length in (20, 200, 2000):
        settings = DocumentSettings.paper(min_len=length, max_len=length)
        found = bounds(settings, MaskingSettings.paper(), draw(settings, MaskingSettings.paper(), 400), loss)
        gaps.append(found.upper - found.lower)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 0.05 * gaps[0]


@every_loss
def test_the_estimate_is_the_likeliest_mixture(loss: str) -> None:
    """Found by another optimiser, under the prior Dirichlet(alpha + 1), with most positions kept or random."""
    settings, masking = (
        DocumentSettings.tiny(dirichlet_alpha=0.5, min_len=30, max_len=30, overlap=0.2),
        MaskingSettings(0.9, 0.6, 0.4),
    )
    documents, masked = draw(settings, masking, 12)
    counts = count_documents(masked, settings.vocabulary).counts[:, 1:]
    table = topic_word_probabilities(settings)[:, 1:]

    def theta(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())

    def surprise(logits: npt.NDArray[Any], shown: npt.NDArray[Any]) -> float:
        shares = (1 - 0.4 * 0.9) * theta(logits) @ table + 0.9 * 0.4 / 6
        return float(-shown @ np.log(shares) - 0.5 * np.log(theta(logits)).sum())

    likeliest = np.array([theta(minimize(surprise, np.zeros(3), args=(shown,), tol=1e-10).x) for shown in counts])
    told = bounds(settings, masking, (replace(documents, topic_weights=likeliest), masked), loss)
    assert bounds(settings, masking, (documents, masked), loss).upper == pytest.approx(told.lower, abs=1e-3)


@every_loss
@pytest.mark.parametrize("changes", [{"overlap": 0.3}, {"word_skew": 1.0}, {"overlap": 0.5, "word_skew": 0.5}], ids=str)
def test_the_estimate_uses_overlap_and_skew(changes: dict[str, Any], loss: str) -> None:
    """In long documents it finds the weights; one that takes the words of a topic to be its own and even does not."""
    settings = DocumentSettings.paper(min_len=3000, max_len=3000, **changes)
    drawn = draw(settings, MaskingSettings.paper(), 200)
    found = bounds(settings, MaskingSettings.paper(), drawn, loss)
    assert found.lower < found.upper < found.lower + (0.004 if loss == "cross_entropy" else 0.0004)


def flat_loss(loss: str, words: int) -> float:
    """Of a hidden word that is one of ``words``, each as likely."""
    return log(words) if loss == "cross_entropy" else 1 - 1 / words


@every_loss
@pytest.mark.parametrize("tau", [1, 2, 3])
def test_without_kept_words_only_the_topics_matter(tau: int, loss: str) -> None:
    """Then every document has the same loss, whatever it is: ln(tau v), or 1 - 1 / (tau v)."""
    settings, masking = DocumentSettings.theory(tau), MaskingSettings(0.3, 0.0, 0.4)
    found = bounds(settings, masking, draw(settings, masking, 50), loss)
    assert found.lower == pytest.approx(flat_loss(loss, 10 * tau), abs=1e-12)
    assert found.lower_error == pytest.approx(0, abs=1e-8)
    assert found.upper == pytest.approx(found.lower, abs=1e-12)  # a hundred words show which topics they are


@every_loss
def test_if_every_document_has_all_topics_there_is_nothing_to_estimate(loss: str) -> None:
    settings = DocumentSettings.theory(4, num_topics=4, words_per_topic=3, min_len=1, max_len=9)
    found = bounds(settings, MaskingSettings.paper(), draw(settings, MaskingSettings.paper(), 300), loss)
    assert found.upper == found.lower
    assert found.upper_error == found.lower_error


def told_losses(loss: str, tau: int, masking: MaskingSettings, num_topics: int = 10, v: int = 10) -> float:
    """In closed form, for exactly tau topics of uniform words (Section 5's best of all predictors)."""
    shows = masking.p_c + masking.p_r * tau / num_topics  # a selected position shows a word of the document's topics
    k, words = masking.p_c / shows, tau * v
    if loss == "squared":
        return 1 - 1 / words - shows * k**2 * (1 - 1 / words)
    right, wrong = k + (1 - k) / words, (1 - k) / words
    surprise = -right * log(right) - (words - 1) * wrong * log(wrong)
    return (1 - shows) * log(words) + shows * surprise


@every_loss
@pytest.mark.parametrize("tau", [1, 2, 5])
def test_long_documents_of_exactly_tau_topics(tau: int, loss: str) -> None:
    settings, masking = DocumentSettings.theory(tau, min_len=3000, max_len=3000), MaskingSettings.paper()
    found = bounds(settings, masking, draw(settings, masking, 1500), loss)
    assert abs(found.lower - told_losses(loss, tau, masking)) < 4.5 * found.lower_error < 0.01
    assert found.upper == pytest.approx(found.lower, abs=1e-12)


def test_the_number_of_section_5() -> None:
    assert told_losses("squared", 2, MaskingSettings.paper()) == pytest.approx(0.870833, abs=1e-6)


@every_loss
def test_documents_of_the_paper(loss: str) -> None:
    settings, masking = DocumentSettings.paper(), MaskingSettings.paper()
    found = bounds(settings, masking, draw(settings, masking, 20_000), loss)
    # Means over ten draws of 20,000 documents, with standard errors 0.0014 and 0.0002.
    lower, upper, error = (2.8971, 2.9311, 0.0014) if loss == "cross_entropy" else (0.87151, 0.87280, 0.0002)
    assert abs(found.lower - lower) < 4.5 * sqrt(found.lower_error**2 + error**2)
    # The difference of the two varies less from draw to draw than either: standard deviations 0.0005 and 0.00003.
    width = found.upper - found.lower
    assert width == pytest.approx(upper - lower, abs=0.0025 if loss == "cross_entropy" else 0.00015)


@every_loss
def test_told_that_no_word_is_kept_it_ignores_its_own_position(loss: str) -> None:
    """Then its loss is the entropy of the document's words, or one minus their squared norm: known for a Dirichlet."""
    settings, masking = DocumentSettings.paper(), MaskingSettings.paper()
    found = bounds(settings, replace(masking, p_c=0.0), draw(settings, masking, 20_000), loss)
    entropy = digamma(10 * 0.1 + 1) - digamma(0.1 + 1) + log(10)
    exact = entropy if loss == "cross_entropy" else 1 - (0.1 + 1) / (10 * 0.1 + 1) / 10
    assert abs(found.lower - exact) < 4.5 * found.lower_error


@every_loss
def test_an_estimate_may_be_infinitely_wrong_without_a_warning(loss: str) -> None:
    settings = DocumentSettings.theory(1, min_len=1, max_len=2)
    found = bounds(settings, MaskingSettings(0.5), draw(settings, MaskingSettings(0.5), 200), loss)
    assert (found.upper == float("inf")) == (loss == "cross_entropy")
    assert np.isfinite(found.lower)
    assert found.upper > found.lower


@every_loss
def test_standard_errors_are_those_of_a_mean_over_documents(loss: str) -> None:
    settings, masking = DocumentSettings.tiny(), MaskingSettings(0.3, 0.2, 0.2)
    documents, masked = draw(settings, masking, 40)
    found = bounds(settings, masking, (documents, masked), loss)
    single = []
    for i in range(len(documents)):
        rows = slice(i, i + 1)
        one = Documents(documents.tokens[rows], documents.lengths[rows], documents.topic_weights[rows])
        single.append(bounds(settings, masking, (one, MaskedDocuments(*(a[rows] for a in vars(masked).values()))), loss))
    for name in ("lower", "upper"):
        values = np.array([getattr(one, name) for one in single])
        assert getattr(found, name) == pytest.approx(values.mean(), abs=1e-12)
        assert getattr(found, f"{name}_error") == pytest.approx(values.std() / sqrt(len(values)), abs=1e-12)
        assert single[0].lower_error == 0


@every_loss
def test_the_order_of_the_words_and_padding_do_not_matter(loss: str) -> None:
    settings, masking = DocumentSettings.tiny(), MaskingSettings(0.4, 0.2, 0.2)
    documents, masked = draw(settings, masking, 30)
    found = bounds(settings, masking, (documents, masked), loss)
    order = np.random.default_rng(3).permutation(masked.inputs.shape[1])
    padding = np.full((30, 2), PAD)

    def moved(array: npt.NDArray[Any], filler: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.concatenate([array[:, order], filler], axis=1)

    other = MaskedDocuments(
        moved(masked.inputs, padding), moved(masked.targets, padding), moved(masked.selected, np.zeros((30, 2), dtype=bool))
    )
    again = bounds(settings, masking, (documents, other), loss)
    assert vars(again) == pytest.approx(vars(found), abs=1e-12)


def test_an_impossible_word_costs_no_warning() -> None:
    """With p_r = 0 a kept word is certain: its loss is exactly 0, in both losses."""
    settings, masking = DocumentSettings.tiny(), MaskingSettings(0.4, 1.0, 0.0)
    drawn = draw(settings, masking, 30)
    for loss in LOSSES:
        found = bounds(settings, masking, drawn, loss)
        assert found.lower == found.upper == 0


def wrong_arguments() -> dict[str, tuple[dict[str, Any], type[Exception], str]]:
    return {
        "settings": ({"settings": MaskingSettings()}, TypeError, "settings = .*: must be a DocumentSettings"),
        "masking": ({"masking": None}, TypeError, "masking = None: must be a MaskingSettings"),
        "documents": ({"documents": np.ones((2, 2))}, TypeError, "documents = .*: must be a Documents"),
        "masked": ({"masked": np.ones((2, 2))}, TypeError, "batch = .*: must be a MaskedDocuments"),
        "loss": ({"loss": "mse"}, ValueError, "loss = 'mse': must be one of 'cross_entropy', 'squared'"),
        "vocabulary": ({"settings": DocumentSettings.tiny(num_topics=2)}, ValueError, "must be from 0 to 4"),
    }


@pytest.mark.parametrize("case", wrong_arguments().values(), ids=wrong_arguments().keys())
def test_wrong_arguments_are_named(case: Any) -> None:
    changes, error, message = case
    settings, masking = DocumentSettings.tiny(), MaskingSettings(0.4)
    documents, masked = draw(settings, masking, 20)
    given = {"settings": settings, "masking": masking, "documents": documents, "masked": masked, "loss": "squared"}
    with pytest.raises(error, match=message):
        bayes_bounds(**(given | changes))


def test_documents_and_masks_must_be_of_the_same_draw() -> None:
    settings, masking = DocumentSettings.tiny(), MaskingSettings(0.4)
    documents, masked = draw(settings, masking, 20)
    for wrong in (
        Documents(documents.tokens, documents.lengths, documents.topic_weights[:19]),
        Documents(documents.tokens, documents.lengths, documents.topic_weights[:, :2]),
    ):
        shape = str(wrong.topic_weights.shape).replace("(", r"\(").replace(")", r"\)")
        with pytest.raises(ValueError, match=rf"topic weights of shape {shape}: must be \(20, 3\) as masked"):
            bayes_bounds(settings, masking, wrong, masked, "squared")
