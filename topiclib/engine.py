"""Training steps on word counts, for one model or many of one shape at once, with the gradient written out.

``counts`` says why counts are enough. Here the same forward pass is followed by its derivative by hand and by the
update, with R models side by side in every tensor. Letters: R runs, P pairs (document, shown token), V, d, d_a.
All gradients are those of equation 1; tests hold them against autograd on tokens, and the updates against torch.optim.

The parameters of a run are two matrices one after the other, so that few products do all the work:

    F = [W_E; 1; b_pred]                     (d + 2, V)
    W = [W_K b_K; W_Q b_Q; W_V b_V]          (2 d_a + d, d + 1)

W [W_E; 1] is keys, queries and values of every token, and F^T [values; 0; 1] what each key adds to each prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from topiclib.model import TopicTransformer
from topiclib.settings import PARAMETERS, ModelSettings, TrainingSettings
from topiclib.word_counts import MaskedCounts, joined

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # torch's defaults for Adam


def split(model: ModelSettings, flat: Tensor) -> tuple[Tensor, Tensor]:
    """F (R, d + 2, V) and W (R, 2 d_a + d, d + 1) inside ``flat`` (R, n), the parameters of R runs."""
    size = (model.d + 2) * model.vocabulary.size
    return flat[:, :size].view(len(flat), model.d + 2, -1), flat[:, size:].view(len(flat), -1, model.d + 1)


def parameter_view(model: ModelSettings, name: str, flat: Tensor) -> Tensor:
    """Parameter ``name`` of every run, (R, ...), inside ``flat`` (R, n)."""
    f, w = split(model, flat)
    if name in ("W_E", "b_pred"):
        return f[:, : model.d] if name == "W_E" else f[:, model.d + 1]
    keys, queries, values = slice(0, model.d_a), slice(model.d_a, 2 * model.d_a), slice(2 * model.d_a, None)
    rows = {"K": keys, "Q": queries, "V": values}[name[-1]]
    return w[:, rows, : model.d] if name.startswith("W") else w[:, rows, model.d]


class Batch(NamedTuple):
    """One step's documents of R runs; runs with fewer pairs or positions than others are filled up with weight 0.

    log_counts : (rows, V) log of how often each token is shown, -inf where it is not
    docs, queries : (R P,) the row of ``log_counts``, and of the stacked scores (R V, V), of each pair
    attention : (R, P, V) the columns of A, where attention is uniform and so known
    weights : (R, P, 1) sum of 1 / (B |M|) over the pair's positions
    target_at : (R M,) where in the (R, P, V) predictions each position's word is
    target_weights : (R, M) its -1 / (B |M|)
    """

    log_counts: Tensor
    docs: Tensor
    queries: Tensor
    attention: Tensor | None
    weights: Tensor
    target_at: Tensor
    target_weights: Tensor


class CountEngine:
    """R models in one tensor: the loss on counts, its gradient, and SGD or Adam.

    Parameters
    ----------
    settings : one for each run; only learning rate, l2_coef, documents of the same vocabulary, masks and initial
        weights may differ
    models : the initial weights (read here, written by ``write_back``), all of one dtype and device
    """

    @torch.inference_mode()
    def __init__(self, settings: Sequence[TrainingSettings], models: Sequence[TopicTransformer]) -> None:
        first, model = settings[0], models[0].settings
        self.model_settings = model
        self.runs, self.steps = len(models), 0
        self.vocab, self.d, self.d_a = model.vocabulary.size, model.d, model.d_a
        self.dtype, self.device = models[0].W_E.dtype, models[0].W_E.device
        self.squared, self.adam = first.loss == "squared", first.optimizer == "adam"
        self.uniform = models[0].has_uniform_attention()
        self.batch_kind = (self.uniform, self.dtype, self.device)
        self.trained = frozenset(models[0].trained())
        self.weights = torch.zeros(self.runs, (self.d + 2) * self.vocab + (2 * self.d_a + self.d) * (self.d + 1))
        self.weights = self.weights.to(self.device, self.dtype)
        split(model, self.weights)[0][:, self.d] = 1
        self.parameters = {name: parameter_view(model, name, self.weights) for name in PARAMETERS}
        for name, value in self.parameters.items():
            value.copy_(torch.stack([getattr(m, name) for m in models]))
        w_e = self.parameters["W_E"]
        self.identity = "W_E" not in self.trained and self.d == self.vocab and bool((w_e == torch.eye(self.d).to(w_e)).all())
        self.trains_attention = not self.uniform and not self.trained.isdisjoint(("W_E", "W_K", "W_Q", "b_Q"))
        self.gradient = torch.zeros_like(self.weights)
        self.moments = (torch.zeros_like(self.weights), torch.zeros_like(self.weights)) if self.adam else ()
        self.adam_steps = torch.zeros((), device=self.device)
        self.learning_rate = self._per_run([s.learning_rate for s in settings])
        penalized = self.trained if first.l2_on is None else self.trained & frozenset(first.l2_on)
        two_lambda = self._per_run([2 * s.l2_coef for s in settings])
        self.penalized = self._mask(penalized) * two_lambda if any(s.l2_coef for s in settings) else None
        # The products below yield a few gradients more than are wanted, if one of several matrices is frozen.
        yielded = {"W_V", "b_V", "b_pred"} | ({"W_K", "W_Q", "b_Q"} if self.trains_attention else set())
        self.still = None if yielded <= self.trained else self._mask(self.trained) == 0
        self.ranges = self._ranges()
        self.parts = [self._parts(flat) for flat in (self.weights, self.gradient, *self.moments)]
        self._cut_views()

    def _mask(self, names: frozenset[str]) -> Tensor:
        """1 where a parameter of ``names`` is, else 0; (1, n)."""
        mask = torch.zeros_like(self.weights[:1])
        for name in names:
            parameter_view(self.model_settings, name, mask).fill_(1)
        return mask

    def _ranges(self) -> list[slice]:
        """The stretches of a run's row that hold trained parameters."""
        f, row = (self.d + 2) * self.vocab, self.d + 1
        w_q, w_v = f + self.d_a * row, f + 2 * self.d_a * row
        parts = [
            (("W_E",), 0, f - 2 * self.vocab),
            (("b_pred",), f - self.vocab, f),
            (("W_K", "b_K"), f, w_q),
            (("W_Q", "b_Q"), w_q, w_v),
            (("W_V", "b_V"), w_v, self.weights.shape[1]),
        ]
        ranges: list[slice] = []
        for names, low, high in parts:
            if not self.trained.isdisjoint(names):
                # The row of ones between W_E and b_pred has no gradient: no need to stop for it.
                near = bool(ranges) and low - ranges[-1].stop <= self.vocab
                ranges.append(slice(ranges.pop().start if near else low, high))
        return ranges

    def _cut_views(self) -> None:
        """What every step needs of weights, gradient and buffers, cut once."""
        r, v, d, d_a = self.runs, self.vocab, self.d, self.d_a
        f, w = split(self.model_settings, self.weights)
        gradient_f, gradient_w = split(self.model_settings, self.gradient)
        values = 2 * d_a  # the row where the values begin
        first, first_gradient = (values if self.uniform else 0), (0 if self.trains_attention else values)
        self.embeddings, self.embeddings_1, self.f_T, self.b_pred = f[:, :d], f[:, : d + 1], f.mT, f[:, d + 1, :, None]
        self.matrices, self.matrices_bare, self.biases = w[:, first:], w[:, first:, :d], w[:, first:, d:]
        # Every token's keys, queries and values; below them a row of 0 and one of 1, for F's rows of 1 and b_pred.
        buffer = self.weights.new_zeros(r, values + d + 2, v)
        buffer[:, -1] = 1
        self.tokens, self.values_01 = buffer[:, first : values + d], buffer[:, values:]
        self.keys, self.queries, self.values = buffer[:, :d_a], buffer[:, d_a:values], buffer[:, values : values + d]
        self.value_of_key, self.scores = self.weights.new_empty(2, r, v, v)
        self.value_of_key_gradient, self.scores_gradient = self.weights.new_empty(2, r, v, v)
        # With W_E = I the gradients by keys, queries and values are those of W_K, W_Q and W_V themselves.
        stack = gradient_w[:, :, :d] if self.identity else self.weights.new_empty(r, values + d, v)
        self.keys_gradient, self.queries_gradient = stack[:, :d_a], stack[:, d_a:values]
        self.values_gradient, self.tokens_gradient = stack[:, values:], stack[:, first_gradient:]
        self.matrices_gradient, self.trained_bare = gradient_w[:, first_gradient:], w[:, first_gradient:, :d]
        self.biases_gradient, self.b_K_gradient = gradient_w[:, first_gradient:, d], gradient_w[:, :d_a, d]
        self.embeddings_gradient, self.f_gradient, self.b_pred_gradient = gradient_f[:, :d], gradient_f, gradient_f[:, d + 1]
        self.queries_T, self.embeddings_1_T, self.trained_bare_T = self.queries.mT, self.embeddings_1.mT, self.trained_bare.mT
        self.value_of_key_T, self.value_of_key_gradient_T = self.value_of_key.mT, self.value_of_key_gradient.mT
        self.score_rows, self.score_rows_gradient = self.scores.view(-1, v), self.scores_gradient.view(-1, v)
        self.scores_gradient_T = self.scores_gradient.mT
        self.scale = 1 / sqrt(d_a)

    def _per_run(self, values: list[float]) -> Tensor | float:
        """A number if all runs share it, else (R, 1)."""
        return values[0] if len(set(values)) == 1 else torch.tensor(values, dtype=torch.float64).to(self.weights)[:, None]

    @staticmethod
    def context() -> AbstractContextManager[object]:
        """What steps are taken in: nothing is for autograd, so torch need not keep account of views and versions."""
        return torch.inference_mode()

    def predict(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """f(X~) at every pair, (R, P, V), and the columns of A, (R, P, V)."""
        v = self.vocab
        if self.identity:
            torch.add(self.matrices_bare, self.biases, out=self.tokens)
            torch.add(self.values, self.b_pred, out=self.value_of_key)
        else:
            torch.bmm(self.matrices, self.embeddings_1, out=self.tokens)
            # As the columns of A sum to 1, b_pred may be added to what every key says.
            torch.bmm(self.f_T, self.values_01, out=self.value_of_key)
        if batch.attention is not None:
            attention = batch.attention
        else:
            torch.bmm(self.queries_T, self.keys, out=self.scores)  # row = query; divided by sqrt(d_a) below
            logits = batch.log_counts.index_select(0, batch.docs)
            logits.add_(self.score_rows.index_select(0, batch.queries), alpha=self.scale)
            attention = logits.softmax(1).view(self.runs, -1, v)
        return torch.bmm(attention, self.value_of_key_T), attention

    def _at_targets(self, batch: Batch, values: Tensor) -> Tensor:
        """Sum over positions of the entry at the word to predict, times -1 / (B |M|); (R,)."""
        chosen = values.view(-1).index_select(0, batch.target_at).view(self.runs, -1)
        total: Tensor = torch.linalg.vecdot(chosen, batch.target_weights)
        return total

    def loss(self, batch: Batch) -> Tensor:
        """Equation 1 of each run, without gradient; (R,)."""
        predictions, _ = self.predict(batch)
        if not self.squared:
            return self._at_targets(batch, predictions.log_softmax(2))
        return (predictions.square() * batch.weights).sum((1, 2)) + 2 * self._at_targets(batch, predictions) + 1

    def loss_and_gradient(self, batch: Batch) -> Tensor:
        """Equation 1 of each run, (R,), with its gradient left in ``gradient``."""
        predictions, attention = self.predict(batch)
        # Slope by the predictions: softmax minus target, or 2 (prediction - target), with the positions' weights.
        if self.squared:
            slope = predictions * batch.weights
            loss = (slope * predictions).sum((1, 2)) + 2 * self._at_targets(batch, predictions) + 1
            slope.view(-1).index_add_(0, batch.target_at, batch.target_weights.view(-1))
            slope *= 2
        else:
            log_probabilities = predictions.log_softmax(2)
            loss = self._at_targets(batch, log_probabilities)
            slope = log_probabilities.exp_().mul_(batch.weights)
            slope.view(-1).index_add_(0, batch.target_at, batch.target_weights.view(-1))
        self._set_gradient(batch, attention, slope)
        return loss

    def _set_gradient(self, batch: Batch, attention: Tensor, slope: Tensor) -> None:
        by_value_of_key = self.values_gradient if self.identity else self.value_of_key_gradient
        torch.bmm(slope.mT, attention, out=by_value_of_key)
        if not self.identity:
            torch.bmm(self.embeddings, by_value_of_key, out=self.values_gradient)
        if self.trains_attention:
            v = self.vocab
            by_attention = torch.bmm(slope, self.value_of_key).view(-1, v)
            # The kernel behind softmax's own derivative, without the tape.
            by_logits = torch._softmax_backward_data(by_attention, attention.view(-1, v), 1, self.dtype)
            self.score_rows_gradient.zero_().index_add_(0, batch.queries, by_logits, alpha=self.scale)
            torch.bmm(self.queries, self.scores_gradient, out=self.keys_gradient)
            torch.bmm(self.keys, self.scores_gradient_T, out=self.queries_gradient)
        if self.identity:
            torch.sum(self.tokens_gradient, 2, out=self.biases_gradient)
            torch.sum(by_value_of_key, 2, out=self.b_pred_gradient)
        else:
            torch.bmm(self.tokens_gradient, self.embeddings_1_T, out=self.matrices_gradient)
            if "W_E" in self.trained:
                torch.bmm(self.values_01, self.value_of_key_gradient_T, out=self.f_gradient)
                self.embeddings_gradient.baddbmm_(self.trained_bare_T, self.tokens_gradient)
            else:
                torch.sum(by_value_of_key, 2, out=self.b_pred_gradient)
        # b_K adds the same to all scores of a query, which no softmax sees: exactly 0, not rounding errors.
        self.b_K_gradient.zero_()

    def advance(self, batch: Batch) -> Tensor:
        """One update of every run; returns the loss before it, (R,)."""
        loss = self.loss_and_gradient(batch)
        self.steps += 1
        if self.still is not None:
            self.gradient.masked_fill_(self.still, 0)  # also what is not finite
        if self.penalized is not None:  # lambda ||theta||^2 has the gradient 2 lambda theta (equation 2)
            self.gradient.addcmul_(self.weights, self.penalized)
        if self.adam:
            self._adam()
        else:
            for part in self.ranges:
                self._move(self.weights[:, part], self.gradient[:, part], -1)
        return loss

    def _move(self, weights: Tensor, direction: Tensor, sign: int) -> None:
        if isinstance(self.learning_rate, Tensor):
            weights.addcmul_(direction, self.learning_rate, value=sign)
        else:
            weights.add_(direction, alpha=sign * self.learning_rate)

    def _adam(self) -> None:
        """Adam with torch's constants, in torch's one pass over the memory; runs with their own rates take two."""
        own_rates = isinstance(self.learning_rate, Tensor)
        target = torch.zeros_like(self.weights) if own_rates else self.weights
        weights = self._parts(target) if own_rates else self.parts[0]
        gradients, first, second = self.parts[1:]
        self.adam_steps.fill_(self.steps)
        torch._fused_adam_(
            weights, gradients, first, second, [], [self.adam_steps] * len(weights),
            lr=1.0 if isinstance(self.learning_rate, Tensor) else self.learning_rate,
            beta1=BETA_1, beta2=BETA_2, eps=EPSILON, weight_decay=0, amsgrad=False, maximize=False,
        )  # fmt: skip
        if own_rates:
            self._move(self.weights, target, 1)

    def _parts(self, flat: Tensor) -> list[Tensor]:
        return [flat[run, part] for run in range(self.runs) for part in self.ranges]

    def write_back(self, models: Sequence[TopicTransformer]) -> None:
        """Copy the weights into the models."""
        with torch.no_grad():
            for run, model in enumerate(models):
                for name, value in self.parameters.items():
                    getattr(model, name).copy_(value[run])

    def state(self) -> dict[str, Tensor]:
        """What ``load`` needs to go on: weights, Adam's averages, and how many steps they have seen."""
        moments = {f"moment_{number}": moment for number, moment in enumerate(self.moments, 1)}
        return {"weights": self.weights, "steps": torch.tensor(self.steps)} | moments

    @torch.inference_mode()
    def load(self, state: Mapping[str, Tensor]) -> None:
        """Put back what ``state`` gave."""
        for name, value in self.state().items():
            value.copy_(state[name])
        self.steps = int(state["steps"])

    @torch.inference_mode()
    def prepare(self, blocks: Sequence[MaskedCounts], batch_size: int) -> list[Batch]:
        """The batches of several steps: ``blocks`` holds K ``batch_size`` documents of each run; returns K batches."""
        r, v, b = self.runs, self.vocab, batch_size
        steps = len(blocks[0]) // b
        documents = joined(blocks)  # run by run, step by step
        if self.uniform:  # every query of a document has the same column of A
            docs, queries, index = np.arange(len(documents)), np.zeros(len(documents), dtype=np.int64), documents.docs
        else:
            pairs = documents.pairs()
            docs, queries, index = pairs.docs, pairs.queries, pairs.index
        target_weights = documents.weights() / b
        weights = np.bincount(index, weights=target_weights, minlength=len(docs))
        # A cell is one step of one run; cells are in the order of the documents.
        pair_cells, target_cells = _Cells(docs // b, r, steps), _Cells(documents.docs // b, r, steps)
        in_cell = index - pair_cells.start[target_cells.cell]
        at = in_cell * v + documents.targets
        tensors = (
            pair_cells.per_step(self._tensor(docs)),
            pair_cells.per_step(self._tensor(queries), v),
            pair_cells.per_step(self._tensor(weights)),
            target_cells.per_step(self._tensor(at), pair_cells.width * v),
            target_cells.per_step(self._tensor(-target_weights)),
        )
        if self.uniform:
            rows = self._tensor(documents.counts / documents.counts.sum(axis=1, keepdims=True))
            log_counts, attention = rows, rows.view(r, steps, b, v)
        else:
            table = self._cast(_log_table(int(documents.counts.max()).bit_length()))
            log_counts, attention = self._tensor(table[documents.counts]), None
        return [
            Batch(log_counts, d.view(-1), q.view(-1), None if attention is None else attention[:, k], w[:, :, None], t.view(-1), tw)
            for k, (d, q, w, t, tw) in enumerate(zip(*tensors, strict=True))
        ]

    def _cast(self, array: np.ndarray) -> np.ndarray:
        return array.astype(np.float32 if self.dtype == torch.float32 else np.float64) if array.dtype.kind == "f" else array

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(self._cast(array)).to(self.device)


@lru_cache(maxsize=64)
def _log_table(bits: int) -> np.ndarray:
    """log 0, log 1, ... for whole numbers of so many bits."""
    with np.errstate(divide="ignore"):
        return np.log(np.arange(2**bits))


class _Cells:
    """Entries sorted by cell (run, then step), cut into one (R, width) tensor a step; short ones are filled with 0.

    Then ``run * apart`` is added, fillers too: what is not finite in one run is nothing that another one reads.
    """

    def __init__(self, cell: np.ndarray, runs: int, steps: int) -> None:
        self.cell, self.runs, self.steps = cell, runs, steps
        self.sizes = np.bincount(cell, minlength=runs * steps)
        self.start = self.sizes.cumsum() - self.sizes
        # One run needs no filling: each step is as wide as it is.
        self.width = 0 if runs == 1 else int(self.sizes.max())

    def per_step(self, values: Tensor, apart: int = 0) -> Sequence[Tensor]:
        if self.runs == 1:
            return torch.split(values[None], self.sizes.tolist(), dim=1)
        run, step = np.divmod(self.cell, self.steps)
        at = (step * self.runs + run) * self.width + np.arange(len(self.cell)) - self.start[self.cell]
        filled = values.new_zeros(self.steps * self.runs * self.width)
        filled[torch.from_numpy(at).to(values.device)] = values
        filled = filled.view(self.steps, self.runs, self.width)
        if apart:
            filled += apart * torch.arange(self.runs, device=values.device)[:, None]
        return list(filled)
