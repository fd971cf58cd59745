"""Small encoders with random weights, one of each architecture, with tokenizers trained on real text."""

import json
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from topiclib.corpus import read_summaries

KINDS = ("bert", "albert", "bart", "electra", "electra-wide", "roberta", "mpnet")
POSITIONS = 48
"""Positions that the encoders can tell apart, special tokens included."""
WIDTH, NARROW = 16, 8
LAYERS, HEADS = 2, 2
VOCABULARY = 1500
SIZES = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 32}
BART_SIZES = {"d_model": WIDTH} | {
    f"{part}_{name}": value
    for part in ("encoder", "decoder")
    for name, value in {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": 32}.items()
}


@cache
def texts() -> tuple[str, ...]:
    """The text that tokenizers are trained on."""
    return tuple(article.text for article in islice(read_summaries(), 300))


@cache
def word_piece(special: tuple[str, ...]) -> dict[str, int]:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts(), trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=list(special)))
    return tokenizer.get_vocab()


@cache
def unigram() -> list[tuple[str, float]]:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Metaspace()
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.UnigramTrainer(vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>")
    tokenizer.train_from_iterator(texts(), trainer)
    return [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]


@cache
def byte_pairs() -> tuple[dict[str, int], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def small_tokenizer(kind: str) -> Any:
    """A tokenizer of the kind's class with its usual special tokens."""
    if kind == "albert":
        return transformers.AlbertTokenizerFast(vocab=unigram())
    if kind in ("roberta", "bart"):
        vocab, merges = byte_pairs()
        return transformers.RobertaTokenizerFast(vocab=vocab, merges=merges)
    if kind == "mpnet":
        return transformers.MPNetTokenizerFast(vocab=word_piece(("<s>", "<pad>", "</s>", "[UNK]", "<mask>")))
    return transformers.BertTokenizerFast(vocab=word_piece(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")))


def small_config(kind: str, size: int, padding: int) -> Any:
    """The kind's configuration for a vocabulary of ``size`` words and the padding's id."""
    common = {"vocab_size": size, "pad_token_id": padding}
    reserved = padding + 1 if kind in ("roberta", "mpnet") else 0
    if kind == "bart":
        return transformers.BartConfig(**common, **BART_SIZES, max_position_embeddings=POSITIONS)
    extra: dict[str, Any] = {"max_position_embeddings": POSITIONS + reserved}
    if kind == "albert" or kind.startswith("electra"):
        extra["embedding_size"] = WIDTH if kind == "electra-wide" else NARROW
    cls = {
        "bert": transformers.BertConfig,
        "albert": transformers.AlbertConfig,
        "electra": transformers.ElectraConfig,
        "electra-wide": transformers.ElectraConfig,
        "roberta": transformers.RobertaConfig,
        "mpnet": transformers.MPNetConfig,
    }[kind]
    return cls(**common, **SIZES, **extra)


def save_small_encoder(kind: str, folder: Path, seed: int = 0, spread: float = 10) -> Path:
    """Save a random encoder; its matrices are ``spread`` times those before pretraining, so that attention is far from uniform."""
    tokenizer = small_tokenizer(kind)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = transformers.AutoModel.from_config(small_config(kind, len(tokenizer), tokenizer.pad_token_id))
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                parameter.data *= spread
            elif name.endswith("bias"):
                parameter.data.normal_()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
