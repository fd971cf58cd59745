"""Pretrained transformer encoders: their embeddings and their attention, in one form for every architecture.

Rows of a library's attention are queries, columns keys; the paper stores the transpose. Here A[..., q, k] is the weight that
the position q gives to the position k: rows sum to 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor

from topiclib.compute import default_device
from topiclib.sources import SOURCES, locate
from topiclib.validation import MAX_SEED, check_indices, check_int, check_real, check_text, check_type

__all__ = ["FAMILIES", "PACKAGED", "PAPER_MODELS", "Encoder", "EncoderError", "load_encoder", "random_encoder", "why_no_hub"]

FAMILIES = ("bert", "albert", "bart", "electra", "roberta", "mpnet")
PAPER_MODELS = {
    "bert": "bert-base-uncased",
    "albert": "albert-base-v2",
    "bart": "facebook/bart-base",
    "electra": "google/electra-base-discriminator",
    "roberta": "roberta-base",
}
"""The hub's names for the five models of Table 1. The paper does not give theirs; these are the usual base sizes."""


class EncoderError(RuntimeError):
    """An encoder cannot be loaded: it is neither on this machine nor can the hub be reached, or it is of no known kind."""


PACKAGED = tuple(name for name in SOURCES if name not in ("summaries", "dump"))
"""The sources that are encoders."""
_UNREADABLE = (OSError, ValueError, KeyError, RuntimeError, SafetensorError)


def _first_line(error: BaseException) -> str:
    """What went wrong, in one line."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def why_no_hub(timeout: float = 5) -> str:
    """Why the hub cannot be reached, "" if it can: one question to it, where its own library repeats each for a minute."""
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    try:
        get_session().head(constants.ENDPOINT, timeout=check_real("timeout", timeout, 0, open_low=True))
    except Exception as error:  # of whichever HTTP library the hub's uses
        return _first_line(error)
    return ""


@contextmanager
def _quiet() -> Iterator[None]:
    """Load a model without a progress bar and without remarks on the heads that are not used."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


class _Caught(Exception):
    """Ends a run of the encoder behind its embedding layer: the layers would cost a hundred times as much."""


def _catch_and_stop(caught: list[Tensor], module: Any, given: Any, output: Tensor) -> None:
    """A hook that keeps an output and ends the run."""
    caught.append(output)
    raise _Caught


@dataclass(frozen=True, eq=False)
class Encoder:
    """A transformer encoder with its tokenizer.

    name : what it was loaded by
    model : the Hugging Face model, in evaluation mode, with eager attention
    tokenizer : its tokenizer
    """

    name: str
    model: Any
    tokenizer: Any

    @property
    def family(self) -> str:
        """The architecture, one of ``FAMILIES``."""
        return str(self.model.config.model_type)

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        device: torch.device = next(self.model.parameters()).device
        return device

    @property
    def num_layers(self) -> int:
        """L."""
        return int(self.model.config.num_hidden_layers)

    @property
    def _body(self) -> Any:
        """The part that encodes: the model itself, or the encoder of one with a decoder."""
        return self.model.get_encoder() if self.family == "bart" else self.model

    @property
    def _embedding_layer(self) -> Any:
        """The module whose output is the sum of the embeddings, normalised."""
        return self._body.layernorm_embedding if self.family == "bart" else self.model.embeddings

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text, special tokens not counted, that the position embeddings can tell apart."""
        config = self.model.config
        # RoBERTa and MPNet count positions from one past the padding's id
        reserved = config.pad_token_id + 1 if self.family in ("roberta", "mpnet") else 0
        return int(config.max_position_embeddings) - reserved - sum(len(part) for part in self.frame)

    @property
    def frame(self) -> tuple[list[int], list[int]]:
        """The special tokens that the tokenizer puts before and after a text."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        full = self.tokenizer("a", add_special_tokens=True)["input_ids"]
        at = next(i for i in range(len(full) - len(bare) + 1) if full[i : i + len(bare)] == bare)
        return full[:at], full[at + len(bare) :]

    @property
    def word_matrix(self) -> Tensor:
        """(V, d) the word matrix: row i is the embedding of token i, the paper's column i of W^E."""
        found: Tensor = self.model.get_input_embeddings().weight.detach()
        return found

    @torch.inference_mode()
    def run(self, documents: list[np.ndarray]) -> tuple[list[Tensor], Tensor, Tensor]:
        """Run the encoder on texts, with the special tokens around each.

        Parameters
        ----------
        documents : B arrays of token ids, without special tokens

        Returns
        -------
        attention : L tensors (B, heads, n, n), A[..., q, k]
        embedded : (B, n, d) the embedding layer's output: words, positions and what else it adds, normalised; the word matrix's d
        mask : (B, n) True at tokens, False at the padding behind them
        """
        ids, mask = self._batch(documents)
        # Where the embedding is narrower than the layers (ALBERT, small ELECTRA), the first hidden state is already projected.
        caught: list[Tensor] = []
        hook = self._embedding_layer.register_forward_hook(lambda module, given, output: caught.append(output))
        try:
            out = self._body(input_ids=ids, attention_mask=mask.to(self.device).long(), output_attentions=True)
        finally:
            hook.remove()
        return list(out.attentions), caught[0], mask

    def _batch(self, documents: list[np.ndarray]) -> tuple[Tensor, Tensor]:
        """Token ids with the special tokens and padding, on the device, and where there is no padding; (B, n) each."""
        before, after = self.frame
        if not len(documents):
            raise ValueError("documents: there are none; must be one at least")
        for document in documents:
            check_indices("documents", document, len(self.tokenizer))
        longest = max(len(document) for document in documents)
        if longest > self.max_tokens:
            raise ValueError(f"documents: one has {longest} tokens; {self.name} takes {self.max_tokens} at most")
        width = longest + len(before) + len(after)
        ids = torch.full((len(documents), width), int(self.tokenizer.pad_token_id))
        mask = torch.zeros(len(documents), width, dtype=torch.bool)
        for row, document in enumerate(documents):
            line = torch.tensor([*before, *document.tolist(), *after])
            ids[row, : len(line)] = line
            mask[row, : len(line)] = True
        return ids.to(self.device), mask

    @torch.inference_mode()
    def layer_output(self, ids: np.ndarray, batch_size: int = 256) -> Tensor:
        """(len(ids), d) the embedding layer's output for each token alone between the special tokens.

        It is LayerNorm(word + position + type): all tokens share the position's and the type's part. This matrix, not the
        word matrix, is what can give a ratio near 1 for a model with random weights.
        """
        check_int("batch_size", batch_size, 1)
        if not len(ids):
            raise ValueError("ids: there are none; must be one token id at least")
        at = len(self.frame[0])
        parts = []
        for start in range(0, len(ids), batch_size):
            batch, mask = self._batch([np.array([i]) for i in ids[start : start + batch_size]])
            caught: list[Tensor] = []
            hook = self._embedding_layer.register_forward_hook(partial(_catch_and_stop, caught))
            try:
                self._body(input_ids=batch, attention_mask=mask.to(self.device).long())
            except _Caught:
                parts.append(caught[0][:, at].cpu())
            finally:
                hook.remove()
        return torch.cat(parts)

    def digest_parts(self) -> list[object]:
        """What a cache's key must hold of the encoder: its configuration, its special tokens and every weight."""
        config = {
            k: str(v) for k, v in self.model.config.to_dict().items() if not k.startswith("_") and k != "transformers_version"
        }
        return [config, list(self.frame), *(t for _, t in sorted(self.model.state_dict().items()))]


