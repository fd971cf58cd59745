"""Closed forms of Lemma 1, Theorems 1 to 3 and what lies around them. No torch: agreement with training is evidence.

Every function takes keyword arguments: numbers, Fractions (Fractions in, Fractions out), arrays where a plot wants them, or the
symbols of ``topiclib.theory.symbols``.
"""

from topiclib.theory.attention_patterns import (
    AttentionOptimum,
    attention_loss,
    attention_optimum,
    diagonal_value_matrix,
)
from topiclib.theory.attention_weights import (
    Interval,
    LossTerms,
    attention_polynomial,
    loss_terms,
    optimal_attention,
    theorem3,
    theorem3_loss,
)
from topiclib.theory.early_training import AttentionGradient, attention_gradient
from topiclib.theory.embeddings import (
    WeightDecay,
    embedding_dim_loss,
    embedding_weight_decay,
    theorem1,
    theorem1_mask_row,
    theorem1_realisable,
    theorem1_witness,
)
from topiclib.theory.finite_length import finite_documents
from topiclib.theory.masked_tokens import Constants, MaskingFractions, masking_fractions, theorem2_constants
from topiclib.theory.minimisers import BlockSums, hessian_rank, lemma1, lemma1_mask_row
from topiclib.theory.moments import Spectrum, effective_topics_per_doc, spectrum
from topiclib.theory.results import RESULTS, Result
from topiclib.theory.value_matrix import ValueMatrix, gradient_path, ridge_value_matrix, theorem2

__all__ = [
    "RESULTS",
    "AttentionGradient",
    "AttentionOptimum",
    "BlockSums",
    "Constants",
    "Interval",
    "LossTerms",
    "MaskingFractions",
    "Result",
    "Spectrum",
    "ValueMatrix",
    "WeightDecay",
    "attention_gradient",
    "attention_loss",
    "attention_optimum",
    "attention_polynomial",
    "diagonal_value_matrix",
    "effective_topics_per_doc",
    "embedding_dim_loss",
    "embedding_weight_decay",
    "finite_documents",
    "gradient_path",
    "hessian_rank",
    "lemma1",
    "lemma1_mask_row",
    "loss_terms",
    "masking_fractions",
    "optimal_attention",
    "ridge_value_matrix",
    "spectrum",
    "theorem1",
    "theorem1_mask_row",
    "theorem1_realisable",
    "theorem1_witness",
    "theorem2",
    "theorem2_constants",
    "theorem3",
    "theorem3_loss",
]
