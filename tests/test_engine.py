"""The step on counts with its gradient written out: against autograd on tokens, and against torch.optim."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from topiclib.counts import count_loss, token_scores
from topiclib.documents import DocumentSettings
from topiclib.engine import CountEngine, parameter_view, split
from topiclib.losses import l2_penalty, masked_loss
from topiclib.masking import MaskingSettings
from topiclib.model import PARAMETERS, ModelSettings, TopicTransformer
from topiclib.settings import LOSSES, OPTIMIZERS, TrainingSettings
from topiclib.word_counts import MaskedCounts, joined, sample_counts

MODELS = {
    "tiny": ModelSettings.tiny(),
    "d = 2, d_a = 1": ModelSettings.tiny(embedding_dim=2, attention_dim=1),
    "d = 3, d_a = 6": ModelSettings.tiny(embedding_dim=3, attention_dim=6),
    "d = V": ModelSettings.tiny(embedding_dim=None, attention_dim=None),
    "d > V": ModelSettings.tiny(embedding_dim=9, attention_dim=2),
    "one_hot": ModelSettings.tiny(embedding_dim=None, one_hot=True),
    "uniform": ModelSettings.tiny(uniform_attention=True),
    "one_hot, uniform": ModelSettings.tiny(embedding_dim=None, one_hot=True, uniform_attention=True),
    "no biases": ModelSettings.tiny(attention_biases=False),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_optimizer = pytest.mark.parametrize("optimizer", OPTIMIZERS)
PARTS = {**{name: (name,) for name in ("W_E", "W_K", "W_Q", "W_V", "b_pred")}, "biases": ("b_K", "b_Q", "b_V")}
# Runs of one engine: of very different lengths and numbers of pairs, so that most have fillers.
DOCUMENTS = [
    (DocumentSettings.tiny(min_len=1, max_len=4), MaskingSettings(0.2, 0.3, 0.3)),
    (DocumentSettings.tiny(min_len=2, max_len=25), MaskingSettings(0.9, 0.1, 0.8)),
    (DocumentSettings.tiny(mixture="fixed", overlap=0.2, min_len=43, max_len=50), MaskingSettings(0.1)),
]
BATCH_SIZE = 6


def random_model(settings: ModelSettings, seed: int, frozen: Sequence[str] = (), scale: float = 1) -> TopicTransformer:
    """In float64, with biases that are not 0 where the switches leave them free; then ``frozen`` is frozen."""
    model = TopicTransformer(settings, seed).double()
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.trained().items():
        parameter.data = scale * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.requires_grad_(name not in frozen)
    return model


def settings_of(model: ModelSettings, runs: int, **changes: Any) -> list[TrainingSettings]:
    settings = TrainingSettings.tiny(model=model, batch_size=BATCH_SIZE, **{"learning_rate": 0.05, **changes})
    return [replace(settings, documents=documents, masking=masking) for documents, masking in DOCUMENTS[3 - runs :]]


def blocks_of(settings: Sequence[TrainingSettings], steps: int, seed: int = 0) -> list[MaskedCounts]:
    return [sample_counts(s.documents, s.masking, steps * BATCH_SIZE, 100 * seed + i) for i, s in enumerate(settings)]


def step_of(block: MaskedCounts, step: int) -> MaskedCounts:
    return block.part(step * BATCH_SIZE, (step + 1) * BATCH_SIZE)


def gradients(model: TopicTransformer, loss: Tensor) -> dict[str, Tensor]:
    """By autograd, of every trained parameter; b_K's is 0, of which autograd sees rounding errors."""
    trained = model.trained()
    found = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
    return {n: torch.zeros_like(p) if g is None or n == "b_K" else g for (n, p), g in zip(trained.items(), found, strict=True)}


