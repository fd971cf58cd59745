"""The paper's one-layer transformer (equations 5, 6 and 7), on tokens. Reads like the equations.

Convention, once for the whole library: A[i, j] is the weight that query j gives to key i, so every
*column* of A sums to 1 (the paper's column-wise softmax). Most libraries store the transpose.

Documents are columns: X-tilde is (V, N), Z is (d, N), predictions are (V, N); a batch adds B in front.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from topiclib.documents import PAD
from topiclib.settings import PARAMETERS, WEIGHTS, ModelSettings
from topiclib.validation import MAX_SEED, check_int, check_type, shown

__all__ = ["PARAMETERS", "WEIGHTS", "ModelSettings", "TopicTransformer", "frobenius_norms"]


class TopicTransformer(nn.Module):
    """f(X~) = W_E^T W_V W_E X~ A(W_E X~) + b_pred (equation 6), with W_E tied to the prediction head.

    The transpose on the first W_E is missing in the paper's equation 6; without it the shapes do not fit.
    With ``one_hot`` this is equation 7. With attention biases (Section 6.1) keys, queries and values
    are W Z + b.

    Parameters
    ----------
    settings : shapes, switches, frozen parts
    seed : seeds the initial weights (nothing else is random), 0 to 2^64 - 1

    Attributes W_E (d, V), W_K (d_a, d), W_Q (d_a, d), W_V (d, d), b_K (d_a,), b_Q (d_a,), b_V (d,), b_pred (V,).
    """

    W_E: nn.Parameter
    W_K: nn.Parameter
    W_Q: nn.Parameter
    W_V: nn.Parameter
    b_K: nn.Parameter
    b_Q: nn.Parameter
    b_V: nn.Parameter
    b_pred: nn.Parameter

    def __init__(self, settings: ModelSettings, seed: int) -> None:
        super().__init__()
        check_type("settings", settings, ModelSettings)
        check_int("seed", seed, 0, MAX_SEED)
        self.settings = settings
        generator = torch.Generator().manual_seed(seed)
        frozen = settings.frozen_names()
        for name in PARAMETERS:
            shape = settings.shape_of(name)
            # Every weight is drawn even if it is then replaced, so that freezing one part leaves the others as they were.
            value = settings.init_scale * torch.randn(shape, generator=generator) if name in WEIGHTS else torch.zeros(shape)
            if name == "W_E" and settings.one_hot:
                value = torch.eye(settings.vocabulary.size)
            if name in ("W_K", "W_Q") and settings.uniform_attention:
                value = torch.zeros(shape)
            self.register_parameter(name, nn.Parameter(value, requires_grad=name not in frozen))

    def set_weight(self, name: str, value: npt.ArrayLike | Tensor, *, freeze: bool = True) -> None:
        """Set a parameter to a given matrix (W_E, W_K, W_Q, W_V) or vector (b_pred, ...), and freeze it.

        ``freeze=False`` leaves it as trainable or frozen as it was. Raises ValueError for an unknown name, a wrong
        shape, or an entry that is not finite in the parameter's precision; TypeError for what is no real array.
        """
        if name not in PARAMETERS:
            raise ValueError(f"name = {name!r}: must be one of {', '.join(PARAMETERS)}")
        parameter: nn.Parameter = getattr(self, name)
        array = _real_tensor(name, value)
        if array.shape != parameter.shape:
            raise ValueError(f"{name} has shape {tuple(array.shape)}: must be {tuple(parameter.shape)}")
        array = array.to(parameter)  # a large number may be finite in float64 only
        if not torch.isfinite(array).all():
            raise ValueError(f"{name} has an entry that is not finite in {parameter.dtype}: must be finite everywhere")
        with torch.no_grad():
            parameter.copy_(array)
        if freeze:
            parameter.requires_grad_(False)

    def trained(self) -> dict[str, nn.Parameter]:
        """The parameters that are trained, by name."""
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def embed(self, tokens: Tensor) -> Tensor:
        """Z = W_E X~: column j is the embedding of token j. ``tokens`` (B, N) -> (B, d, N); padding gives zeros."""
        self._check_tokens(tokens)
        return self._embed(tokens)

    def _embed(self, tokens: Tensor) -> Tensor:
        rows = nn.functional.embedding(tokens.clamp(min=0), self.W_E.T)  # (B, N, d)
        return (rows * (tokens != PAD)[:, :, None]).transpose(1, 2)

    def attention(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """A(Z) = softmax((W_K Z + b_K)^T (W_Q Z + b_Q) / sqrt(d_a)), each column summing to 1 (equation 5).

        Parameters
        ----------
        tokens : (B, N) ids, ``PAD`` at the end of short documents; padding gets weight exactly 0
        positions : (B, M) which queries to compute; all N if None

        Returns (B, N, M): entry [b, i, j] is the weight of key i for query j.
        """
        self._check_tokens(tokens)
        self._check_positions(positions, tokens)
        return self._attention(self._embed(tokens), tokens != PAD, positions)

    def _attention(self, z: Tensor, is_token: Tensor, positions: Tensor | None) -> Tensor:
        queries_at = z.shape[2] if positions is None else positions.shape[1]
        if self.has_uniform_attention():
            uniform = is_token.to(self.W_V.dtype) / is_token.sum(dim=1, keepdim=True)
            return uniform[:, :, None].expand(-1, -1, queries_at)
        z_query = z if positions is None else z.gather(2, positions[:, None, :].expand(-1, z.shape[1], -1))
        keys = self.W_K @ z + self.b_K[:, None]  # (B, d_a, N)
        queries = self.W_Q @ z_query + self.b_Q[:, None]  # (B, d_a, M)
        scores = keys.transpose(1, 2) @ queries / sqrt(self.settings.d_a)  # (B, N, M)
        return scores.masked_fill(~is_token[:, :, None], float("-inf")).softmax(dim=1)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Predictions f(X~) (equation 6, or 7 if one-hot); column j predicts position j.

        ``tokens`` (B, N) and ``positions`` (B, M) as in ``attention``. Returns (B, V, M), or (B, V, N).
        Computing only the positions in the loss is exact: column j of f needs only column j of A.
        """
        self._check_tokens(tokens)
        self._check_positions(positions, tokens)
        z = self._embed(tokens)  # (B, d, N)
        a = self._attention(z, tokens != PAD, positions)  # (B, N, M)
        mixed = z @ a  # Z A, (B, d, M)
        values = self.W_V @ mixed + self.b_V[:, None]  # (W_V Z + b_V) A, as the columns of A sum to 1
        return self.W_E.T @ values + self.b_pred[:, None]  # (B, V, M)

    def has_uniform_attention(self) -> bool:
        """Whether W_K, W_Q and their biases are frozen at 0, so that A = 1/N and needs no scores."""
        return self.settings.uniform_attention and not any(bool(getattr(self, name).any()) for name in ("W_K", "b_K", "W_Q", "b_Q"))

    def _check_tokens(self, tokens: Tensor) -> None:
        check_type("tokens", tokens, Tensor)
        if tokens.dim() != 2 or tokens.dtype != torch.int64 or not tokens.numel():
            raise ValueError(
                f"tokens has shape {tuple(tokens.shape)} and dtype {tokens.dtype}: must be (B, N) of torch.int64, not empty"
            )
        low, high = tokens.aminmax()
        if low < PAD or high >= self.settings.vocabulary.size:
            raise ValueError(
                f"tokens has ids from {int(low)} to {int(high)}: must be from 0 to "
                f"{self.settings.vocabulary.num_words}, or PAD = {PAD}"
            )
        if not (tokens != PAD).any(dim=1).all():
            raise ValueError("tokens has a document of padding only: must have at least one token in each")

    def _check_positions(self, positions: Tensor | None, tokens: Tensor) -> None:
        if positions is None:
            return
        check_type("positions", positions, Tensor)
        b, n = tokens.shape
        if positions.dim() != 2 or len(positions) != b or positions.dtype != torch.int64 or not positions.numel():
            raise ValueError(
                f"positions has shape {tuple(positions.shape)} and dtype {positions.dtype}: "
                f"must be (B, M) of torch.int64 with B = {b}, not empty"
            )
        low, high = positions.aminmax()
        if low < 0 or high >= n:
            raise ValueError(f"positions has entries from {int(low)} to {int(high)}: must be from 0 to N - 1 = {n - 1}")


def _real_tensor(name: str, value: npt.ArrayLike | Tensor) -> Tensor:
    """``value`` as a tensor, in float64 if it is not one yet; TypeError for what is no array of real numbers."""
    if isinstance(value, Tensor) and not value.is_complex():
        return value.detach()
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biufO":
            return torch.from_numpy(array.astype(np.float64))
    except (TypeError, ValueError, RuntimeError):  # a ragged list, or objects that are no numbers
        pass
    raise TypeError(f"{name} = {shown(value)}: must be an array of real numbers")


def frobenius_norms(model: TopicTransformer, names: Iterable[str] = WEIGHTS) -> dict[str, float]:
    """Frobenius norm of each named parameter, as drawn in Figures 4 and 5."""
    return {name: float(getattr(model, name).detach().norm()) for name in names}
