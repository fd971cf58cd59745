"""The exact enumeration: cases by hand, and against topiclib's samplers and floating-point algebra."""

from collections.abc import Callable
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from moments import assert_mean

from topiclib.documents import DocumentSettings, sample_documents
from topiclib.enumeration import (
    Moments,
    attention_loss,
    finite_moments,
    infinite_moments,
    minimum_norm_solution,
    moment_loss,
    null_space,
    rank,
    ridge_solution,
)
from topiclib.masking import MaskedDocuments, MaskingSettings, mask_documents


def sizes(num_topics: int, words_per_topic: int, topics_per_doc: int, p_m: Any, p_c: Any, p_r: Any) -> dict[str, Any]:
    return {
        "num_topics": num_topics,
        "words_per_topic": words_per_topic,
        "topics_per_doc": topics_per_doc,
        "p_m": p_m,
        "p_c": p_c,
        "p_r": p_r,
    }


HALF = F(1, 2)
UNEVEN = sizes(3, 2, 2, F(3, 10), F(1, 5), F(2, 5))
SETTINGS = {
    "uneven": UNEVEN,
    "one topic": sizes(3, 2, 1, F(3, 10), F(1, 5), F(2, 5)),
    "all topics": sizes(2, 3, 2, F(3, 20), F(1, 10), F(1, 10)),
    "one word": sizes(4, 1, 2, HALF, 0, HALF),
    "always [MASK]": sizes(3, 2, 2, F(1, 4), 0, 0),
    "always kept": sizes(3, 2, 2, F(1, 4), 1, 0),
    "no [MASK]": sizes(3, 2, 2, F(3, 4), F(1, 3), F(2, 3)),
}
every_setting = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())


def size_of(setting: dict[str, Any]) -> int:
    return int(setting["num_topics"] * setting["words_per_topic"] + 1)


def some_matrix(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, (size, size))


def floats(matrix: Any) -> np.ndarray:
    return np.asarray(matrix).astype(np.float64)


def sample(setting: dict[str, Any], length: int, number: int, seed: int) -> MaskedDocuments:
    """Masked documents from topiclib's own samplers, which know nothing of the enumeration."""
    documents = DocumentSettings.theory(
        setting["topics_per_doc"],
        num_topics=setting["num_topics"],
        words_per_topic=setting["words_per_topic"],
        min_len=length,
        max_len=length,
    )
    rng = np.random.default_rng(seed)
    tokens = sample_documents(documents, number, rng).tokens
    masking = MaskingSettings(*(float(setting[p]) for p in ("p_m", "p_c", "p_r")))
    return mask_documents(tokens, documents.vocabulary, masking, rng)


def sampled_moments(batch: MaskedDocuments, size: int) -> tuple[np.ndarray, np.ndarray]:
    """x x^T and x y^T of each document, y the mean of the one-hot targets; shapes (B, V, V)."""
    tokens = np.arange(size)
    x = (batch.inputs[:, :, None] == tokens).mean(axis=1)
    hits = (batch.targets[:, :, None] == tokens) & batch.selected[:, :, None]
    y = hits.sum(axis=1) / batch.selected.sum(axis=1)[:, None]
    return x[:, :, None] * x[:, None, :], x[:, :, None] * y[:, None, :]


# ---- by hand


def test_one_masked_word_by_hand() -> None:
    moments = finite_moments(**sizes(2, 1, 1, F(3, 10), 0, 0), doc_len=1)
    assert moments.second.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert moments.cross.tolist() == [[0, HALF, HALF], [0, 0, 0], [0, 0, 0]]


def test_one_random_word_is_independent_of_the_target() -> None:
    moments = finite_moments(**sizes(1, 2, 1, F(3, 10), 0, 1), doc_len=1)
    assert moments.second.tolist() == [[0, 0, 0], [0, HALF, 0], [0, 0, HALF]]
    assert moments.cross.tolist() == [[0, 0, 0], [0, F(1, 4), F(1, 4)], [0, F(1, 4), F(1, 4)]]


