"""Measure, side by side in one run: the engine on counts, the model on tokens, transformers' BertForMaskedLM, a sweep.

Every contender draws its documents and masks, steps and updates (Adam). They take turns, so that what else the machine
does hits all alike; ratios are medians over the rounds. Prints a table and writes _build/bench.json. If other processes
took more than 0.05 of a core meanwhile, says so, sets ``valid`` to false and ends with 1.

Two forms of BertForMaskedLM, each with one layer, one head and the paper's width: as it is delivered (intermediate layer
four times as wide, as in BERT; residuals, layer norms, head transform), and cut down to the very function of equation 6.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForMaskedLM

from topiclib.compute import num_cores, num_threads, suitable_threads
from topiclib.documents import PAD, DocumentSettings
from topiclib.engine import CountEngine
from topiclib.lockstep import TRAINING, Lockstep, TokenEngine, draw
from topiclib.masking import MaskingSettings
from topiclib.model import TopicTransformer
from topiclib.settings import ModelSettings, TrainingSettings
from topiclib.sweeps import Sweep
from topiclib.training import sample_batch
from topiclib.vocabulary import Vocabulary

OUT = Path(__file__).resolve().parent.parent / "_build" / "bench.json"
MAX_LOAD = 0.05  # of a core
ROUNDS = 7
SECONDS = 0.6  # that a contender's turn should take
SWEEP_STEPS = 300


class First(nn.Module):
    """Hands on its first input."""

    def forward(self, x: Tensor, *_: object, **__: object) -> Tensor:
        return x


class WordsOnly(nn.Module):
    """BERT's embeddings without positions, segments and layer norm."""

    def __init__(self, embeddings: nn.Module) -> None:
        super().__init__()
        self.word_embeddings = embeddings.word_embeddings

    def forward(self, input_ids: Tensor, **_: object) -> Tensor:
        out: Tensor = self.word_embeddings(input_ids)
        return out


def make_bert(settings: ModelSettings, max_len: int, *, same_function: bool) -> Any:
    """BertForMaskedLM of the model's width, with one layer and one head."""
    v, d = settings.vocabulary.size, settings.d
    config = BertConfig(
        vocab_size=v, hidden_size=d, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4 * d,
        max_position_embeddings=max_len, type_vocab_size=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        pad_token_id=None,
    )  # fmt: skip
    bert = BertForMaskedLM(config)
    if same_function:
        layer, head = bert.bert.encoder.layer[0], bert.cls.predictions
        bert.bert.embeddings = WordsOnly(bert.bert.embeddings)
        layer.attention.output = layer.intermediate = layer.output = head.transform = First()
    if settings.one_hot:
        words = bert.bert.embeddings.word_embeddings.weight
        words.data = torch.eye(v)
        words.requires_grad_(False)
    return bert


class Bert:
    """Trains a BertForMaskedLM as its documentation has it: labels of -100 where nothing is to be predicted."""

    def __init__(self, settings: TrainingSettings, *, same_function: bool) -> None:
        self.settings, self.rng = settings, np.random.default_rng(0)
        self.bert = make_bert(settings.model, settings.documents.max_len, same_function=same_function)
        trained = [p for p in self.bert.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trained, lr=settings.learning_rate)

    def steps(self, number: int) -> None:
        for _ in range(number):
            batch = sample_batch(self.settings, self.settings.batch_size, self.rng)
            tokens = torch.from_numpy(batch.inputs)
            labels = torch.from_numpy(np.where(batch.selected, batch.targets, -100))
            is_token = tokens != PAD
            loss = self.bert(input_ids=tokens.clamp(min=0), attention_mask=is_token.long(), labels=labels).loss
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()


class Ours:
    """The course's training loop with one of its engines."""

    def __init__(self, settings: TrainingSettings, engine: str) -> None:
        model = TopicTransformer(settings.model, 0)
        made = CountEngine([settings], [model]) if engine == "counts" else TokenEngine(settings, model)
        self.run = Lockstep([settings], [0], made)

    def steps(self, number: int) -> None:
        self.run.advance(self.run.step + number)


def contender(name: str, settings: TrainingSettings) -> Bert | Ours:
    """``counts``, ``tokens``, ``bert`` (as delivered) or ``bert_same`` (the same function)."""
    if name in ("counts", "tokens"):
        return Ours(settings, name)
    return Bert(settings, same_function=name == "bert_same")


def make_settings(one_hot: bool, doc_len: int = 125, words_per_topic: int = 10) -> TrainingSettings:
    """Section 6.1, or documents of another length with as many masked positions, or a larger vocabulary."""
    spread = doc_len // 5
    return TrainingSettings.paper(
        documents=DocumentSettings.paper(min_len=doc_len - spread, max_len=doc_len + spread, words_per_topic=words_per_topic),
        masking=MaskingSettings(0.15 * 125 / doc_len),
        model=ModelSettings.paper(vocabulary=Vocabulary(10, words_per_topic), one_hot=one_hot),
        steps=10**7, log_every=10**6, eval_every=10**6, eval_docs=40,
    )  # fmt: skip


