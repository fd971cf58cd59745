from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import topiclib.engine as engine
import topiclib.lockstep as lockstep
from topiclib.documents import DocumentSettings, sample_documents
from topiclib.history import History
from topiclib.lockstep import EVALUATION, LAST, TRAINING, cosine_distances, draw
from topiclib.losses import masked_loss
from topiclib.masking import MaskingSettings, mask_documents
from topiclib.model import PARAMETERS, WEIGHTS, ModelSettings, TopicTransformer
from topiclib.training import DivergenceError, TrainingRun, TrainingSettings, held_out_loss, sample_batch, train
from topiclib.vocabulary import Vocabulary
from topiclib.word_counts import MaskedCounts, sample_counts

LOSSES = ("cross_entropy", "squared")
OPTIMIZERS = ("sgd", "adam")


def run(settings: TrainingSettings, seed: int = 0, **options: Any) -> TrainingRun:
    return train(settings, seed=seed, progress=False, **options)


def weights(model: TopicTransformer) -> dict[str, np.ndarray]:
    return {name: p.detach().numpy().copy() for name, p in model.named_parameters()}


def assert_same_weights(a: TopicTransformer, b: TopicTransformer) -> None:
    for name, value in weights(a).items():
        assert np.array_equal(value, weights(b)[name]), name


def assert_same_curves(a: History, b: History) -> None:
    for name, values in a.arrays().items():
        assert np.array_equal(values, b.arrays()[name], equal_nan=True), name


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_two_runs_give_identical_numbers(loss: str, optimizer: str) -> None:
    settings = TrainingSettings.tiny(loss=loss, optimizer=optimizer, snapshots=(0, 20))
    first, again = run(settings, 3), run(settings, 3)
    assert_same_weights(first.model, again.model)
    assert_same_curves(first.history, again.history)


def test_another_seed_gives_another_run() -> None:
    first, other = run(TrainingSettings.tiny(), 0), run(TrainingSettings.tiny(), 1)
    assert first.history.train_loss != other.history.train_loss
    assert not np.array_equal(weights(first.model)["W_V"], weights(other.model)["W_V"])


@pytest.mark.parametrize(
    "changes", [{"eval_every": 1}, {"eval_every": 3, "eval_docs": 50}, {"log_every": 1}, {"snapshots": (0, 3, 20)}]
)
def test_what_is_recorded_does_not_change_the_training(changes: dict[str, Any]) -> None:
    plain, recorded = run(TrainingSettings.tiny()), run(TrainingSettings.tiny(**changes))
    assert_same_weights(plain.model, recorded.model)
    assert plain.history.train_loss == recorded.history.train_loss


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_goes_down(loss: str, optimizer: str) -> None:
    settings = TrainingSettings.tiny(loss=loss, optimizer=optimizer, learning_rate=0.03, steps=300, eval_every=300, eval_docs=500)
    before, after = run(settings).history.held_out_loss
    assert after < 0.95 * before