def test_every_document_weighs_the_same_however_many_positions_it_masks() -> None:
    # Three masks, each 1/3: x = (1/2, 1/2) twice, and (1, 0). Over pooled positions cross[0, 1] would be 3/4.
    moments = finite_moments(**sizes(1, 1, 1, HALF, 0, 0), doc_len=2)
    assert moments.second.tolist() == [[HALF, F(1, 6)], [F(1, 6), F(1, 6)]]
    assert moments.cross.tolist() == [[0, F(2, 3)], [0, F(1, 3)]]


def test_the_mask_is_not_empty_at_any_rate() -> None:
    # P(both | at least one) = p / (2 - p) = 1/5 for p = 1/3.
    moments = finite_moments(**sizes(1, 1, 1, F(1, 3), 0, 0), doc_len=2)
    assert moments.cross.tolist() == [[0, F(3, 5)], [0, F(2, 5)]]


def test_an_infinite_document_by_hand() -> None:
    # Half of the positions are selected: 1/8 of all is [MASK], 1/8 kept, 1/4 random and so 1/8 for each of the two words.
    moments = infinite_moments(**sizes(2, 1, 1, HALF, F(1, 4), HALF))
    mask, own, other = F(1, 8), HALF + F(1, 8) + F(1, 8), F(1, 8)
    assert moments.second[0].tolist() == [mask**2, mask / 2 * (own + other), mask / 2 * (own + other)]
    assert moments.second[1].tolist() == [mask / 2 * (own + other), (own**2 + other**2) / 2, own * other]
    assert moments.cross.tolist() == [[0, mask / 2, mask / 2], [0, own / 2, other / 2], [0, other / 2, own / 2]]


