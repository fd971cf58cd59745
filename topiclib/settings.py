"""Settings of the model and of a training run: frozen, validated, with presets. No torch is needed to read them.

Settings of the documents are in ``documents``, those of the masks in ``masking``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from topiclib.documents import DocumentSettings
from topiclib.masking import MaskingSettings
from topiclib.validation import check_bool, check_choice, check_int, check_real, check_type
from topiclib.vocabulary import Vocabulary

WEIGHTS = ("W_E", "W_K", "W_Q", "W_V")
BIASES = ("b_K", "b_Q", "b_V")
PARAMETERS = (*WEIGHTS, *BIASES, "b_pred")
LOSSES = ("cross_entropy", "squared")
OPTIMIZERS = ("sgd", "adam")


@dataclass(frozen=True)
class ModelSettings:
    """Shape and freedom of the model.

    Parameters
    ----------
    vocabulary : V = Tv + 1 tokens
    embedding_dim : d; None means V, as in the authors' code (the paper's text does not say)
    attention_dim : d_a, the head size; None means d
    one_hot : freeze W_E = I, so d = V (equation 7)
    uniform_attention : freeze W_K = W_Q = 0 (and b_K, b_Q), so A = 1/N
    attention_biases : include b_K, b_Q, b_V, as Section 6.1 does; without them they stay 0, as in Section 3.3
    frozen : names of parameters that are not trained, from W_E, W_K, W_Q, W_V, b_K, b_Q, b_V, b_pred
    init_scale : standard deviation >= 0 of the normal initial weights (0.02 is BERT's); biases start at 0
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    embedding_dim: int | None = None
    attention_dim: int | None = None
    one_hot: bool = False
    uniform_attention: bool = False
    attention_biases: bool = True
    frozen: tuple[str, ...] = ()
    init_scale: float = 0.02

    def __post_init__(self) -> None:
        for name in ("embedding_dim", "attention_dim"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1)
        for name in ("one_hot", "uniform_attention", "attention_biases"):
            check_bool(name, getattr(self, name))
        check_type("vocabulary", self.vocabulary, Vocabulary)
        if not isinstance(self.frozen, tuple):
            raise TypeError(f"frozen = {self.frozen!r}: must be a tuple of names, such as ('W_E',)")
        unknown = [name for name in self.frozen if name not in PARAMETERS]
        if unknown:
            raise ValueError(f"frozen = {self.frozen!r}: unknown {unknown}; must be from {', '.join(PARAMETERS)}")
        if self.one_hot and self.embedding_dim not in (None, self.vocabulary.size):
            raise ValueError(f"embedding_dim = {self.embedding_dim}: must be V = {self.vocabulary.size} when one_hot")
        check_real("init_scale", self.init_scale, 0)

    @classmethod
    def paper(cls, **changes: object) -> ModelSettings:
        """Section 6.1: T = v = 10, d = d_a = V, attention biases, every part trained. ``changes`` replace fields."""
        return replace(cls(), **changes)  # type: ignore[arg-type]

    @classmethod
    def tiny(cls, **changes: object) -> ModelSettings:
        """T = 3, v = 2, d = 5, d_a = 4: every dimension differs, for examples and tests."""
        return replace(cls(Vocabulary(3, 2), embedding_dim=5, attention_dim=4, init_scale=0.5), **changes)  # type: ignore[arg-type]

    @property
    def d(self) -> int:
        """Embedding dimension."""
        return self.embedding_dim or self.vocabulary.size

    @property
    def d_a(self) -> int:
        """Attention head size."""
        return self.attention_dim or self.d

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Shape of a parameter by its name (KeyError if unknown)."""
        v, d, d_a = self.vocabulary.size, self.d, self.d_a
        return {
            "W_E": (d, v), "W_K": (d_a, d), "W_Q": (d_a, d), "W_V": (d, d),
            "b_K": (d_a,), "b_Q": (d_a,), "b_V": (d,), "b_pred": (v,),
        }[name]  # fmt: skip

    def frozen_names(self) -> frozenset[str]:
        """Every parameter that is not trained: those in ``frozen`` and those that the switches fix."""
        names = set(self.frozen)
        if self.one_hot:
            names.add("W_E")
        if self.uniform_attention:
            names |= {"W_K", "W_Q", "b_K", "b_Q"}
        if not self.attention_biases:
            names |= set(BIASES)
        return frozenset(names)


@dataclass(frozen=True)
class TrainingSettings:
    """Everything that decides a run but its seed.

    Parameters
    ----------
    documents, masking, model : settings of the data (3.1, 6.1), the masks (3.2) and the transformer (3.3)
    loss : ``"cross_entropy"`` (equation 4) or ``"squared"`` (equation 3)
    optimizer : ``"sgd"`` (plain, no momentum) or ``"adam"`` (torch's defaults)
    learning_rate : > 0; the paper's figures use 0.01
    steps : number of updates, >= 1
    batch_size : documents a step, >= 1; 40 in the authors' code
    l2_coef : lambda >= 0 in loss + lambda ||theta||^2 (equation 2)
    l2_on : names of the parameters in the penalty; None means every trained one
    log_every : steps between records of norms and rotation; 10 gives Figure 5's rotation
    eval_every, eval_docs : steps between held-out losses, and documents in each
    snapshots : steps at which to keep every parameter (0 is the start)
    """

    documents: DocumentSettings = field(default_factory=DocumentSettings.paper)
    masking: MaskingSettings = field(default_factory=MaskingSettings.paper)
    model: ModelSettings = field(default_factory=ModelSettings.paper)
    loss: str = "cross_entropy"
    optimizer: str = "adam"
    learning_rate: float = 0.01
    steps: int = 1000
    batch_size: int = 40
    l2_coef: float = 0.0
    l2_on: tuple[str, ...] | None = None
    log_every: int = 10
    eval_every: int = 100
    eval_docs: int = 200
    snapshots: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_type("documents", self.documents, DocumentSettings)
        check_type("masking", self.masking, MaskingSettings)
        check_type("model", self.model, ModelSettings)
        if self.model.vocabulary != self.documents.vocabulary:
            raise ValueError(f"model.vocabulary = {self.model.vocabulary}: must be the documents' {self.documents.vocabulary}")
        check_choice("loss", self.loss, LOSSES)
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_real("learning_rate", self.learning_rate, 0, open_low=True)
        for name in ("steps", "batch_size", "log_every", "eval_every", "eval_docs"):
            check_int(name, getattr(self, name), 1)
        check_real("l2_coef", self.l2_coef, 0)
        if self.l2_on is not None and (
            not isinstance(self.l2_on, (tuple, list)) or any(name not in PARAMETERS for name in self.l2_on)
        ):
            raise ValueError(f"l2_on = {self.l2_on!r}: must be None or a tuple of names from {', '.join(PARAMETERS)}")
        if not isinstance(self.snapshots, (tuple, list)):
            raise TypeError(f"snapshots = {self.snapshots!r}: must be a tuple of steps, such as (0, {self.steps})")
        for step in self.snapshots:
            check_int("snapshots", step, 0, self.steps)

    @classmethod
    def paper(cls, **changes: object) -> TrainingSettings:
        """Section 6.1 at full size, every part trained, learning rate 0.01. ``changes`` replace fields."""
        return replace(cls(), **changes)  # type: ignore[arg-type]

    @classmethod
    def tiny(cls, **changes: object) -> TrainingSettings:
        """Seconds long: T = 3, v = 2, short documents; for examples and tests."""
        small = cls(
            DocumentSettings.tiny(), MaskingSettings(0.3), ModelSettings.tiny(), steps=20, batch_size=8, eval_every=10, eval_docs=8
        )
        return replace(small, **changes)  # type: ignore[arg-type]
