"""A small transformer encoder trained from near zero by masked language modelling on real text (Figure 5).

The architecture is BERT's (Devlin et al., 2019): residual connections, layer normalisation after each block, learned positions, a
word matrix that the output shares. Only W^K, W^Q, W^V start differently: as random matrices of a chosen scale near zero. With
h the hidden states, a head's scores are (W^Q h_q) . (W^K h_k) / sqrt(d_head), so that

    dL/dW^K is of order |W^Q| |W^O W^V|,    dL/dW^V is of order |W^O|, which is not small.

Adam moves a weight by learning_rate * m / (sqrt(v) + epsilon), with m and v the running means of its gradient and of the square.
Where the gradient g is far above epsilon that is about the learning rate; far below, it is g * learning_rate / epsilon, as
in plain gradient descent: then W^K and W^Q sleep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from topiclib.corpus import Corpus
from topiclib.masking import MaskedDocuments, MaskingSettings, mask_documents
from topiclib.settings import OPTIMIZERS
from topiclib.validation import check_choice, check_int, check_real, check_type
from topiclib.vocabulary import Vocabulary

__all__ = [
    "RARE",
    "WEIGHTS",
    "MaskedLMSettings",
    "Windows",
    "attention_matrices",
    "build_model",
    "cut_windows",
    "draw_batch",
    "masked_loss",
]

WEIGHTS = ("K", "Q", "V")
RARE = 1
"""Token id of every piece that is not among the most frequent; 0 is [MASK]."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Stretches of text of equal length, each from one document, in a smaller vocabulary.

    tokens : (n, L) ids: ``RARE``, and from 2 the kept pieces in the order of their ids in the tokenizer
    pieces : (size,) the tokenizer's id of each id; -1 for [MASK] and ``RARE``
    """

    tokens: np.ndarray
    pieces: np.ndarray

    def __len__(self) -> int:
        return len(self.tokens)

    def ids_of(self, pieces: np.ndarray) -> np.ndarray:
        """The ids of a tokenizer's pieces; ``RARE`` for those that were not kept."""
        place = np.searchsorted(self.pieces[2:], pieces).clip(max=len(self.pieces) - 3)
        return np.where(self.pieces[2:][place] == pieces, place + 2, RARE)


def cut_windows(corpora: Sequence[Corpus], length: int, size: int) -> Windows:
    """Cut every document into windows of ``length`` tokens, without overlap; a rest is left out.

    Parameters
    ----------
    corpora : cut by the same tokenizer
    length : tokens of a window
    size : ids in all: [MASK], ``RARE`` and the size - 2 most frequent pieces, of equals the smaller id

    Raises ValueError if no document is long enough, or fewer pieces occur.
    """
    check_int("length", length, 1)
    check_int("size", size, 3)
    for corpus in corpora:
        check_type("corpora", corpus, Corpus)
    if not corpora or any(corpus.pieces.texts != corpora[0].pieces.texts for corpus in corpora):
        raise ValueError(f"corpora: {len(corpora)} given; must be at least one, all cut by the same tokenizer")
    number = np.bincount(np.concatenate([corpus.tokens for corpus in corpora]), minlength=corpora[0].pieces.size)
    if np.sum(number > 0) < size - 2:
        raise ValueError(f"size = {size}: must be at most {np.sum(number > 0) + 2}, for the pieces that occur")
    kept = np.sort(np.argsort(-number, kind="stable")[: size - 2])
    new = np.full(len(number), RARE)
    new[kept] = np.arange(2, size)
    found = [
        new[corpus.tokens[start : end - (end - start) % length]].reshape(-1, length)
        for corpus in corpora
        for start, end in zip(corpus.starts[:-1], corpus.starts[1:], strict=True)
    ]
    tokens = np.concatenate(found)
    if not len(tokens):
        raise ValueError(f"length = {length}: no document is so long")
    return Windows(tokens, np.concatenate([[-1, -1], kept]))


