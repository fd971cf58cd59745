"""The paper's transformer with several layers: residual connections, layer norm and positions can be switched on.

The convention is that of ``model``: columns are positions, A[i, j] is the weight that query j gives to key i, and every
column of A sums to 1. With one layer, and every switch off, it is ``model.TopicTransformer`` without attention biases.

Without positions the order of the words carries no information at any depth: two positions of a document that show the
same token start with the same vector, get the same column of A in the first layer, so leave it with the same vector, and
so on. So it is enough to compute one column for each *distinct* token of a document, with its count: the softmax over
all positions is one over distinct tokens with log-counts added to the scores. That is exact (``counts`` has one layer).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import torch
from torch import Tensor, nn

from topiclib.documents import PAD
from topiclib.validation import MAX_SEED, check_bool, check_int, check_real, check_type, shown
from topiclib.vocabulary import Vocabulary

__all__ = ["LAYER_WEIGHTS", "LayeredSettings", "LayeredTransformer"]

LAYER_WEIGHTS = ("W_K", "W_Q", "W_V")


@dataclass(frozen=True)
class LayeredSettings:
    """Shape and switches of the model.

    Parameters
    ----------
    vocabulary : V tokens
    num_layers : L >= 1; one head in each
    embedding_dim : d
    attention_dim : d_a, the head size; None means d
    residual : a layer adds to its input instead of replacing it
    layer_norm : every layer reads normalised columns, and so does the prediction (no gain and no bias to learn)
    positions : learn an embedding for each of so many positions; None: the order is not seen
    one_hot : freeze W_E = I, so d = V
    uniform_attention : freeze W_K = W_Q = 0 in every layer, so A = 1/N
    init_scale : standard deviation >= 0 of the normal initial weights; the bias starts at 0
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    num_layers: int = 2
    embedding_dim: int = 64
    attention_dim: int | None = None
    residual: bool = False
    layer_norm: bool = False
    positions: int | None = None
    one_hot: bool = False
    uniform_attention: bool = False
    init_scale: float = 0.02

    def __post_init__(self) -> None:
        check_type("vocabulary", self.vocabulary, Vocabulary)
        for name in ("num_layers", "embedding_dim"):
            check_int(name, getattr(self, name), 1)
        for name in ("attention_dim", "positions"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1)
        for name in ("residual", "layer_norm", "one_hot", "uniform_attention"):
            check_bool(name, getattr(self, name))
        if self.one_hot and self.embedding_dim != self.vocabulary.size:
            raise ValueError(f"embedding_dim = {self.embedding_dim}: must be V = {self.vocabulary.size} when one_hot")
        check_real("init_scale", self.init_scale, 0)

    @property
    def d_a(self) -> int:
        """Attention head size."""
        return self.attention_dim or self.embedding_dim