class Load:
    """What other processes took of the machine, in cores, while this one and its children worked."""

    def __init__(self) -> None:
        self.start = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        try:
            fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        except OSError:
            return time.perf_counter(), own, float("nan")
        # user, nice, system, irq, softirq and what the hypervisor took; neither idle nor waiting
        busy = sum(fields[i] for i in (0, 1, 2, 5, 6, 7)) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), own, busy

    def others(self) -> float:
        wall, own, busy = (b - a for a, b in zip(self.start, self._now(), strict=True))
        return max(0.0, (busy - own) / wall)


def seconds_a_step(contenders: dict[str, Callable[[int], None]], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Each contender's seconds a step, one value a round; they take turns."""
    numbers = {}
    for name, steps in contenders.items():
        steps(1)
        start = time.perf_counter()
        steps(1)
        numbers[name] = max(1, round(seconds / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, steps in contenders.items():
            start = time.perf_counter()
            steps(numbers[name])
            times[name].append((time.perf_counter() - start) / numbers[name])
    return times


def summary(times: dict[str, list[float]]) -> dict[str, Any]:
    """Median steps a second, and the spread of the time a step (largest over smallest)."""
    return {n: {"steps_per_second": 1 / median(t), "spread": max(t) / min(t)} for n, t in times.items()}


def ratio(times: dict[str, list[float]], slow: str, fast: str) -> float:
    """How many times as many steps a second: the median over the rounds."""
    return median(s / f for s, f in zip(times[slow], times[fast], strict=True))


def multiply_adds(settings: TrainingSettings, pairs: float) -> float:
    """Multiplications in the matrix products of one step of the count engine, forward and backward."""
    model = settings.model
    v, d, d_a = model.vocabulary.size, model.d, model.d_a
    stack = 2 * d_a + d
    total = 3 * v * v * d_a + 3 * pairs * v * v
    if not model.one_hot:
        total += 3 * stack * (d + 1) * v + 3 * v * v * (d + 2)
    return total


def _product_rate(size: int, seconds: float) -> float:
    torch.set_num_threads(1)
    a, b = torch.rand(size, size), torch.rand(size, size)
    out, number, start = torch.empty(size, size), 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(100):
            torch.mm(a, b, out=out)
        number += 100
    return number * size**3 / (time.perf_counter() - start)


def product_rate(size: int, workers: int) -> float:
    """Multiply-adds a second that all cores together reach on products of V x V matrices, one process each."""
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        return sum(pool.starmap(_product_rate, [(size, 1.0)] * workers))


def _bert_in_a_worker(settings: TrainingSettings, same_function: bool, steps: int) -> None:
    torch.set_num_threads(1)
    Bert(settings, same_function=same_function).steps(steps)


def _in_processes(settings: TrainingSettings, same_function: bool, steps: int, workers: int) -> float:
    """Seconds for ``steps`` of a run in each of ``workers`` processes, their start included."""
    context, start = multiprocessing.get_context("fork"), time.perf_counter()
    jobs = [context.Process(target=_bert_in_a_worker, args=(settings, same_function, steps)) for _ in range(workers)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    return time.perf_counter() - start


def _memory(name: str, settings: TrainingSettings, queue: Any) -> None:
    torch.set_num_threads(1)
    Ours(replace(settings, batch_size=1), "tokens").steps(1)  # what torch loads at the first use is nobody's
    try:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the imports
        before = _status("VmRSS")
        contender(name, settings).steps(3 if name != "counts" else 40)
        queue.put((_status("VmHWM") - before) / 1024)
    except OSError:  # not Linux
        queue.put(float("nan"))


def _status(field: str) -> int:
    """A number of kB in this process's status."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1])


def memory(name: str, settings: TrainingSettings) -> float:
    """MB that training takes, by the peak of a fresh process."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_memory, args=(name, settings, queue))
    process.start()
    used = float(queue.get())
    process.join()
    return used


def single_runs(rounds: int) -> dict[str, Any]:
    """One run, one thread each, at the paper's size."""
    found: dict[str, Any] = {}
    with num_threads(1):
        for kind, one_hot in (("one_hot", True), ("all_trained", False)):
            settings = make_settings(one_hot)
            names = ("counts", "tokens", "bert_same", "bert")
            times = seconds_a_step({n: contender(n, settings).steps for n in names}, rounds, SECONDS)
            found[kind] = {
                **summary(times),
                "ratios": {n: ratio(times, n, "counts") for n in names[1:]},
                "memory_mb": {n: memory(n, settings) for n in names},
            }
    return found


def sweeps(rounds: int, workers: int) -> dict[str, Any]:
    """64 runs (8 learning rates x 8 seeds, and 64 seeds) on all cores, per run, against BERT on all cores."""
    found: dict[str, Any] = {}
    rate = product_rate(101, workers)
    for kind, one_hot in (("one_hot", True), ("all_trained", False)):
        timed = make_settings(one_hot)
        settings = replace(timed, steps=SWEEP_STEPS, log_every=10, eval_every=100, eval_docs=200)
        rates = [replace(settings, learning_rate=float(r)) for r in np.geomspace(1e-3, 1e-2, 8)]
        plans = {"sweep": [(s, seed) for s in rates for seed in range(8)], "sweep_seeds": [(settings, i) for i in range(64)]}
        times: dict[str, list[float]] = {}

        def note(name: str, start: float, steps: int, times: dict[str, list[float]] = times) -> None:
            times.setdefault(name, []).append((time.perf_counter() - start) / steps)

        berts = {name: Bert(timed, same_function=name == "bert_same") for name in ("bert_same", "bert")}
        for _ in range(rounds):
            for name, runs in plans.items():
                start = time.perf_counter()
                Sweep(runs).run(workers=workers, progress=False)
                note(name, start, 64 * SWEEP_STEPS)
            for name, bert in berts.items():
                with num_threads(workers):  # one run on all cores
                    bert.steps(2)
                    start = time.perf_counter()
                    bert.steps(20)
                    note(f"{name}_threads", start, 20)
                short, long = (_in_processes(timed, name == "bert_same", steps, workers) for steps in (2, 42))
                times.setdefault(f"{name}_processes", []).append((long - short) / (40 * workers))
        ratios = {}
        for sweep in plans:
            for name in berts:  # against the quicker way of using all cores
                ratios[f"{sweep}/{name}"] = min(ratio(times, f"{name}_{way}", sweep) for way in ("threads", "processes"))
        pairs = len(draw(timed, 0, TRAINING, 0, 40 * timed.batch_size).pairs().docs) / 40
        share = multiply_adds(timed, pairs) / median(times["sweep"]) / rate
        found[kind] = {**summary(times), "ratios": ratios, "share_of_product_rate": share}
    return found | {"multiply_adds_per_second": rate, "workers": workers}


def lengths(rounds: int) -> dict[str, Any]:
    """Documents of N words with the same number of masked positions; every part trained, one thread."""
    found: dict[str, Any] = {}
    documents = {125: 40, 500: 40, 2000: 8, 8000: 1}  # that BERT gets: its attention grows with N^2
    with num_threads(1):
        counts = {n: contender("counts", make_settings(False, n)) for n in documents}
        times = seconds_a_step({str(n): c.steps for n, c in counts.items()}, rounds, SECONDS)
        found["counts"] = summary(times) | {"times_of_125": {n: ratio(times, str(n), "125") for n in documents}}
        for name in ("tokens", "bert_same"):
            slow = {}
            for n in documents:
                size = documents[n] if name == "bert_same" else 40
                run = contender(name, replace(make_settings(False, n), batch_size=size))
                start = time.perf_counter()
                run.steps(1 if n > 500 else 4)
                slow[n] = (time.perf_counter() - start) / (1 if n > 500 else 4) * 40 / size
            found[name] = {"seconds_per_step": slow, "times_of_125": {n: t / slow[125] for n, t in slow.items()}}
    return found


def vocabularies(rounds: int) -> dict[str, Any]:
    """V = 101 and 1001 (T = 10, v = 10 and 100), every part trained, as many threads as the library takes."""
    found = {}
    for words in (10, 100):
        settings = make_settings(False, words_per_topic=words)
        v = settings.model.vocabulary.size
        with num_threads(suitable_threads(v)):
            names = ("counts", "tokens", "bert_same", "bert")
            times = seconds_a_step({n: contender(n, settings).steps for n in names}, min(rounds, 3), SECONDS)
        found[v] = summary(times) | {
            "threads": suitable_threads(v),
            "ratios": {n: ratio(times, n, "counts") for n in names[1:]},
        }
    return found


def figures(workers: int) -> dict[str, float]:
    """Seconds for the trainings behind the paper's synthetic figures, evaluations included, on all cores."""
    plain = {"eval_every": 1000, "eval_docs": 1000}
    settings = [
        TrainingSettings.paper(loss=loss, optimizer=optimizer, steps=2000, **plain)
        for loss in ("cross_entropy", "squared")
        for optimizer in ("sgd", "adam")
    ]
    values = ModelSettings.paper(one_hot=True, uniform_attention=True)
    small = TrainingSettings.paper(steps=500, eval_every=500, model=ModelSettings.paper(one_hot=True))
    stages = [
        (replace(small, optimizer=o, learning_rate=rate, model=replace(small.model, init_scale=scale)), seed)
        for o in ("sgd", "adam")
        for scale in (0.001, 0.01)
        for rate in (0.001, 0.003, 0.01, 0.03)
        for seed in range(4)
    ]
    plans = {
        "one configuration, 8,000 steps": [(TrainingSettings.paper(steps=8000, **plain), 0)],
        "Figure 1, four settings, 2,000 steps": [(s, 0) for s in settings],
        "Figure 2, four settings, 2,000 steps": [(replace(s, model=values), 0) for s in settings],
        "Figure 4, 64 runs, 500 steps": stages,
    }
    seconds = {}
    for name, runs in plans.items():
        start = time.perf_counter()
        Sweep(runs).run(workers=workers, progress=False)
        seconds[name] = time.perf_counter() - start
    return seconds


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [f"{result['machine']['processor']}, {result['machine']['cores']} cores, torch {result['machine']['torch']}", ""]
    lines.append("One run, one thread each, batches included      steps a second  spread     counts is quicker by")
    for kind, rows in result["single"].items():
        for name in ("counts", "tokens", "bert_same", "bert"):
            by = "" if name == "counts" else f"{rows['ratios'][name]:8.1f}"
            row, memory_mb = rows[name], rows["memory_mb"][name]
            lines.append(
                f"  {kind:12} {name:10} {memory_mb:8.0f} MB {row['steps_per_second']:18.1f} {row['spread']:10.2f} {by:>18}"
            )
    lines += ["", f"64 runs on {result['sweeps']['workers']} cores, a run          steps a second  spread"]
    for kind in ("one_hot", "all_trained"):
        rows = result["sweeps"][kind]
        for name, row in rows.items():
            if isinstance(row, dict) and "steps_per_second" in row:
                lines.append(f"  {kind:12} {name:22} {row['steps_per_second']:14.1f} {row['spread']:10.2f}")
        lines.append(f"  {kind:12} " + ", ".join(f"{n} {r:.0f}" for n, r in rows["ratios"].items()))
        lines.append(f"  {kind:12} share of the cores' rate on products of this size: {rows['share_of_product_rate']:.2f}")
    lines += ["", "Time a step at document length N over that at N = 125, as many masked positions"]
    for name, rows in result["lengths"].items():
        lines.append(f"  {name:12} " + "  ".join(f"N={n}: {t:.2f}" for n, t in rows["times_of_125"].items()))
    lines += ["", "Vocabulary size, every part trained"]
    for v, rows in result["vocabularies"].items():
        lines.append(f"  V={v} ({rows['threads']} threads) " + "  ".join(f"{n} {r:.1f}" for n, r in rows["ratios"].items()))
    lines += ["", *(f"{name}: {seconds:.1f} s" for name, seconds in result["figures"].items())]
    lines += ["", "ratios " + "  ".join(f"{n} {r:.0f}" for n, r in result["ratios"].items())]
    lines.append(f"Other processes took {result['load']:.3f} of a core" + ("" if result["valid"] else ": too much, not valid"))
    return "\n".join(lines)


def main() -> int:
    """0 if the measurement is valid."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each contender")
    rounds = parser.parse_args().rounds
    workers, load = num_cores(), Load()
    result: dict[str, Any] = {
        "single": single_runs(rounds),
        "sweeps": sweeps(min(rounds, 3), workers),
        "lengths": lengths(rounds),
        "vocabularies": vocabularies(rounds),
        "figures": figures(workers),
    }
    result["load"] = load.others()
    result["valid"] = not result["load"] > MAX_LOAD
    result["machine"] = {
        "processor": platform.processor() or platform.machine(), "cores": workers, "torch": torch.__version__
    }  # fmt: skip
    single, many = result["single"], result["sweeps"]
    result["ratios"] = {
        "one_hot": single["one_hot"]["ratios"]["bert"],
        "one_hot_same_function": single["one_hot"]["ratios"]["bert_same"],
        "all_trained": single["all_trained"]["ratios"]["bert"],
        "all_trained_same_function": single["all_trained"]["ratios"]["bert_same"],
        "sweep64_per_run": many["all_trained"]["ratios"]["sweep/bert"],
        "sweep64_per_run_one_hot": many["one_hot"]["ratios"]["sweep/bert"],
        "sweep64_per_run_same_function": many["all_trained"]["ratios"]["sweep/bert_same"],
        "sweep64_per_run_one_hot_same_function": many["one_hot"]["ratios"]["sweep/bert_same"],
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table(result))
    return 0 if result["valid"] else 1


if __name__ == "__main__":
    sys.exit(main())