def assert_gradients(settings: Sequence[TrainingSettings], models: Sequence[TopicTransformer], context: object) -> None:
    """Loss and gradients of every run are autograd's on tokens; frozen parts do not move."""
    blocks = blocks_of(settings, 2)
    engine = CountEngine(settings, models)
    for step, batch in enumerate(engine.prepare(blocks, BATCH_SIZE)):
        with engine.context():
            losses, without = engine.loss_and_gradient(batch), engine.loss(batch)
        assert torch.allclose(losses, without, rtol=1e-13)
        for run, model in enumerate(models):
            expected = masked_loss(model, step_of(blocks[run], step).documents(), settings[0].loss)
            assert float(losses[run]) == pytest.approx(float(expected.detach()), rel=1e-12), context
            found = gradients(model, expected)
            largest = max(float(g.abs().max()) for g in found.values())
            for name, gradient in found.items():
                view = parameter_view(settings[0].model, name, engine.gradient)[run]
                assert torch.allclose(view, gradient, rtol=0, atol=1e-10 * largest), (context, run, name)
            if "b_K" in found:
                assert not parameter_view(settings[0].model, "b_K", engine.gradient).any()
    with engine.context():
        for batch in engine.prepare(blocks, BATCH_SIZE):
            engine.advance(batch)
    for run, model in enumerate(models):
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                assert torch.equal(engine.parameters[name][run], parameter), (context, run, name)
    assert bool((split(settings[0].model, engine.weights)[0][:, settings[0].model.d] == 1).all())


@every_model
@every_loss
@pytest.mark.parametrize("runs", [1, 3])
def test_gradients_are_autograds_whatever_is_frozen(runs: int, loss: str, model: ModelSettings) -> None:
    """Every combination of frozen parts that leaves something to train."""
    seen = set()
    for number in range(len(PARTS)):
        for parts in combinations(PARTS, number):
            models = [random_model(model, run, [name for part in parts for name in PARTS[part]]) for run in range(runs)]
            trained = tuple(models[0].trained())
            if trained and trained not in seen:
                seen.add(trained)
                optimizer = OPTIMIZERS[len(seen) % 2]
                settings = settings_of(model, runs, loss=loss, optimizer=optimizer, l2_coef=0.1 * (len(seen) % 3))
                assert_gradients(settings, models, (loss, optimizer, trained))
    assert len(seen) == {6: 63, 5: 31, 4: 15, 3: 7}[sum(not set(p) <= model.frozen_names() for p in PARTS.values())]


@every_loss
def test_gradients_where_a_frozen_embedding_is_the_identity_in_some_runs(loss: str) -> None:
    models = [random_model(MODELS["d = V"], run) for run in range(3)]
    for run, model in enumerate(models):
        model.set_weight("W_E", np.eye(7) if run < 2 else 2 * np.eye(7))
    settings = settings_of(MODELS["d = V"], 3, loss=loss)
    assert_gradients(settings, models, "mixed")
    assert_gradients(settings[:2], models[:2], "identity")
    assert CountEngine(settings[:2], models[:2]).identity
    assert not CountEngine(settings, models).identity


@every_loss
def test_gradients_where_an_embedding_that_is_trained_begins_as_the_identity(loss: str) -> None:
    models = [random_model(MODELS["d = V"], run) for run in range(3)]
    for model in models:
        model.set_weight("W_E", np.eye(7), freeze=False)
    assert_gradients(settings_of(MODELS["d = V"], 3, loss=loss), models, loss)
    settings = settings_of(MODELS["d = V"], 1, loss=loss, learning_rate=0.002)
    block = blocks_of(settings, 5)[0]
    engine, _ = by_engine(settings, models[:1], [block])
    by_torch(settings[0], models[0], block, 5)
    assert torch.allclose(engine.parameters["W_E"][0], models[0].W_E, rtol=0, atol=1e-9)


@every_loss
def test_gradients_where_uniform_attention_was_set_to_something_else(loss: str) -> None:
    models = [random_model(MODELS["uniform"], run) for run in range(3)]
    for model in models:
        model.set_weight("W_K", np.eye(4, 5))
        model.set_weight("W_Q", 2 * np.eye(4, 5))
        assert not model.has_uniform_attention()
    assert_gradients(settings_of(MODELS["uniform"], 3, loss=loss), models, loss)


