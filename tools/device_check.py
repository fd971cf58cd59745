"""The same numbers on a GPU as on the CPU, and how fast: ``python -m tools.device_check`` (``--device cpu`` for a rehearsal).

Each check computes a result on both devices and compares: float64 results must agree to a relative 1e-9, float32 ones to 1e-3
after training (Adam makes rounding grow) and 1e-4 before. Then a sweep's speed on both, side by side, and the behaviour where the
device's memory is too small. Prints a table and writes device_check.json; 1 if a check fails. Under eight minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from topiclib.compute import gpu_name, in_parts, num_threads
from topiclib.corpus import read_summaries, tokenize
from topiclib.counts import count_loss
from topiclib.documents import DocumentSettings
from topiclib.encoders import load_encoder, random_encoder
from topiclib.losses import l2_penalty, masked_loss
from topiclib.masked_lm import MaskedLMSettings, build_model, cut_windows, draw_batch
from topiclib.masked_lm import masked_loss as language_loss
from topiclib.metrics import attention_by_relation, block_contrast, embedding_similarity
from topiclib.model import TopicTransformer
from topiclib.settings import ModelSettings, TrainingSettings
from topiclib.sweeps import Sweep
from topiclib.training import held_out_loss, sample_batch, train
from topiclib.word_counts import sample_counts

Found = dict[str, np.ndarray]
Check = Callable[[torch.device], Found]
PAPER = TrainingSettings.paper(steps=60, eval_every=20, log_every=10)
# Away from the usual start, where attention would be uniform and its gradients near 0.
AWAY = replace(PAPER, model=replace(PAPER.model, init_scale=0.3))


def _arrays(values: Mapping[str, Tensor | float]) -> Found:
    """As arrays on the CPU, each in its precision."""
    return {name: np.asarray(v.detach().cpu() if isinstance(v, Tensor) else v, dtype=np.float64) for name, v in values.items()}


def _model(device: torch.device) -> TopicTransformer:
    """The paper's model in float64."""
    return TopicTransformer(AWAY.model, 0).double().to(device)


def tokens(device: torch.device) -> Found:
    """Equations 5 to 7 and 1 on tokens: attention, predictions, both losses and every gradient."""
    model, batch = _model(device), sample_batch(PAPER, 16, 0)
    inputs = torch.from_numpy(batch.inputs).to(device)
    found: dict[str, Tensor | float] = {"attention": model.attention(inputs), "predictions": model(inputs)}
    for kind in ("cross_entropy", "squared"):
        loss = masked_loss(model, batch, kind) + 0.01 * l2_penalty(model.parameters())
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        found |= {f"{kind} loss": loss} | {f"{kind} gradient {k}": g for k, g in enumerate(gradients)}
    return _arrays(found)


def counts(device: torch.device) -> Found:
    """The same losses on word counts."""
    model = _model(device)
    batch = sample_counts(PAPER.documents, PAPER.masking, 16, 0)
    found: dict[str, Tensor | float] = {kind: count_loss(model, batch, kind) for kind in ("cross_entropy", "squared")}
    return _arrays(found)


def metrics(device: torch.device) -> Found:
    """What is measured of a model: block contrasts, similarity of embeddings, attention by relation, held-out loss."""
    model, batch = _model(device), sample_batch(PAPER, 32, 1)
    vocabulary = model.settings.vocabulary
    by_relation = {
        "values": block_contrast(model.W_E.T @ model.W_V @ model.W_E, vocabulary),
        "embeddings": embedding_similarity(model.W_E, vocabulary),
        "attention": attention_by_relation(model, batch.inputs),
    }
    found: dict[str, Tensor | float] = {name: float(of.same_topic - of.different_topic) for name, of in by_relation.items()}
    return _arrays(found | {"held-out loss": held_out_loss(model, PAPER, 32, 2)})


def training(device: torch.device) -> Found:
    """A run in float64 on each engine, from a model that lies on the device."""
    found: Found = {}
    for engine in ("counts", "tokens"):
        run = train(AWAY, seed=0, model=_model(device), engine=engine, progress=False)
        weights = {f"{engine} {name}": value for name, value in run.model.named_parameters()}
        found |= _arrays(weights) | {f"{engine} loss": run.history.arrays()["train_loss"]}
    return found


def sweep(device: torch.device) -> Found:
    """Runs with other rates, seeds and masks, in float32, stacked on a GPU."""
    rates = [
        (replace(PAPER, learning_rate=rate, l2_coef=l2), seed) for rate in (0.003, 0.01) for l2 in (0, 1e-3) for seed in (0, 1)
    ]
    done = Sweep(rates).run(workers=1, device=device, progress=False)
    return {name: done.curves[name] for name in ("train_loss", "held_out_loss", "norm_W_V")}


def encoder(device: torch.device) -> Found:
    """Attention, embeddings and the layer's output of a pretrained encoder and of one with random weights."""
    found: Found = {}
    loaded = load_encoder("minilm", device)
    documents = [corpus_tokens[:40] for corpus_tokens in _documents(loaded.tokenizer)]
    for model in (loaded, random_encoder(loaded, 0)):
        attention, embedded, _ = model.run(documents)
        found |= _arrays({f"{model.name} layer {k}": a for k, a in enumerate(attention)} | {f"{model.name} embedded": embedded})
        found |= _arrays({f"{model.name} output": model.layer_output(np.arange(1000, 1040))})
    return found


