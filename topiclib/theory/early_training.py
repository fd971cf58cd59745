"""The start of attention: its gradient while attention is still uniform, and the growth of W^K and W^Q that follows.

Beyond the paper (Sections 5.1 and 8.1 argue in words). With one-hot embeddings the scores are S = W_K^T W_Q / sqrt(d_a), so

    dL/dW_K = W_Q G^T / sqrt(d_a),    dL/dW_Q = W_K G / sqrt(d_a),    G = dL/dS.

While S is near 0, G depends on W^V alone. Then these are linear equations: along a direction in which G is the number
gamma, W_K - W_Q and W_K + W_Q grow and shrink by exp(gamma t / sqrt(d_a)), with t the learning rate times the steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from topiclib.theory.domain import Value, check_masking, check_sizes, check_topics_per_doc, common
from topiclib.theory.masked_tokens import masking_fractions
from topiclib.theory.results import result
from topiclib.theory.value_matrix import ValueMatrix
from topiclib.validation import check_type


@dataclass(frozen=True)
class AttentionGradient:
    """G = dL/dS at uniform attention: one value for each relation of key k (row) and query j (column).

    mask_mask, mask_word, word_mask : key [MASK] and query [MASK]; key [MASK], query a word; key a word, query [MASK]
    same_word, same_topic, different_topic : key and query are words
    num_topics, words_per_topic : T and v
    """

    mask_mask: Value
    mask_word: Value
    word_mask: Value
    same_word: Value
    same_topic: Value
    different_topic: Value
    num_topics: Value
    words_per_topic: Value

    @property
    def topic(self) -> Value:
        """gamma along differences between topics, T - 1 directions: negative where words attract those of their topic."""
        v = self.words_per_topic
        return self.same_word + (v - 1) * self.same_topic - v * self.different_topic

    @property
    def word(self) -> Value:
        """gamma along differences between the words of a topic, T (v - 1) directions."""
        return self.same_word - self.same_topic

    @property
    def words(self) -> Value:
        """gamma of all words alike: their whole attention to words; what they take from [MASK]."""
        t, v = self.num_topics, self.words_per_topic
        return self.same_word + (v - 1) * self.same_topic + (t - 1) * v * self.different_topic


@result(
    "Beyond the paper",
    "the gradient of the attention scores while attention is uniform",
    chapter="05_1_two_stages.ipynb#how-fast-attention-wakes-up",
)
def attention_gradient(
    value_matrix: ValueMatrix,
    *,
    num_topics: Value,
    words_per_topic: Value,
    topics_per_doc: Value,
    p_m: Value,
    p_c: Value,
    p_r: Value,
) -> AttentionGradient:
    """G_kj = E[2 x_k (W_k - f)^T (P_j f - R_j)] at S = 0, squared loss (equations 1 and 3) and Assumption 1.

    x is the token distribution of a masked document, W_k column k of W^V, f = W^V x the prediction, P_j the probability that
    a selected position shows token j, and R_j the expected one-hot target there. Columns sum to 0, as softmax does not see a
    constant. The values of ``value_matrix`` may be arrays of one shape (a path, for instance).
    """
    check_type("value_matrix", value_matrix, ValueMatrix)
    big_t, v, tau, p_m, p_c, p_r, w0, same, different, word = common(
        num_topics=num_topics,
        words_per_topic=words_per_topic,
        topics_per_doc=topics_per_doc,
        p_m=p_m,
        p_c=p_c,
        p_r=p_r,
        mask_column=value_matrix.mask_column,
        same_topic=value_matrix.same_topic,
        different_topic=value_matrix.different_topic,
        same_word=value_matrix.same_word,
    )
    check_sizes(big_t, v)
    check_masking(p_m, p_c, p_r)
    check_topics_per_doc(tau, big_t)
    fractions = masking_fractions(p_m=p_m, p_c=p_c, p_r=p_r)
    mask, words = fractions.mask, big_t * v
    # Frequencies of a shown word, and predictions of one, inside (1) and outside (0) of the document's topics.
    shown = {1: fractions.true / (tau * v) + fractions.random / words, 0: fractions.random / words}
    prediction = {
        own: w0 * mask + different * (1 - mask) + (same - different) * v * x + (word - same) * x for own, x in shown.items()
    }
    total = v * (tau * prediction[1] + (big_t - tau) * prediction[0])  # of all predictions of f
    square = v * (tau * prediction[1] ** 2 + (big_t - tau) * prediction[0] ** 2)
    block, diagonal = (same - different) * v, word - same
    kept, randomly = p_c / (tau * v), p_r / words  # a selected position shows a given word of the document

    def pull(key: int | None, query: int | None, shared: Value) -> Value:
        """2 x_k (W_k - f)^T (P_j f - R_j): key and query inside (1), outside (0), or None for [MASK]; ``shared`` is W_kj."""
        x = mask if key is None else shown[key]
        by_f = (w0 * total if key is None else different * total + (block + diagonal) * prediction[key]) - square
        by_p = w0 if key is None else different + (block + diagonal) * key / (tau * v)
        by_p = by_p - prediction[1]
        if query is None:
            return 2 * x * (1 - p_c - p_r) * (by_f - by_p)
        by_word = shared - prediction[query]
        return 2 * x * ((kept * query + randomly) * by_f - kept * query * by_word - randomly * by_p)

    inside = tau / big_t
    pairs = big_t * (big_t - 1)
    both, one, none = tau * (tau - 1), tau * (big_t - tau), (big_t - tau) * (big_t - tau - 1)
    return AttentionGradient(
        mask_mask=pull(None, None, 0),
        mask_word=inside * pull(None, 1, w0) + (1 - inside) * pull(None, 0, w0),
        word_mask=inside * pull(1, None, 0) + (1 - inside) * pull(0, None, 0),
        same_word=inside * pull(1, 1, word) + (1 - inside) * pull(0, 0, word),
        same_topic=inside * pull(1, 1, same) + (1 - inside) * pull(0, 0, same),
        different_topic=(
            both * pull(1, 1, different) + one * (pull(1, 0, different) + pull(0, 1, different)) + none * pull(0, 0, different)
        )
        / pairs,
        num_topics=big_t,
        words_per_topic=v,
    )