@every_model
@every_loss
@pytest.mark.parametrize("runs", [1, 3])
def test_scores_in_the_thousands_give_what_the_tokens_give(runs: int, loss: str, model: ModelSettings) -> None:
    models = [random_model(model, run) for run in range(runs)]
    for m in models:
        with torch.no_grad():
            m.W_K *= 150
            m.W_Q *= 150
        assert model.uniform_attention or float(token_scores(m).abs().max().detach()) > 3000
    assert_gradients(settings_of(model, runs, loss=loss), models, loss)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores_are_finite_in_both_precisions(dtype: torch.dtype) -> None:
    models = [random_model(MODELS["tiny"], run, scale=20).to(dtype) for run in range(3)]
    settings = settings_of(MODELS["tiny"], 3)
    blocks = blocks_of(settings, 1)
    engine = CountEngine(settings, models)
    with engine.context():
        (batch,) = engine.prepare(blocks, BATCH_SIZE)
        losses = engine.loss_and_gradient(batch)
    assert losses.dtype == engine.gradient.dtype == dtype
    assert torch.isfinite(engine.gradient).all()
    for run, model in enumerate(models):
        expected = float(masked_loss(model, blocks[run].documents()).detach())
        assert float(losses[run]) == pytest.approx(expected, rel=1e-4 if dtype == torch.float32 else 1e-12)


def by_torch(settings: TrainingSettings, model: TopicTransformer, block: MaskedCounts, steps: int) -> list[float]:
    """Train ``model`` in place: autograd on counts, and torch.optim."""
    trained = model.trained()
    penalized = [p for name, p in trained.items() if settings.l2_on is None or name in settings.l2_on]
    make = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
    optimizer, losses = make(trained.values(), lr=settings.learning_rate), []
    for step in range(steps):
        loss = count_loss(model, step_of(block, step), settings.loss)
        losses.append(float(loss.detach()))
        optimizer.zero_grad()
        (loss + settings.l2_coef * l2_penalty(penalized)).backward()
        optimizer.step()
    return losses


def by_engine(
    settings: Sequence[TrainingSettings], models: Sequence[TopicTransformer], blocks: Sequence[MaskedCounts]
) -> tuple[CountEngine, np.ndarray]:
    """The engine after a step on each batch of ``blocks``, and the losses (R, steps)."""
    engine = CountEngine(settings, models)
    with engine.context():
        losses = torch.stack([engine.advance(batch) for batch in engine.prepare(blocks, BATCH_SIZE)], 1).numpy()
    return engine, losses


L2 = [{"l2_coef": 0.0}, {"l2_coef": 0.03}, {"l2_coef": 0.03, "l2_on": ("W_V", "b_K", "b_pred")}]


@every_model
@every_loss
@every_optimizer
@pytest.mark.parametrize("l2", L2, ids=["no L2", "L2", "l2_on"])
def test_fifty_updates_are_those_of_torch_optim(l2: dict[str, Any], optimizer: str, loss: str, model: ModelSettings) -> None:
    rates = {("sgd", "cross_entropy"): 0.1, ("sgd", "squared"): 0.003}
    settings = settings_of(model, 1, optimizer=optimizer, loss=loss, **l2)
    settings = [replace(settings[0], learning_rate=rates.get((optimizer, loss), 0.01))]
    models, (block,) = [random_model(model, 3, scale=0.5)], blocks_of(settings, 50)
    engine, losses = by_engine(settings, models, [block])
    expected = by_torch(settings[0], models[0], block, 50)
    assert np.allclose(losses[0], expected, rtol=0, atol=1e-9)
    assert abs(expected[-1]) < 1e3
    for name, parameter in models[0].named_parameters():
        assert torch.allclose(engine.parameters[name][0], parameter, rtol=0, atol=1e-9), name