@pytest.mark.parametrize("l2_coef", [0.0, 0.1])
def test_one_sgd_step_is_the_gradient_step(l2_coef: float) -> None:
    settings = TrainingSettings.tiny(optimizer="sgd", steps=1, learning_rate=0.5, l2_coef=l2_coef)
    model = TopicTransformer(settings.model, 4)
    # Documents are drawn in blocks of many steps; the first batch of the first block is the first step's.
    block = draw(settings, 4, TRAINING, 0, settings.batch_size * (lockstep.BLOCK_DOCS // settings.batch_size))
    loss = masked_loss(model, block.part(0, settings.batch_size).documents())
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    after = run(settings, 4)
    assert after.history.train_loss == pytest.approx([float(loss.detach())], rel=1e-6)
    for (name, p), gradient in zip(model.named_parameters(), gradients, strict=True):
        expected = p - 0.5 * (gradient + 2 * l2_coef * p)
        assert torch.allclose(getattr(after.model, name), expected, atol=1e-6), name


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", PARAMETERS)
def test_a_frozen_part_does_not_move(name: str, optimizer: str) -> None:
    settings = TrainingSettings.tiny(model=ModelSettings.tiny(frozen=(name,)), optimizer=optimizer, l2_coef=0.1)
    before, after = weights(TopicTransformer(settings.model, 0)), weights(run(settings).model)
    moved = {n for n in PARAMETERS if not np.array_equal(before[n], after[n])}
    assert name not in moved
    # Adding b_K to every key changes no softmax: its gradient is 0 but for rounding, so it may stay.
    assert moved | {"b_K"} == (set(PARAMETERS) - {name}) | {"b_K"}


@pytest.mark.parametrize(
    ("switches", "still"),
    [
        ({"one_hot": True, "embedding_dim": None}, {"W_E"}),
        ({"uniform_attention": True}, {"W_K", "W_Q", "b_K", "b_Q"}),
        ({"attention_biases": False}, {"b_K", "b_Q", "b_V"}),
    ],
)
def test_switches_fix_their_parts(switches: dict[str, Any], still: set[str]) -> None:
    settings = TrainingSettings.tiny(model=ModelSettings.tiny(**switches), l2_coef=0.1)
    before, after = weights(TopicTransformer(settings.model, 0)), weights(run(settings).model)
    assert all(np.array_equal(before[n], after[n]) for n in still)
    assert all(not np.array_equal(before[n], after[n]) for n in WEIGHTS if n not in still)


def test_a_part_frozen_by_set_weight_does_not_move() -> None:
    settings = TrainingSettings.tiny()
    model = TopicTransformer(settings.model, 0)
    model.set_weight("W_V", np.eye(5))
    assert np.array_equal(weights(run(settings, model=model).model)["W_V"], np.eye(5))


def test_a_given_model_is_trained_in_place() -> None:
    settings = TrainingSettings.tiny()
    model = TopicTransformer(settings.model, 9)
    before = weights(model)
    result = run(settings, 0, model=model)
    assert result.model is model
    assert not np.array_equal(before["W_V"], weights(model)["W_V"])
    assert result.history.norm_W_V[0] == pytest.approx(float(np.linalg.norm(before["W_V"])), rel=1e-6)


@pytest.mark.parametrize("named", [("W_K",), ("W_V", "b_pred"), ("W_E", "W_Q")])
def test_l2_shrinks_the_named_parts_only(named: tuple[str, ...]) -> None:
    plain = TrainingSettings.tiny(optimizer="sgd", steps=1, learning_rate=0.1)
    penalized = replace(plain, l2_coef=0.7, l2_on=named)
    without, with_l2, start = run(plain).model, run(penalized).model, weights(TopicTransformer(plain.model, 0))
    for name in PARAMETERS:
        difference = weights(with_l2)[name] - weights(without)[name]
        if name in named:
            assert np.allclose(difference, -0.1 * 2 * 0.7 * start[name], atol=1e-6), name
        else:
            assert not difference.any(), name


def test_l2_leaves_the_recorded_losses_as_they_are() -> None:
    settings = TrainingSettings.tiny(steps=1, eval_every=1)
    plain, penalized = run(settings).history, run(replace(settings, l2_coef=5.0)).history
    assert plain.train_loss == penalized.train_loss
    assert plain.held_out_loss[0] == penalized.held_out_loss[0]


def test_divergence_says_step_loss_and_learning_rate() -> None:
    settings = TrainingSettings.tiny(loss="squared", optimizer="sgd", learning_rate=1234.0)
    with pytest.raises(DivergenceError) as caught:
        run(settings)
    error = caught.value
    assert f"at step {error.step}:" in str(error)
    assert f"the loss is {error.loss:g}" in str(error)
    assert "learning_rate (now 1234; 123.4 is a first guess)" in str(error)
    assert not error.loss <= 1e6
    assert 0 < error.step == len(error.history.train_loss) < settings.steps


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 2e6])
def test_a_loss_out_of_range_is_a_divergence(bad: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.CountEngine, "advance", lambda self, batch: torch.tensor([bad]))
    with pytest.raises(DivergenceError, match=rf"at step 0: the loss is {bad:g}".replace("+", r"\+")):
        run(TrainingSettings.tiny())


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_as_asked_and_restored(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def spy(*arguments: Any) -> MaskedCounts:
        seen.add(torch.get_num_threads())
        return sample_counts(*arguments)

    monkeypatch.setattr(lockstep, "sample_counts", spy)
    found = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        run(TrainingSettings.tiny(steps=2), threads=threads)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(found)
    assert seen == {threads}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_threads_are_restored_after_an_error(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> MaskedCounts:
        assert torch.get_num_threads() == 1
        raise error

    monkeypatch.setattr(lockstep, "sample_counts", fail)
    found = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with pytest.raises(error):
            run(TrainingSettings.tiny())
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(found)


def documents_of(settings: TrainingSettings, monkeypatch: pytest.MonkeyPatch) -> dict[int, list[MaskedCounts]]:
    """What a run draws from each of its streams."""
    seen: dict[int, list[MaskedCounts]] = {TRAINING: [], EVALUATION: [], LAST: []}

    def spy(settings: TrainingSettings, seed: int, stream: int, number: int, num_docs: int) -> MaskedCounts:
        seen[stream].append(draw(settings, seed, stream, number, num_docs))
        return seen[stream][-1]

    monkeypatch.setattr(lockstep, "draw", spy)
    run(settings)
    return seen


def rows_of(batches: list[MaskedCounts]) -> list[bytes]:
    """The masked documents as bytes: counts, and the selected positions with what they show."""
    rows = []
    for batch in batches:
        for doc in range(len(batch)):
            part = batch.part(doc, doc + 1)
            rows.append(part.counts.tobytes() + part.shown.tobytes() + part.targets.tobytes())
    return rows


# Documents so long that two independent ones agree with probability below 1e-20. Batches of one size, so that
# generators that are not independent would draw the same ones.
LONG = TrainingSettings.tiny(documents=DocumentSettings.tiny(min_len=60, max_len=60), batch_size=8, eval_docs=8, eval_every=4)


def test_every_step_has_fresh_documents_and_masks_and_no_stream_repeats_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "BLOCK_DOCS", 32)  # four steps a block, so that there are several
    seen = documents_of(LONG, monkeypatch)
    assert [len(seen[stream]) for stream in (TRAINING, EVALUATION, LAST)] == [5, 6, 1]
    rows = rows_of([batch for batches in seen.values() for batch in batches])
    assert len(rows) == 5 * 32 + 6 * 8 + 8
    assert len(set(rows)) == len(rows)


def test_history_records_at_the_steps_asked_for() -> None:
    settings = TrainingSettings.tiny(steps=11, log_every=3, eval_every=5, snapshots=(0, 4, 11))
    result = run(settings)
    history = result.history
    assert (result.step, len(history.train_loss)) == (11, 11)
    assert history.log_steps == [0, 3, 6, 9]
    assert history.eval_steps == [0, 5, 10]
    assert sorted(history.snapshots) == [0, 4, 11]
    assert {len(values) for name, values in history.arrays().items() if "norm" in name or "rotation" in name} == {4}
    assert len(history.held_out_loss) == 3


def test_norms_and_rotation_are_those_of_the_snapshots() -> None:
    history = run(TrainingSettings.tiny(log_every=5, snapshots=(0, 5, 10, 15, 20))).history
    for k, step in enumerate(history.log_steps):
        for name in WEIGHTS:
            norm = float(np.linalg.norm(history.snapshots[step][name]))
            assert history.arrays()[f"norm_{name}"][k] == pytest.approx(norm, rel=1e-5)
    assert np.isnan(history.rotation_W_V[0])
    for k in range(1, 5):
        a, b = (history.snapshots[5 * j]["W_V"].astype(float) for j in (k - 1, k))
        cosine = (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())
        assert history.rotation_W_V[k] == pytest.approx((1 - cosine) / 2, abs=1e-6)


def test_snapshots_are_copies_of_the_parameters_at_their_step() -> None:
    result = run(TrainingSettings.tiny(snapshots=(0, 5, 20)))
    for step, expected in ((0, TopicTransformer(result.settings.model, 0)), (5, run(TrainingSettings.tiny(steps=5)).model)):
        for name, value in result.history.weights(step).items():
            assert torch.equal(value, getattr(expected, name)), (step, name)
    assert all(torch.equal(v, getattr(result.model, n)) for n, v in result.history.weights(20).items())


def test_a_step_without_snapshot_names_those_there_are() -> None:
    history = run(TrainingSettings.tiny(snapshots=(0, 5))).history
    with pytest.raises(KeyError, match=r"step = 4: must be one of \[0, 5\]"):
        history.weights(4)


@pytest.mark.parametrize("loss", LOSSES)
def test_held_out_loss_is_equation_1_on_fresh_documents(loss: str) -> None:
    settings = TrainingSettings.tiny(loss=loss)
    model = TopicTransformer(settings.model, 0)
    value = held_out_loss(model, settings, 8, 5)
    batch = sample_counts(settings.documents, settings.masking, 8, 5).documents()
    assert value == pytest.approx(float(masked_loss(model, batch, loss).detach()), rel=1e-6)
    assert value != held_out_loss(model, settings, 8, 6)
    assert model.W_V.grad is None


def test_sample_batch_draws_documents_and_masks_from_one_generator() -> None:
    settings = TrainingSettings.tiny()
    seeded, given = sample_batch(settings, 50, 3), sample_batch(settings, 50, np.random.default_rng(3))
    assert np.array_equal(seeded.inputs, given.inputs)
    rng = np.random.default_rng(3)
    documents = sample_documents(settings.documents, 50, rng)
    masked = mask_documents(documents.tokens, settings.documents.vocabulary, settings.masking, rng)
    assert np.array_equal(seeded.inputs, masked.inputs)
    assert np.array_equal(seeded.selected, masked.selected)


def test_sample_batch_takes_a_numpy_seed_as_a_seed() -> None:
    settings = TrainingSettings.tiny()
    one, other = sample_batch(settings, 50, 3), sample_batch(settings, 50, np.int64(3))  # type: ignore[arg-type]
    assert np.array_equal(one.inputs, other.inputs)
    assert np.array_equal(one.selected, other.selected)


def test_a_numpy_seed_is_taken_as_a_seed() -> None:
    assert_same_weights(run(TrainingSettings.tiny(), np.int64(2)).model, run(TrainingSettings.tiny(), 2).model)  # type: ignore[arg-type]


@pytest.mark.parametrize(("a", "b", "distance"), [([1, 0], [2, 0], 0), ([1, 0], [0, 3], 0.5), ([1, 0], [-1, 0], 1)])
def test_cosine_distance_by_hand(a: list[float], b: list[float], distance: float) -> None:
    runs = torch.tensor([[a], [[5.0, 5.0]]]), torch.tensor([[b], [[5.0, 5.0]]])
    assert cosine_distances(*runs) == pytest.approx([distance, 0], abs=1e-7)


def test_cosine_distance_of_a_zero_matrix_is_nan() -> None:
    assert np.isnan(cosine_distances(torch.zeros(1, 2, 2), torch.ones(1, 2, 2))).all()


def test_presets_are_the_papers() -> None:
    paper = TrainingSettings.paper()
    assert paper.documents == DocumentSettings.paper()
    assert paper.masking == MaskingSettings.paper()
    assert paper.model == ModelSettings.paper()
    assert (paper.learning_rate, paper.batch_size, paper.l2_coef, paper.model.vocabulary) == (0.01, 40, 0, Vocabulary(10, 10))
    assert TrainingSettings.tiny(steps=3).steps == 3


@pytest.mark.parametrize(
    ("setting", "option", "drawn"), [("0", None, False), ("1", None, True), ("0", True, True), ("1", False, False)]
)
def test_progress_bar_is_drawn_as_asked(
    setting: str, option: bool | None, drawn: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOPICLIB_PROGRESS", setting)
    train(TrainingSettings.tiny(steps=2), seed=0, progress=option)
    assert bool(capsys.readouterr().err) == drawn


def test_divergence_in_the_very_last_update_is_noticed() -> None:
    settings = TrainingSettings.tiny(loss="squared", optimizer="sgd", learning_rate=1e38, steps=1)
    with pytest.raises(DivergenceError, match="diverged at step 1: the loss is nan"):
        train(settings, seed=0, progress=False)