def test_topics_of_infinite_documents_are_blocks_of_words() -> None:
    # Only kept words: x is 1/4 on the words of two of three topics, which three of the topics' six ordered pairs share.
    moments = infinite_moments(**sizes(3, 2, 2, HALF, 1, 0))
    same, other = F(2, 3) / 16, F(1, 3) / 16
    expected = [[same if (i + 1) // 2 == (j + 1) // 2 else other for j in range(1, 7)] for i in range(1, 7)]
    assert moments.second[1:, 1:].tolist() == expected
    assert np.array_equal(moments.second, moments.cross)


def test_moment_loss_by_hand() -> None:
    moments = Moments([[1, 0], [0, 2]], [[F(1, 3), 0], [5, 7]])  # type: ignore[arg-type]
    assert moment_loss([[1, 2], [3, 4]], moments) == 1 - 2 * (F(1, 3) + 10 + 28) + (1 + 8 + 9 + 32)


@pytest.mark.parametrize("length", [1, 2])
def test_moment_loss_is_the_loss_case_by_case(length: int) -> None:
    # Always [MASK] and one topic of two words: the masks and words are all that varies.
    W, p = some_matrix(3), F(1, 3)
    loss, total = F(0), F(0)
    for words, mask in product(product([1, 2], repeat=length), product([0, 1], repeat=length)):
        if any(mask):
            weight = p ** sum(mask) * (1 - p) ** (length - sum(mask))
            x = [F(sum((0 if m else w) == k for w, m in zip(words, mask, strict=True)), length) for k in range(3)]
            errors = [(W @ x - np.eye(3, dtype=int)[w]) ** 2 for w, m in zip(words, mask, strict=True) if m]
            loss += weight * sum(e.sum() for e in errors) / len(errors)
            total += weight
    assert moment_loss(W, finite_moments(**sizes(1, 2, 1, p, 0, 0), doc_len=length)) == loss / total


# ---- what holds in every setting


@every_setting
def test_moments_are_exact_and_add_up(setting: dict[str, Any]) -> None:
    for moments in (infinite_moments(**setting), finite_moments(**setting, doc_len=2)):
        assert {type(entry) for entry in (*moments.second.flat, *moments.cross.flat)} == {F}
        assert moments.second.sum() == moments.cross.sum() == 1
        assert not moments.cross[:, 0].any()
        assert moments.second.sum(axis=0).tolist() == moments.cross.sum(axis=1).tolist()
        assert set(moments.cross.sum(axis=0)[1:]) == {F(1, size_of(setting) - 1)}


@every_setting
@pytest.mark.parametrize("length", [1, 2, 3])
def test_finite_moments_are_the_samplers(setting: dict[str, Any], length: int) -> None:
    second, cross = sampled_moments(sample(setting, length, 40_000, length), size_of(setting))
    exact = finite_moments(**setting, doc_len=length)
    assert_mean(second, floats(exact.second))
    assert_mean(cross, floats(exact.cross))


@every_setting
def test_infinite_moments_are_the_samplers_for_long_documents(setting: dict[str, Any]) -> None:
    # Moments at N differ from the limit by about x / N: 1e-4 here, below the standard errors of most entries.
    second, cross = sampled_moments(sample(setting, 2000, 400, 9), size_of(setting))
    exact = infinite_moments(**setting)
    for samples, limit in ((second, floats(exact.second)), (cross, floats(exact.cross))):
        error = samples.std(axis=0) / np.sqrt(len(samples))
        assert (np.abs(samples.mean(axis=0) - limit) <= 5 * error + 5e-4).all()


def test_finite_moments_approach_the_infinite_ones_as_one_over_n() -> None:
    setting = sizes(2, 1, 1, F(1, 3), F(1, 4), F(1, 4))
    gaps = [np.abs(floats(finite_moments(**setting, doc_len=n).second - infinite_moments(**setting).second)).max() for n in (1, 4)]
    assert gaps[1] < gaps[0] / 2


# ---- linear algebra


def test_rank_and_null_space_of_known_matrices() -> None:
    assert rank([[0, 0], [0, 0]]) == 0
    assert rank(np.eye(4, dtype=int)) == 4
    assert rank([[1, 2, 3], [2, 4, 6], [1, 1, 1]]) == 2
    assert rank([[0, 1], [1, 0], [1, 1]]) == 2
    # Singular in floats, not here: 1/3 + 1/10^30.
    assert rank([[3, 1], [1, F(1, 3) + F(1, 10**30)]]) == 2
    assert rank([[3, 1], [1, F(1, 3)]]) == 1
    assert [z.tolist() for z in null_space([[1, 2, 3], [2, 4, 7]])] == [[-2, 1, 0]]
    assert [z.tolist() for z in null_space([[0, 2, F(1, 2)]])] == [[1, 0, 0], [0, F(-1, 4), 1]]
    assert null_space([[1, 0], [1, 1], [5, 3]]) == []


def test_null_space_is_all_of_it_and_the_input_stays() -> None:
    left, right = some_matrix(6, 1)[:, :3], some_matrix(6, 2)[:3]
    matrix = left @ right
    before, basis = matrix.copy(), null_space(matrix)
    assert rank(matrix) == np.linalg.matrix_rank(matrix) == 3
    assert rank(np.array(basis)) == len(basis) == 3
    assert not any((matrix @ z).any() for z in basis)
    assert {type(entry) for z in basis for entry in z} == {F}
    assert np.array_equal(matrix, before)


def test_numpys_integers_do_not_overflow() -> None:
    one, large = np.int64(1), np.int64(2**62)
    big = [[large, one], [one, large]]
    assert moment_loss(big, Moments(np.eye(2, dtype=int), np.zeros((2, 2), dtype=int))) == 1 + 2 * (2**124 + 1)


@every_setting
@pytest.mark.parametrize("length", [None, 1, 2])
def test_minimum_norm_solution_is_the_pseudo_inverse(setting: dict[str, Any], length: int | None) -> None:
    moments = infinite_moments(**setting) if length is None else finite_moments(**setting, doc_len=length)
    W = minimum_norm_solution(moments)
    pinv = np.linalg.pinv(floats(moments.second), rcond=1e-10, hermitian=True)
    assert np.allclose(floats(W), floats(moments.cross).T @ pinv, rtol=0, atol=1e-9)
    assert (W @ moments.second == moments.cross.T).all()
    for z in null_space(moments.second):
        assert not (W @ z).any()
    for seed in range(3):
        assert moment_loss(W + some_matrix(len(W), seed), moments) >= moment_loss(W, moments)


@every_setting
@pytest.mark.parametrize("l2_coef", [F(1, 100), 2])
def test_ridge_solution_is_numpys(setting: dict[str, Any], l2_coef: Any) -> None:
    moments = infinite_moments(**setting)
    W = ridge_solution(moments, l2_coef)
    expected = np.linalg.solve(floats(moments.second) + float(l2_coef) * np.eye(len(W)), floats(moments.cross)).T
    assert np.allclose(floats(W), expected, rtol=0, atol=1e-9)

    def objective(matrix: Any) -> Any:
        return moment_loss(matrix, moments) + l2_coef * (matrix * matrix).sum()

    # At a minimum of a quadratic the two directions cost exactly the same, and more than nothing.
    step = some_matrix(len(W), 4) * F(1, 10)
    assert objective(W + step) == objective(W - step) > objective(W)


def test_of_all_zero_moments_the_solution_is_zero() -> None:
    assert not minimum_norm_solution(Moments(np.zeros((2, 2), dtype=int), np.zeros((2, 2), dtype=int))).any()


# ---- attention


@every_setting
def test_equal_ratios_are_uniform_attention(setting: dict[str, Any]) -> None:
    W = some_matrix(size_of(setting))
    expected = moment_loss(W, infinite_moments(**setting))
    assert attention_loss(W, same_topic_ratio=1, same_word_ratio=1, **setting) == expected
    assert attention_loss(W, same_topic_ratio=F(1, 3), same_word_ratio=F(1, 3), mask_ratio=1, **setting) != expected


EYE2, EYE3 = np.eye(2, dtype=int), np.eye(3, dtype=int)


def test_a_mask_query_attends_to_masks_as_the_same_word() -> None:
    # x = (1/2, 1/2), weights 3 and 1: a = (3/4, 1/4), the error (3/4, -3/4).
    assert attention_loss(EYE2, same_topic_ratio=7, same_word_ratio=3, **sizes(1, 1, 1, HALF, 0, 0)) == F(9, 8)


def test_a_word_query_attends_to_masks_with_the_mask_ratio() -> None:
    # x = (1/4, 3/4). Query [MASK]: 3/4 and 3/4, error 2 (1/2)^2. Query word: r/4 and 9/4, with r = 3 error 2 (1/4)^2.
    setting = sizes(1, 1, 1, HALF, HALF, 0)
    assert attention_loss(EYE2, same_topic_ratio=7, same_word_ratio=3, mask_ratio=3, **setting) == (HALF + F(1, 8)) / 2
    assert attention_loss(EYE2, same_topic_ratio=7, same_word_ratio=3, **setting) == (HALF + F(2, 100)) / 2


def test_same_topic_and_other_topic_by_hand() -> None:
    # Kept words only. One topic: weights 3 and 2. Two topics: 3 and 1.
    ratios: dict[str, Any] = {"same_topic_ratio": 2, "same_word_ratio": 3}
    assert attention_loss(EYE3, **ratios, **sizes(1, 2, 1, HALF, 1, 0)) == 2 * F(2, 5) ** 2
    assert attention_loss(EYE3, **ratios, **sizes(2, 1, 2, HALF, 1, 0)) == 2 * F(1, 4) ** 2


def test_a_random_query_need_not_be_of_the_documents_topics() -> None:
    # p_m = 1/2 and all random: x = 3/4 on the own word and 1/4 on the other, and the query is one or the other.
    loss = attention_loss(EYE3, same_topic_ratio=5, same_word_ratio=3, **sizes(2, 1, 1, HALF, 0, 1))
    assert loss == (2 * F(1, 10) ** 2 + 2 * HALF**2) / 2


ATTENTION: dict[str, Any] = {"same_topic_ratio": 3, "same_word_ratio": 8, "mask_ratio": 12}


@pytest.mark.parametrize(
    "setting", [UNEVEN, SETTINGS["one topic"], SETTINGS["all topics"]], ids=["uneven", "one topic", "all topics"]
)
def test_attention_loss_is_a_softmax_over_long_documents(setting: dict[str, Any]) -> None:
    V, v, length = size_of(setting), setting["words_per_topic"], 4000
    values, batch, rng = 3 * np.eye(V) + some_matrix(V, 5) / 2, sample(setting, length, 250, 3), np.random.default_rng(4)
    topic = (np.arange(V) + v - 1) // v
    logits = np.where(topic[:, None] == topic, np.log(3), 0.0)  # row: key, column: query
    logits[0, 1:] = np.log(12)
    np.fill_diagonal(logits, np.log(8))
    losses = []
    for inputs, targets, selected in zip(batch.inputs, batch.targets, batch.selected, strict=True):
        positions = rng.choice(np.flatnonzero(selected), 40, replace=False)
        scores = np.exp(logits[inputs[:, None], inputs[positions]])
        attention = scores / scores.sum(axis=0)
        one_hot = np.eye(V)[inputs].T
        errors = values @ one_hot @ attention - np.eye(V)[targets[positions]].T
        losses.append((errors**2).sum(axis=0).mean())
    exact_values = [[F(entry) for entry in row] for row in values.tolist()]
    # The bias at N = 4000 is about ||values||^2 / N, below 0.01; without any one of the ratios the loss is further off.
    tolerance = 5 * np.std(losses) / np.sqrt(len(losses)) + 0.01
    assert abs(np.mean(losses) - float(attention_loss(exact_values, **ATTENTION, **setting))) <= tolerance
    for ratio in ATTENTION:
        changed = attention_loss(exact_values, **{**ATTENTION, ratio: 1}, **setting)
        assert abs(np.mean(losses) - float(changed)) > tolerance, ratio


# ---- bad input

MOMENTS = Moments(EYE2, EYE2)  # type: ignore[arg-type]
SINGULAR = Moments([[1, 0], [0, 0]], EYE2)  # type: ignore[arg-type]
INDEFINITE = Moments([[0, 1], [1, 0]], EYE2)  # type: ignore[arg-type]


def infinite(**changes: Any) -> Callable[[], object]:
    return lambda: infinite_moments(**{**UNEVEN, **changes})


def attention(**changes: Any) -> Callable[[], object]:
    values = changes.pop("value_matrix", np.eye(7, dtype=int))
    return lambda: attention_loss(values, **{"same_topic_ratio": 2, "same_word_ratio": 3, **UNEVEN, **changes})


BAD: list[tuple[Callable[[], object], type[Exception], str]] = [
    (infinite(p_m=0.15), TypeError, "p_m = 0.15: must be exact, an int or a Fraction; pass Fraction('0.15')"),
    (infinite(p_c=np.float64(0.5)), TypeError, "pass Fraction('0.5')"),
    (infinite(p_r=float("nan")), TypeError, "p_r = nan: must be exact, an int or a Fraction; pass Fraction('0.15')"),
    (infinite(p_r="0.1"), TypeError, "p_r = '0.1': must be exact"),
    (infinite(p_c=True), TypeError, "p_c = True: must be exact"),
    (infinite(p_m=0), ValueError, "p_m = 0: must be in (0, 1)"),
    (infinite(p_m=1), ValueError, "p_m = 1: must be in (0, 1)"),
    (infinite(p_c=F(-1, 10)), ValueError, "p_c = -1/10: must be at least 0"),
    (infinite(p_r=-1), ValueError, "p_r = -1: must be at least 0"),
    (infinite(p_c=F(7, 10), p_r=F(4, 10)), ValueError, "p_c + p_r = 11/10: must be at most 1"),
    (infinite(num_topics=3.0), TypeError, "num_topics = 3.0: must be a whole number >= 1"),
    (infinite(words_per_topic=0), ValueError, "words_per_topic = 0: must be a whole number >= 1"),
    (infinite(topics_per_doc=4), ValueError, "topics_per_doc = 4: must be a whole number from 1 to 3"),
    (infinite(topics_per_doc=0), ValueError, "topics_per_doc = 0: must be a whole number from 1 to 3"),
    (infinite(num_topics=30, topics_per_doc=15), ValueError, "the enumeration has 293172112800 cases: at most 2000000 can be"),
    (lambda: finite_moments(**UNEVEN, doc_len=5), ValueError, "the enumeration has 181398528 cases: at most 2000000"),
    (lambda: finite_moments(**UNEVEN, doc_len=11), ValueError, "doc_len = 11: must be a whole number from 1 to 10"),
    (lambda: finite_moments(**UNEVEN, doc_len=0), ValueError, "doc_len = 0: must be a whole number from 1 to 10"),
    (attention(same_word_ratio=1.5), TypeError, "same_word_ratio = 1.5: must be exact, an int or a Fraction; pass Fraction('1.5')"),
    (attention(same_topic_ratio=-2), ValueError, "same_topic_ratio = -2: must be at least 0"),
    (attention(mask_ratio=F(-1, 2)), ValueError, "mask_ratio = -1/2: must be at least 0"),
    (attention(value_matrix=np.eye(7)), TypeError, "value_matrix[0, 0] = 1.0: must be exact, an int or a Fraction; pass"),
    (attention(value_matrix=EYE2), ValueError, "value_matrix has shape (2, 2): must be (7, 7)"),
    (attention(num_topics=100, value_matrix=np.eye(201, dtype=int)), ValueError, "the enumeration has 40196974950 cases: at most"),
    (
        attention(same_topic_ratio=0, same_word_ratio=0, mask_ratio=0, topics_per_doc=1, p_c=1, p_r=0),
        ValueError,
        "same_word_ratio, same_topic_ratio and mask_ratio leave a query no key: must not all be 0",
    ),
    (lambda: moment_loss([[1, 2]], MOMENTS), ValueError, "W has shape (1, 2): must be (2, 2)"),
    (
        lambda: moment_loss([[1, 2], [3, 0.5]], MOMENTS),
        TypeError,
        "W[1, 1] = 0.5: must be exact, an int or a Fraction; pass Fraction('0.5')",
    ),
    (lambda: moment_loss(EYE2, EYE2), TypeError, "must be a Moments"),  # type: ignore[arg-type]
    (lambda: Moments([[1, 2], [0, 1]], EYE2), ValueError, "second is not symmetric"),  # type: ignore[arg-type]
    (lambda: Moments(EYE2, EYE3), ValueError, "cross has shape (3, 3): must be (2, 2)"),  # type: ignore[arg-type]
    (lambda: rank([1, 2]), ValueError, "matrix has shape (2,): must be a matrix with at least one entry"),
    (lambda: null_space([[]]), ValueError, "matrix has shape (1, 0): must be a matrix with at least one entry"),
    (lambda: rank([[0.5]]), TypeError, "matrix[0, 0] = 0.5: must be exact"),
    (lambda: minimum_norm_solution(SINGULAR), ValueError, "moments has no minimiser: each column of cross must be"),
    (lambda: ridge_solution(INDEFINITE, 1), ValueError, "second must be positive semidefinite"),
    (lambda: ridge_solution(MOMENTS, 0), ValueError, "l2_coef = 0: must be greater than 0"),
    (lambda: ridge_solution(MOMENTS, 0.1), TypeError, "l2_coef = 0.1: must be exact, an int or a Fraction; pass Fraction('0.1')"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD, ids=[message[:40] for _, _, message in BAD])
def test_bad_input_names_the_argument(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_sizes_of_any_whole_kind() -> None:
    """No overflow: neither of range, whose length is 64 bits, nor of NumPy's integers."""
    given = sizes(3, 2, 2, F(1, 5), F(1, 10), F(1, 10))
    for key in ("num_topics", "words_per_topic"):
        for huge in (10**30, np.int64(2**62)):
            for function in (
                infinite_moments,
                lambda **k: finite_moments(doc_len=2, **k),
                lambda **k: attention_loss(np.eye(7, dtype=int), same_topic_ratio=1, same_word_ratio=1, **k),
            ):
                with pytest.raises(ValueError, match="cases: at most"):
                    function(**given | {key: huge})