def language_model(device: torch.device) -> Found:
    """Loss and gradients of Figure 5's small encoder."""
    corpus = tokenize(read_summaries(), load_encoder("minilm", "cpu").tokenizer)
    windows = cut_windows([corpus], length=48, size=4000)
    settings = MaskedLMSettings(steps=2, init_scale=0.02)
    model = build_model(settings, 4000, 48, 0).double().to(device)
    loss = language_loss(model, draw_batch(windows, settings, 0, 1))
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = {f"gradient {name}": p.grad for name, p in model.named_parameters() if p.grad is not None}
    return _arrays({"loss": loss} | gradients)


def _documents(tokenizer: Any) -> list[np.ndarray]:
    corpus = tokenize(read_summaries(), tokenizer)
    starts = corpus.starts[:9]
    return [corpus.tokens[start:end] for start, end in itertools.pairwise(starts)]


# (check, relative tolerance)
CHECKS: dict[str, tuple[Check, float]] = {
    "tokens": (tokens, 1e-9),
    "counts": (counts, 1e-9),
    "metrics": (metrics, 1e-9),
    "training": (training, 1e-9),
    "sweep": (sweep, 1e-3),
    "encoder": (encoder, 1e-4),
    "language model": (language_model, 1e-9),
}


def distance(found: Found, wanted: Found) -> float:
    """The largest difference of two results, relative to each array's largest entry."""
    if set(found) != set(wanted):
        raise ValueError(f"found has {sorted(set(found) ^ set(wanted))} beyond the other")
    worst = 0.0
    for name, value in found.items():
        known = wanted[name]
        if value.shape != known.shape or not np.array_equal(np.isnan(value), np.isnan(known)):
            return float("inf")
        scale = np.nanmax(np.abs(known), initial=0.0) or 1.0
        worst = max(worst, float(np.nanmax(np.abs(value - known), initial=0.0) / scale))
    return worst


def speed(device: torch.device, runs: int = 32) -> dict[str, float]:
    """Seconds of one sweep at the paper's settings on the CPU and on the device, by turns; the fastest of three."""
    settings = TrainingSettings.paper(steps=200, eval_every=100)
    large = replace(
        settings,
        documents=replace(settings.documents, num_topics=30, words_per_topic=20),
        model=ModelSettings(vocabulary=DocumentSettings(num_topics=30, words_per_topic=20).vocabulary),
    )
    found: dict[str, float] = {}
    for label, of in (("paper", settings), ("30 topics of 20 words", replace(large, steps=40, eval_every=40))):
        times: dict[str, list[float]] = {"cpu": [], "device": []}
        for _ in range(3):
            for name, where in (("cpu", torch.device("cpu")), ("device", device)):
                start = time.perf_counter()
                Sweep([(of, seed) for seed in range(runs)]).run(device=where, progress=False)
                times[name].append(time.perf_counter() - start)
        found |= {f"{label}, {name}": min(seconds) for name, seconds in times.items()}
    return found


def small_memory(device: torch.device) -> str:
    """What happens where the memory is too small: a sweep by halves, and a sentence where one item alone does not fit."""
    if device.type == "cpu":
        return "not tried on the CPU"
    sizes: list[int] = []

    def fill(part: range) -> int:
        free, _ = torch.cuda.mem_get_info(device)
        torch.empty(int(len(part) * free * 0.3), dtype=torch.uint8, device=device)
        sizes.append(len(part))
        return len(part)

    parts = [result for _, result in in_parts(fill, range(8))]
    try:
        list(in_parts(lambda part: torch.empty(10**14, dtype=torch.uint8, device=device), range(1)))
    except MemoryError as error:
        return f"8 items in parts of {parts}; one too large: {error}"
    raise AssertionError("100 TB were found")


def main(arguments: list[str] | None = None) -> int:
    """Run all checks; 1 if one fails, 2 where the device is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--out", type=Path, default=Path("device_check.json"))
    parser.add_argument("--no-speed", action="store_true", help="leave the speed out")
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("There is no CUDA device here. A rehearsal: python -m tools.device_check --device cpu", file=sys.stderr)
        return 2
    device, start, results = torch.device(options.device), time.perf_counter(), {}
    torch.backends.cuda.matmul.allow_tf32 = False
    name = gpu_name() if device.type == "cuda" else f"CPU, {platform.machine()}, {os.cpu_count()} cores"
    print(f"{name}; torch {torch.__version__}")
    with num_threads(1 if device.type == "cpu" else None):
        for label, (check, tolerance) in CHECKS.items():
            apart = distance(check(device), check(torch.device("cpu")))
            results[label] = {"distance": apart, "tolerance": tolerance, "good": apart <= tolerance}
            print(f"{label:16} {apart:8.1e} (at most {tolerance:g}) {'good' if apart <= tolerance else 'FAILED'}", flush=True)
    memory = small_memory(device)
    print(f"small memory: {memory}")
    seconds = {} if options.no_speed else speed(device)
    for label, value in seconds.items():
        print(f"sweep of 32 runs, {label}: {value:.1f} s")
    report = {"device": name, "torch": torch.__version__, "checks": results, "memory": memory, "seconds": seconds}
    options.out.write_text(json.dumps(report | {"total_s": time.perf_counter() - start}, indent=1) + "\n")
    return 0 if all(result["good"] for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