class LayeredTransformer(nn.Module):
    """L attention layers between an embedding and a prediction head that is tied to it (equation 6 for L = 1).

    H_0 = W_E X~ (+ W_P), and for l = 1 ... L, with Z = H_{l-1}, or its normalised columns:

        A_l = softmax((W_K Z)^T (W_Q Z) / sqrt(d_a)),   H_l = W_V Z A_l   (+ H_{l-1} with ``residual``).

    The prediction is W_E^T H_L + b_pred, again of normalised columns with ``layer_norm``.

    Parameters
    ----------
    settings : shapes and switches
    seed : seeds the initial weights, 0 to 2^64 - 1

    Attributes W_E (d, V), W_P (d, positions) or None, W_K and W_Q (L, d_a, d), W_V (L, d, d), b_pred (V,); layer l has index
    l - 1.
    """

    def __init__(self, settings: LayeredSettings, seed: int) -> None:
        super().__init__()
        self.settings = s = check_type("settings", settings, LayeredSettings)
        seed = check_int("seed", seed, 0, MAX_SEED)
        generator = torch.Generator().manual_seed(seed)
        v, d, d_a, layers = s.vocabulary.size, s.embedding_dim, s.d_a, s.num_layers

        def draw(*shape: int, train: bool = True, scale: float = s.init_scale) -> nn.Parameter:
            return nn.Parameter(scale * torch.randn(shape, generator=generator), requires_grad=train)

        attends = not s.uniform_attention
        # Every matrix is drawn, also one that is frozen at 0, so that a switch leaves the others as they were.
        self.W_E = draw(d, v, train=not s.one_hot)
        self.W_K = draw(layers, d_a, d, train=attends, scale=s.init_scale * attends)
        self.W_Q = draw(layers, d_a, d, train=attends, scale=s.init_scale * attends)
        self.W_V = draw(layers, d, d)
        self.W_P = None if s.positions is None else draw(d, s.positions)
        self.b_pred = nn.Parameter(torch.zeros(v))
        if s.one_hot:
            self.W_E.data = torch.eye(v)

    def trained(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def forward(self, tokens: Tensor, counts: Tensor | None = None, queries: Tensor | None = None) -> Tensor:
        """Predictions (B, V, M), or (B, V, U) for all columns.

        Parameters
        ----------
        tokens : (B, U) ids with ``PAD`` at the end: the distinct tokens of each document, or its positions in order
        counts : (B, U) how often each distinct token appears; None means once each, so that tokens are positions
        queries : (B, M) the columns to predict at; None predicts at all
        """
        h, _ = self._run(tokens, counts, queries)
        return (self._norm(h[-1]) @ self.W_E + self.b_pred).transpose(1, 2)

    def states(self, tokens: Tensor, counts: Tensor | None = None) -> list[Tensor]:
        """H_0, ..., H_L, each (B, d, U)."""
        return [h.transpose(1, 2) for h in self._run(tokens, counts, None)[0]]

    def attention(self, tokens: Tensor, counts: Tensor | None = None) -> list[Tensor]:
        """A_1, ..., A_L, each (B, U, U) with columns that sum to 1; with counts an entry is that of all appearances together."""
        return [a.transpose(1, 2) for a in self._run(tokens, counts, None)[1]]

    def value_path(self, layer: int) -> Tensor:
        """W_E^T W_V W_E of a layer, 1 to L: what attention to token j in this layer alone says for word i; (V, V)."""
        check_int("layer", layer, 1, self.settings.num_layers)
        return (self.W_E.T @ self.W_V[layer - 1] @ self.W_E).detach()

    def whole_path(self) -> Tensor:
        """What all layers together say for word i at token j if no attention chooses and nothing is normalised; (V, V).

        W_E^T W_V^L ... W_V^1 W_E, with I + W_V for each W_V where there are residual connections.
        """
        path = self.W_E
        for W_V in self.W_V:
            path = W_V @ path + path if self.settings.residual else W_V @ path
        return (self.W_E.T @ path).detach()

    def _run(self, tokens: Tensor, counts: Tensor | None, queries: Tensor | None) -> tuple[list[Tensor], list[Tensor]]:
        """Every H and every A, transposed: inside, a token's vector is a row, which is how memory holds it together."""
        s = self.settings
        self._check(tokens, counts)
        if queries is not None:
            self._check_queries(tokens, queries)
        h = nn.functional.embedding(tokens.clamp(min=0), self.W_E.T)  # (B, U, d)
        if self.W_P is not None:
            h = h + self.W_P.T[: tokens.shape[1]]
        log_counts = torch.zeros((), dtype=h.dtype) if counts is None else counts.to(h.dtype).log()
        log_counts = torch.where(tokens != PAD, log_counts, -torch.inf)[:, None, :]  # (B, 1, U)
        states, attentions = [h], []
        for layer, (W_K, W_Q, W_V) in enumerate(zip(self.W_K, self.W_Q, self.W_V, strict=True), 1):
            z = z_query = self._norm(h)
            if queries is not None and layer == s.num_layers:  # column j of the prediction needs only column j of A
                at = queries[:, :, None].expand(-1, -1, s.embedding_dim)
                z_query, h = z.gather(1, at), h.gather(1, at)  # (B, M, d)
            scores = log_counts.expand(-1, z_query.shape[1], -1)
            if not s.uniform_attention:
                between = W_Q.T @ W_K / sqrt(s.d_a)  # (d, d): one product for keys and queries
                scores = torch.baddbmm(scores, z_query @ between, z.transpose(1, 2))  # (B, M, U)
            a = scores.softmax(dim=2)
            update = a @ z @ W_V.T  # (B, M, d)
            h = h + update if s.residual else update
            states.append(h)
            attentions.append(a)
        return states, attentions

    def _norm(self, h: Tensor) -> Tensor:
        """Each token's vector with mean 0 and variance 1, if the layer norm is on."""
        return nn.functional.layer_norm(h, h.shape[-1:]) if self.settings.layer_norm else h

    def _check_queries(self, tokens: Tensor, queries: Tensor) -> None:
        check_type("queries", queries, Tensor)
        if queries.dim() != 2 or len(queries) != len(tokens) or queries.dtype != torch.int64 or not queries.numel():
            shape = tuple(queries.shape)
            raise ValueError(
                f"queries has shape {shape}, dtype {queries.dtype}: must be ({len(tokens)}, M) of torch.int64, not empty"
            )
        low, high = queries.aminmax()
        if int(low) < 0 or int(high) >= tokens.shape[1]:
            raise ValueError(f"queries has columns from {int(low)} to {int(high)}: must be from 0 to {tokens.shape[1] - 1}")

    def _check(self, tokens: Tensor, counts: Tensor | None) -> None:
        s = self.settings
        check_type("tokens", tokens, Tensor)
        if tokens.dim() != 2 or tokens.dtype != torch.int64 or not tokens.numel():
            raise ValueError(
                f"tokens has shape {tuple(tokens.shape)}, dtype {tokens.dtype}: must be (B, U) of torch.int64, not empty"
            )
        low, high = tokens.aminmax()
        if int(low) < PAD or int(high) >= s.vocabulary.size:
            raise ValueError(f"tokens has ids outside 0 to {s.vocabulary.num_words}: must be token ids, or PAD = {PAD}")
        if int(tokens[:, 0].min()) == PAD:
            raise ValueError(
                "tokens has a document that begins with padding: must have at least one token in each, and PAD after them"
            )
        if counts is not None and check_type("counts", counts, Tensor).shape != tokens.shape:
            raise ValueError(f"counts has shape {tuple(counts.shape)}: must be that of tokens, {tuple(tokens.shape)}")
        if s.positions is not None and counts is not None:
            raise ValueError("counts is given: must be None with positions, where each token has a place of its own")
        if counts is not None and not bool((((counts >= 1) & (counts < torch.inf)) | (tokens == PAD)).all()):
            raise ValueError(f"counts = {shown(counts)}: must be finite and >= 1 at every token")
        if s.positions is not None and tokens.shape[1] > s.positions:
            raise ValueError(f"tokens has {tokens.shape[1]} positions: must be at most positions = {s.positions}")