@every_optimizer
@pytest.mark.parametrize("model", [MODELS["tiny"], MODELS["d = 2, d_a = 1"], MODELS["one_hot"]], ids=["tiny", "small", "one_hot"])
def test_updates_with_l2_are_those_of_torch_optim_whatever_is_trained(model: ModelSettings, optimizer: str) -> None:
    """Also a bias alone, b_K with nothing but the penalty to move it, and parts with others frozen between them."""
    settings = settings_of(model, 1, optimizer=optimizer, l2_coef=0.3)
    (block,) = blocks_of(settings, 4)
    for number in range(1, len(PARAMETERS) + 1):
        # All of few parts or many, and every fourth of the 182 combinations between.
        for trained in list(combinations(PARAMETERS, number))[:: 4 if number in (3, 4, 5) else 1]:
            given = random_model(model, 4, [name for name in PARAMETERS if name not in trained])
            if not given.trained():
                continue
            engine, _ = by_engine(settings, [given], [block])
            by_torch(settings[0], given, block, 4)
            for name, parameter in given.named_parameters():
                assert torch.allclose(engine.parameters[name][0], parameter, rtol=0, atol=1e-9), (trained, name)


def three_runs(optimizer: str, loss: str, model: ModelSettings, **changes: Any) -> list[TrainingSettings]:
    """Different documents, masks, learning rates and penalties."""
    rates, coefs = ([0.1, 0.03, 0.004], [0.0, 0.1, 0.02]) if loss == "cross_entropy" else ([0.003, 0.002, 0.001], [0.1, 0.0, 0.3])
    settings = settings_of(model, 3, optimizer=optimizer, loss=loss, **changes)
    return [replace(s, learning_rate=rates[i], l2_coef=coefs[i]) for i, s in enumerate(settings)]


@every_model
@every_loss
@every_optimizer
@pytest.mark.parametrize("own_rates", [True, False])
def test_runs_in_one_engine_are_the_runs_alone(own_rates: bool, optimizer: str, loss: str, model: ModelSettings) -> None:
    """Whatever the fillers of runs with fewer pairs and positions are."""
    settings = three_runs(optimizer, loss, model)
    if not own_rates:
        settings = [replace(s, learning_rate=0.002, l2_coef=0.01) for s in settings]
    models = [random_model(model, run, scale=0.5) for run in range(3)]
    blocks = blocks_of(settings, 20)
    sizes = [len(block.pairs().docs) for block in blocks]
    assert model.uniform_attention or max(sizes) > 1.3 * min(sizes)
    assert max(len(block.docs) for block in blocks) > 5 * min(len(block.docs) for block in blocks)
    together, losses = by_engine(settings, models, blocks)
    for run in range(3):
        alone, expected = by_engine(settings[run : run + 1], models[run : run + 1], blocks[run : run + 1])
        assert np.allclose(losses[run], expected[0], rtol=1e-12, atol=1e-12)
        assert torch.allclose(together.weights[run], alone.weights[0], rtol=1e-12, atol=1e-12)


@every_model
@every_optimizer
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_run_that_is_not_finite_disturbs_no_other(broken: int, optimizer: str, model: ModelSettings) -> None:
    settings = settings_of(model, 3, optimizer=optimizer)
    models = [random_model(model, run, scale=0.5) for run in range(3)]
    blocks = blocks_of(settings, 5)
    _, expected = by_engine(settings, models, blocks)
    with torch.no_grad():
        models[broken].W_V[0, 0] = float("nan")
        models[broken].b_K[0] = float("inf")
        models[broken].b_Q[0] = float("inf")
    _, losses = by_engine(settings, models, blocks)
    others = [run for run in range(3) if run != broken]
    assert not np.isfinite(losses[broken]).any()
    assert np.allclose(losses[others], expected[others], rtol=1e-12)


@every_optimizer
def test_frozen_parts_stay_even_where_the_others_are_no_longer_finite(optimizer: str) -> None:
    (settings,) = settings_of(MODELS["tiny"], 1, optimizer=optimizer, l2_coef=0.1)
    model = random_model(MODELS["tiny"], 0, ["W_K", "b_V"])
    with torch.no_grad():
        model.W_V[0, 0] = float("nan")
    engine, losses = by_engine([settings], [model], blocks_of([settings], 2))
    assert np.isnan(losses).all()
    for name in ("W_K", "b_V"):
        assert torch.equal(engine.parameters[name][0], getattr(model, name)), name