def _check(encoder: Encoder) -> Encoder:
    """The encoder, if its architecture and its tokenizer are of a kind that is understood; EncoderError if not."""
    if encoder.family not in FAMILIES:
        raise EncoderError(f"{encoder.name}: is a {encoder.family!r} model; must be one of {', '.join(FAMILIES)}")
    size, rows = len(encoder.tokenizer), len(encoder.word_matrix)
    if size > rows:
        raise EncoderError(
            f"{encoder.name}: the tokenizer has {size} tokens, the model's word matrix {rows} rows; they do not match"
        )
    padding, wanted = encoder.tokenizer.pad_token_id, encoder.model.config.pad_token_id
    if padding is None:
        raise EncoderError(f"{encoder.name}: the tokenizer has no padding token")
    if encoder.family in ("roberta", "mpnet") and padding != wanted:  # these count positions by it
        raise EncoderError(f"{encoder.name}: the tokenizer pads with token {padding}, the model with {wanted}; they do not match")
    for label, weight in encoder.model.named_parameters():
        if not weight.isfinite().all():
            raise EncoderError(f"{encoder.name}: {label} holds NaN or infinite weights")
    return encoder


def load_encoder(name: str | Path = "minilm", device: torch.device | str | None = None) -> Encoder:
    """Load an encoder with its tokenizer, ready to measure: evaluation mode, eager attention, float32.

    Parameters
    ----------
    name : "minilm" or another packaged source; a key of ``PAPER_MODELS`` or any name on the hub; or a local folder
    device : where to; None: ``compute.default_device()``

    Raises SourceError where a package is missing or damaged, EncoderError where a hub's model is neither on this machine nor
    to be had, or is of a kind that is not understood.
    """
    from transformers import AutoModel, AutoTokenizer

    name = check_text("name", str(name) if isinstance(name, Path) else name)
    try:
        device = default_device() if device is None else torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(f"device = {device!r}: must be a torch device such as 'cpu' or 'cuda'") from None
    local = True
    if name in PACKAGED:
        path = str(locate(name))
    elif Path(name).is_dir():
        path = name
    else:
        path, local = PAPER_MODELS.get(name, name), False

    def load(here: bool) -> Encoder:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=here)
            model, report = AutoModel.from_pretrained(
                path, local_files_only=here, attn_implementation="eager", dtype=torch.float32, output_loading_info=True
            )
        # The pooler is behind the layers, and some models come without
        if missing := sorted(key for key in report["missing_keys"] if "pooler" not in key):
            raise OSError(f"The weights lack {missing[0]}" + f" and {len(missing) - 1} others" * (len(missing) > 1))
        return Encoder(name, model.eval().to(device), tokenizer)

    try:
        encoder = load(True)
    except _UNREADABLE as error:
        if local:
            raise EncoderError(f"{name}: cannot be read. {_first_line(error)}") from error
        if reason := why_no_hub():
            raise EncoderError(f"{name}: {path} is not on this machine, and the hub cannot be reached ({reason})") from None
        try:
            encoder = load(False)
        except _UNREADABLE as hub_error:
            raise EncoderError(f"{name}: cannot be had from the hub. {_first_line(hub_error)}") from hub_error
    return _check(encoder)


def random_encoder(encoder: Encoder, seed: int) -> Encoder:
    """The same architecture and tokenizer with random weights, drawn as before pretraining: the control.

    ``seed``, 0 to 2^64 - 1, seeds torch's generator for the drawing only; its state is then as it was.
    """
    check_type("encoder", encoder, Encoder)
    check_int("seed", seed, 0, MAX_SEED)
    config = encoder.model.config
    with torch.random.fork_rng(devices=[]), _quiet():
        torch.manual_seed(seed)
        model = type(encoder.model)._from_config(config, attn_implementation="eager", dtype=torch.float32)
    return Encoder(f"{encoder.name}, random weights", model.eval().to(encoder.device), encoder.tokenizer)