@dataclass(frozen=True)
class MaskedLMSettings:
    """Everything that decides a run but its seed and the text.

    Parameters
    ----------
    num_layers, num_heads, hidden, feed_forward : shape; ``num_heads`` must divide ``hidden``
    activation : between the two maps of the feed-forward part, "gelu" (BERT's) or "relu" (a little faster)
    init_scale : standard deviation of the entries of W^K, W^Q, W^V at the start; other matrices have BERT's 0.02, biases are 0
    masking : Section 3.2's p_m, p_c, p_r
    optimizer, learning_rate, epsilon, batch_size, steps : the loss is equation 1 with cross-entropy; ``epsilon`` is Adam's
    snapshots : steps at which all weights are kept
    """

    num_layers: int = 4
    num_heads: int = 4
    hidden: int = 64
    feed_forward: int = 256
    activation: str = "gelu"
    init_scale: float = 1e-4
    masking: MaskingSettings = field(default_factory=MaskingSettings.paper)
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    epsilon: float = 1e-6
    batch_size: int = 16
    steps: int = 400
    snapshots: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("num_layers", "num_heads", "hidden", "feed_forward", "batch_size", "steps"):
            check_int(name, getattr(self, name), 1)
        if self.hidden % self.num_heads:
            raise ValueError(f"hidden = {self.hidden}: must be a multiple of num_heads = {self.num_heads}")
        check_type("masking", self.masking, MaskingSettings)
        check_choice("activation", self.activation, ("gelu", "relu"))
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        for name in ("init_scale", "learning_rate", "epsilon"):
            check_real(name, getattr(self, name), 0, open_low=True)
        for step in check_type("snapshots", self.snapshots, tuple):
            check_int("snapshots", step, 0, self.steps)


def build_model(settings: MaskedLMSettings, size: int, length: int, seed: int, *, attention: str = "sdpa") -> Any:
    """A ``BertForMaskedLM`` at its random start; ``size`` ids, windows of ``length`` tokens. Torch's generator stays as it was."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=size,
        hidden_size=settings.hidden,
        num_hidden_layers=settings.num_layers,
        num_attention_heads=settings.num_heads,
        intermediate_size=settings.feed_forward,
        max_position_embeddings=length,
        type_vocab_size=1,
        hidden_act=settings.activation,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=None,
    )
    config._attn_implementation = attention
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertForMaskedLM(config)
        with torch.no_grad():
            for weight in attention_matrices(model).values():
                for matrix in weight:
                    matrix.normal_(0.0, settings.init_scale)
    return model


def attention_matrices(model: Any) -> dict[str, list[Tensor]]:
    """W^K, W^Q and W^V of each layer, by "K", "Q" and "V", the heads of a layer in one matrix."""
    layers = [layer.attention.self for layer in model.bert.encoder.layer]
    return {name: [getattr(x, part).weight for x in layers] for name, part in zip(WEIGHTS, ("key", "query", "value"), strict=True)}


def draw_batch(windows: Windows, settings: MaskedLMSettings, seed: int, step: int) -> MaskedDocuments:
    """The batch of a step with its masks: a function of seed and step alone, so that a run can go on from any step."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(step,)))
    words = windows.tokens[rng.integers(len(windows), size=settings.batch_size)]
    return mask_documents(words, Vocabulary(1, len(windows.pieces) - 1), settings.masking, rng)


def masked_loss(model: Any, batch: MaskedDocuments) -> Tensor:
    """Equation 1 with cross-entropy, in nats: for each window the mean over its selected positions, then the mean over windows."""
    inputs, targets, selected = (torch.from_numpy(x).to(model.device) for x in (batch.inputs, batch.targets, batch.selected))
    hidden = model.bert(inputs).last_hidden_state[selected]
    losses = cross_entropy(model.cls(hidden), targets[selected], reduction="none")
    number = selected.sum(dim=1, keepdim=True).expand_as(selected)[selected]
    return (losses / number).sum() / len(batch.inputs)