def copy(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in state.items()}


@every_model
@every_loss
@every_optimizer
def test_a_loaded_state_goes_on_exactly(optimizer: str, loss: str, model: ModelSettings) -> None:
    settings = three_runs(optimizer, loss, model)
    blocks = blocks_of(settings, 12)
    whole = CountEngine(settings, [random_model(model, run, scale=0.5) for run in range(3)])
    # Other weights to begin with, so that only what was loaded can be right.
    other = CountEngine(settings, [random_model(model, run, scale=0.5) for run in (7, 8, 9)])
    with whole.context():
        batches = whole.prepare(blocks, BATCH_SIZE)
        for batch in batches[:5]:
            whole.advance(batch)
        state = copy(whole.state())
        expected = [whole.advance(batch) for batch in batches[5:]]
    other.load(state)
    with other.context():
        found = [other.advance(batch) for batch in other.prepare(blocks, BATCH_SIZE)[5:]]
    assert torch.equal(torch.stack(found), torch.stack(expected))
    assert torch.equal(other.weights, whole.weights)
    assert copy(other.state()).keys() == state.keys()
    assert all(torch.equal(value, whole.state()[name]) for name, value in other.state().items())


@pytest.mark.parametrize("runs", [1, 3])
def test_a_batch_is_that_steps_documents(runs: int) -> None:
    """One block cut into steps gives the losses of the steps prepared one by one."""
    settings = settings_of(MODELS["tiny"], runs)
    blocks = blocks_of(settings, 7)
    engine = CountEngine(settings, [random_model(MODELS["tiny"], run) for run in range(runs)])
    batches = engine.prepare(blocks, BATCH_SIZE)
    assert len(batches) == 7
    with engine.context():
        for step, batch in enumerate(batches):
            (alone,) = engine.prepare([step_of(block, step) for block in blocks], BATCH_SIZE)
            assert torch.allclose(engine.loss(batch), engine.loss(alone), rtol=1e-13)
        (all_at_once,) = engine.prepare(blocks, 7 * BATCH_SIZE)
        mean = torch.stack([engine.loss(batch) for batch in batches]).mean(0)
        assert torch.allclose(engine.loss(all_at_once), mean, rtol=1e-13)


@every_model
def test_weights_are_read_once_and_written_back(model: ModelSettings) -> None:
    settings = settings_of(model, 3)
    models = [random_model(model, run) for run in range(3)]
    before = [{n: p.detach().clone() for n, p in m.named_parameters()} for m in models]
    engine, _ = by_engine(settings, models, blocks_of(settings, 2))
    for m, weights in zip(models, before, strict=True):
        assert all(torch.equal(p, weights[name]) for name, p in m.named_parameters())
    engine.write_back(models)
    for run, m in enumerate(models):
        for name, parameter in m.named_parameters():
            assert torch.equal(parameter, engine.parameters[name][run])
            assert torch.equal(parameter, before[run][name]) == (not parameter.requires_grad or name == "b_K"), name


@every_model
def test_every_parameter_has_a_place_of_its_own(model: ModelSettings) -> None:
    size = (model.d + 2) * model.vocabulary.size + (2 * model.d_a + model.d) * (model.d + 1)
    flat = torch.zeros(2, size)
    for name in PARAMETERS:
        view = parameter_view(model, name, flat)
        assert view.shape == (2, *model.shape_of(name))
        view += 1
    split(model, flat)[0][:, model.d] += 1
    assert bool((flat == 1).all())


def test_joined_batches_of_one_run_are_one_block() -> None:
    settings = settings_of(MODELS["tiny"], 1)
    (block,) = blocks_of(settings, 3)
    engine = CountEngine(settings, [random_model(MODELS["tiny"], 0)])
    parts = joined([step_of(block, step) for step in range(3)])
    with engine.context():
        for batch, other in zip(engine.prepare([block], BATCH_SIZE), engine.prepare([parts], BATCH_SIZE), strict=True):
            assert torch.equal(engine.loss(batch), engine.loss(other))
