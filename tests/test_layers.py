import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from topiclib.documents import PAD, DocumentSettings, sample_documents
from topiclib.grammar import SandboxSettings, sample_sandbox
from topiclib.layers import LayeredSettings, LayeredTransformer
from topiclib.layers_metrics import attention_by_offset, attention_ratios, sandbox_contrasts
from topiclib.layers_training import LayeredTraining, batch_of, layered_loss, loss_parts, sample_batches, train_layered
from topiclib.losses import masked_loss
from topiclib.masking import MaskedDocuments, MaskingSettings, mask_documents
from topiclib.model import ModelSettings, TopicTransformer
from topiclib.vocabulary import Relation, Vocabulary
from topiclib.word_counts import count_documents

DOCUMENTS = DocumentSettings.tiny()
VOCABULARY = DOCUMENTS.vocabulary
TINY = LayeredSettings(VOCABULARY, embedding_dim=5, attention_dim=4, init_scale=0.7)
TRAINING = LayeredTraining(TINY, DOCUMENTS, MaskingSettings(0.3), steps=6, batch_size=8, log_every=2)
BOX = SandboxSettings.tiny()
SWITCHES = [(residual, layer_norm) for residual in (False, True) for layer_norm in (False, True)]
every_switch = pytest.mark.parametrize(("residual", "layer_norm"), SWITCHES)


def masked(num_docs: int = 6, seed: int = 0) -> MaskedDocuments:
    tokens = sample_documents(DOCUMENTS, num_docs, seed).tokens
    return mask_documents(tokens, VOCABULARY, MaskingSettings(0.3, 0.2, 0.2), seed)


def double(settings: LayeredSettings, seed: int = 0) -> LayeredTransformer:
    return LayeredTransformer(settings, seed).double()


class TestOneLayerIsThePapersModel:
    @pytest.mark.parametrize("switch", [{}, {"one_hot": True, "embedding_dim": 7}, {"uniform_attention": True}])
    def test_with_the_same_weights_predictions_attention_and_loss_agree(self, switch: dict[str, Any]) -> None:
        ours = double(replace(TINY, num_layers=1, **switch))
        paper = TopicTransformer(ModelSettings.tiny(attention_biases=False, **switch), 1).double()
        for name in ("W_E", "W_K", "W_Q", "W_V"):
            value = getattr(ours, name).detach()
            paper.set_weight(name, value if name == "W_E" else value[0])
        ours.b_pred.data.normal_(generator=torch.Generator().manual_seed(2))
        paper.set_weight("b_pred", ours.b_pred)
        documents = masked()
        tokens = torch.from_numpy(documents.inputs)
        real = (tokens != PAD)[:, None, :]
        torch.testing.assert_close(ours(tokens) * real, paper(tokens) * real)
        torch.testing.assert_close(ours.attention(tokens)[0] * real, paper.attention(tokens) * real)
        by_paper = masked_loss(paper, documents)
        for positions in (True, False):
            torch.testing.assert_close(layered_loss(ours, batch_of(documents, VOCABULARY, positions=positions)), by_paper)

    def test_the_value_path_is_the_paper_s_product(self) -> None:
        model = double(replace(TINY, num_layers=2))
        expected = model.W_E.T @ model.W_V[1] @ model.W_E
        torch.testing.assert_close(model.value_path(2), expected.detach())
        with pytest.raises(ValueError, match="layer = 0: must be a whole number from 1 to 2"):
            model.value_path(0)

    @pytest.mark.parametrize("residual", [False, True])
    def test_the_whole_path_is_the_prediction_with_uniform_attention(self, residual: bool) -> None:
        model = double(replace(TINY, num_layers=3, residual=residual, uniform_attention=True))
        # One token alone: all attention is on it.
        found = torch.cat([model(torch.tensor([[token]])) for token in range(7)])[:, :, 0].T
        torch.testing.assert_close(model.whole_path(), found.detach())


class TestCounts:
    @every_switch
    @pytest.mark.parametrize("num_layers", [1, 2, 3])
    def test_loss_and_gradient_on_counts_are_those_on_tokens(self, num_layers: int, residual: bool, layer_norm: bool) -> None:
        model = double(replace(TINY, num_layers=num_layers, residual=residual, layer_norm=layer_norm))
        documents, gradients = masked(), []
        for positions in (True, False):
            model.zero_grad()
            loss = layered_loss(model, batch_of(documents, VOCABULARY, positions=positions))
            loss.backward()  # type: ignore[no-untyped-call]
            gradients.append([loss.detach(), *(p.grad for p in model.trained().values())])
        torch.testing.assert_close(*gradients)

    def test_positions_with_the_same_token_have_the_same_vector_in_every_layer(self) -> None:
        model = double(replace(TINY, num_layers=3, residual=True, layer_norm=True))
        tokens = torch.tensor([[3, 1, 3, 0, 1, 3]])
        counts = torch.tensor([[1, 2, 3]])
        columns = model.states(tokens)
        distinct = model.states(torch.tensor([[0, 1, 3]]), counts)
        for one, other in zip(columns, distinct, strict=True):
            torch.testing.assert_close(one[:, :, [3, 1, 0]], other)
            torch.testing.assert_close(one[:, :, 0], one[:, :, 5])

    def test_attention_on_counts_is_that_of_all_appearances_together(self) -> None:
        model = double(replace(TINY, num_layers=2))
        by_position = model.attention(torch.tensor([[3, 1, 3, 0, 1, 3]]))
        by_token = model.attention(torch.tensor([[0, 1, 3]]), torch.tensor([[1, 2, 3]]))
        for one, other in zip(by_position, by_token, strict=True):
            rows = torch.stack([one[0, at].sum(dim=0) for at in ([3], [1, 4], [0, 2, 5])])
            torch.testing.assert_close(rows[:, [3, 1, 0]], other[0])

    def test_masked_documents_and_their_counts_make_the_same_batch(self) -> None:
        documents = masked()
        one = batch_of(documents, VOCABULARY, positions=False)
        other = batch_of(count_documents(documents, VOCABULARY), VOCABULARY, positions=False)
        for name in ("tokens", "counts", "queries", "index", "targets", "weights"):
            torch.testing.assert_close(getattr(one, name), getattr(other, name))
        assert one.counts is not None
        assert one.counts.sum().item() == (documents.inputs != PAD).sum()


class TestSwitches:
    @every_switch
    def test_columns_of_attention_sum_to_one_and_padding_gets_nothing(self, residual: bool, layer_norm: bool) -> None:
        model = LayeredTransformer(replace(TINY, num_layers=3, residual=residual, layer_norm=layer_norm, positions=12), 0)
        tokens = torch.from_numpy(masked().inputs)
        for a in model.attention(tokens):
            torch.testing.assert_close(a.sum(dim=1), torch.ones(a.shape[0], a.shape[2]))
            assert not a[tokens == PAD].any()

    @every_switch
    def test_padding_changes_nothing(self, residual: bool, layer_norm: bool) -> None:
        model = double(replace(TINY, num_layers=2, residual=residual, layer_norm=layer_norm, positions=9))
        short, long = torch.tensor([[1, 4, 0]]), torch.tensor([[1, 4, 0, PAD, PAD]])
        torch.testing.assert_close(model(short), model(long)[:, :, :3])

    def test_only_positions_see_the_order(self) -> None:
        tokens, order = torch.tensor([[1, 4, 0, 6]]), [2, 0, 3, 1]
        for positions in (None, 4):
            model = double(replace(TINY, positions=positions))
            same = torch.allclose(model(tokens)[:, :, order], model(tokens[:, order]))
            assert same == (positions is None)

    def test_a_residual_layer_with_no_values_passes_its_input_on(self) -> None:
        for residual in (True, False):
            model = double(replace(TINY, residual=residual))
            model.W_V.data.zero_()
            tokens = torch.tensor([[1, 4, 0]])
            wanted = (model.W_E.T @ model.W_E[:, [1, 4, 0]])[None] * residual
            torch.testing.assert_close(model(tokens), wanted)

    def test_with_layer_norm_the_size_of_the_embeddings_does_not_matter_to_attention(self) -> None:
        tokens = torch.tensor([[1, 4, 0]])
        for layer_norm in (True, False):
            model = double(replace(TINY, num_layers=1, layer_norm=layer_norm))
            before = model.attention(tokens)[0]
            model.W_E.data *= 10
            assert torch.allclose(before, model.attention(tokens)[0], atol=1e-4) == layer_norm

    def test_queries_are_columns_of_the_whole_prediction(self) -> None:
        for residual in (True, False):
            model = double(replace(TINY, residual=residual, layer_norm=True))
            tokens, queries = torch.tensor([[1, 4, 0], [2, 2, 5]]), torch.tensor([[2, 0], [1, 1]])
            whole = model(tokens)
            expected = torch.stack([whole[b][:, queries[b]] for b in range(2)])
            torch.testing.assert_close(model(tokens, None, queries), expected)

    def test_a_switch_leaves_the_other_weights_as_they_were(self) -> None:
        one = LayeredTransformer(TINY, 3)
        for changes in ({"residual": True}, {"layer_norm": True}, {"positions": 5}, {"uniform_attention": True}):
            other = LayeredTransformer(replace(TINY, **changes), 3)
            for name in ("W_E", "W_V"):
                assert torch.equal(getattr(one, name), getattr(other, name))
        assert not torch.equal(one.W_E, LayeredTransformer(TINY, 4).W_E)

    def test_frozen_parts(self) -> None:
        model = LayeredTransformer(replace(TINY, one_hot=True, embedding_dim=7, uniform_attention=True), 0)
        assert set(model.trained()) == {"W_V", "b_pred"}
        assert torch.equal(model.W_E, torch.eye(7))
        assert not model.W_K.any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_layers": 0}, "num_layers = 0: must be a whole number >= 1"),
        ({"embedding_dim": 2.5}, "embedding_dim = 2.5: must be a whole number >= 1"),
        ({"attention_dim": 0}, "attention_dim = 0: must be"),
        ({"positions": 0}, "positions = 0: must be"),
        ({"residual": 1}, "residual = 1: must be True or False"),
        ({"layer_norm": None}, "layer_norm = None: must be True or False"),
        ({"one_hot": True}, "embedding_dim = 5: must be V = 7 when one_hot"),
        ({"init_scale": -0.1}, "init_scale = -0.1: must be a finite number"),
        ({"vocabulary": 7}, "vocabulary = 7: must be a Vocabulary"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        replace(TINY, **changes)


def test_bad_tokens_are_named() -> None:
    model, good = LayeredTransformer(replace(TINY, positions=3), 0), torch.tensor([[1, 2, 0]])
    for tokens, counts, message in (
        (good[0], None, r"tokens has shape \(3,\)"),
        (good.int(), None, "dtype torch.int32"),
        (good + 5, None, "tokens has ids outside 0 to 6"),
        (torch.full((1, 2), PAD), None, "begins with padding"),
        (good, good, "counts is given: must be None with positions"),
        (good.repeat(1, 2), None, "tokens has 6 positions: must be at most positions = 3"),
    ):
        with pytest.raises(ValueError, match=message):
            model(tokens, counts)
    with pytest.raises(ValueError, match=r"counts has shape \(1, 2\)"):
        LayeredTransformer(TINY, 0)(good, good[:, :2])


class TestMetrics:
    def test_ratios_are_those_of_all_pairs_of_positions(self) -> None:
        model = double(replace(TINY, num_layers=2, residual=True))
        relations = VOCABULARY.relations()
        marks = [relations == r for r in (Relation.SAME_TOPIC, Relation.DIFFERENT_TOPIC)]
        documents = masked()
        batches = [batch_of(documents, VOCABULARY, positions=positions) for positions in (True, False)]
        ids = documents.inputs
        expected = []
        for a in model.attention(torch.from_numpy(ids)):
            means = []
            for mark in marks:
                pairs = [
                    (b, i, j) for b, i, j in np.ndindex(*a.shape) if min(ids[b, i], ids[b, j]) >= 0 and mark[ids[b, i], ids[b, j]]
                ]
                means.append(np.mean([float(a[p].detach()) for p in pairs]))
            expected.append(means[0] / means[1])
        for batch in batches:
            np.testing.assert_allclose(attention_ratios(model, batch, *marks), expected)

    def test_uniform_attention_has_ratio_one(self) -> None:
        # With documents of one length: the mean is over pairs, and a shorter document's weights are larger.
        model, tokens = double(replace(TINY, uniform_attention=True)), sample_documents(replace(DOCUMENTS, min_len=12), 6, 0).tokens
        batch = batch_of(mask_documents(tokens, VOCABULARY, MaskingSettings(0.3), 0), VOCABULARY, positions=False)
        relations = VOCABULARY.relations()
        np.testing.assert_allclose(attention_ratios(model, batch, relations == 2, relations == 3), 1)

    def test_offsets_are_those_of_the_selected_positions(self) -> None:
        model, documents = double(replace(TINY, num_layers=2, positions=12)), masked()
        found = attention_by_offset(model, batch_of(documents, VOCABULARY, positions=True), 2)
        assert found.shape == (2, 5)
        for layer, a in enumerate(model.attention(torch.from_numpy(documents.inputs))):
            for k, offset in enumerate((-2, -1, 0, 1, 2)):
                chosen = [(b, j + offset, j) for b, j in np.argwhere(documents.selected) if 0 <= j + offset < a.shape[1]]
                weights = [float(a[p].detach()) for p in chosen if documents.inputs[p[:2]] != PAD]
                assert found[layer, k] == pytest.approx(np.mean(weights))
        with pytest.raises(ValueError, match="batch holds counts"):
            attention_by_offset(model, batch_of(documents, VOCABULARY, positions=False), 2)

    def test_contrasts_tell_topic_from_category(self) -> None:
        v = SandboxSettings().vocabulary
        noise = np.random.default_rng(0).normal(size=(60, 69))
        by_topic, by_category = (5 * np.eye(6)[labels] for labels in (np.maximum(v.topic_of, 0), v.category_of))
        for features, wanted in ((by_topic, 0), (by_category, 1)):
            found = sandbox_contrasts(np.concatenate([features.T, noise]), v)
            assert found[wanted] > 2
            assert abs(found[1 - wanted]) < 0.3
        with pytest.raises(ValueError, match="w_e has 5 columns: must be V = 69"):
            sandbox_contrasts(noise[:, :5], v)


class TestTraining:
    def test_the_same_run_gives_the_same_numbers_also_in_workers(self) -> None:
        runs = [(TRAINING, 0), (TRAINING, 1), (replace(TRAINING, model=replace(TINY, num_layers=1)), 0)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            alone, together = train_layered(runs, workers=1), train_layered(runs, workers=2)
        for one, other, (settings, seed) in zip(alone, together, runs, strict=True):
            assert (one.settings, one.seed, other.settings, other.seed) == (settings, seed, settings, seed)
            np.testing.assert_array_equal(one.train_loss, other.train_loss)
            for name, value in one.model.state_dict().items():
                assert torch.equal(value, other.model.state_dict()[name])
            for name in one.norms:
                np.testing.assert_array_equal(one.norms[name], other.norms[name])
        assert not np.array_equal(alone[0].train_loss, alone[1].train_loss)

    def test_runs_of_one_seed_see_the_same_documents(self) -> None:
        flat = replace(TINY, init_scale=0.0)  # predicts the same for every word, so that the loss depends on the documents alone
        first = [replace(TRAINING, model=replace(flat, num_layers=n), learning_rate=1e-9) for n in (1, 3)]
        one, other = train_layered([(s, 5) for s in first], workers=1)
        np.testing.assert_allclose(one.train_loss, other.train_loss, rtol=1e-6)

    def test_it_records_the_norms_at_the_steps_that_it_says(self) -> None:
        (run,) = train_layered([(TRAINING, 0)])
        assert run.log_steps.tolist() == [0, 2, 4, 6]
        assert run.train_loss.shape == (6,)
        assert run.norms["W_V"].shape == (4, 2)
        assert run.norms["W_E"].shape == (4, 1)
        start = LayeredTransformer(TINY, 0)
        np.testing.assert_allclose(run.norms["W_K"][0], [float(w.detach().norm()) for w in start.W_K], rtol=1e-6)
        np.testing.assert_allclose(run.norms["W_V"][-1], [float(w.detach().norm()) for w in run.model.W_V], rtol=1e-6)

    @pytest.mark.parametrize(("optimizer", "rate"), [("adam", 0.01), ("sgd", 0.3)])
    def test_it_learns(self, optimizer: str, rate: float) -> None:
        model = replace(TINY, residual=True, init_scale=0.3, embedding_dim=8)
        settings = replace(TRAINING, model=model, optimizer=optimizer, learning_rate=rate, steps=150, batch_size=20)
        (run,) = train_layered([(settings, 0)], workers=1)
        assert run.train_loss[-20:].mean() < run.train_loss[:20].mean() - 0.1

    def test_one_step_of_sgd_is_the_rate_times_the_gradient_and_decay_lowers_the_rate(self) -> None:
        sgd = replace(TRAINING, optimizer="sgd", learning_rate=0.5, steps=2)
        by_hand = LayeredTransformer(TINY, 0)
        plain, decayed = train_layered([(sgd, 0), (replace(sgd, decay=True), 0)], workers=1)
        for runs, rates in ((plain, (0.5, 0.5)), (decayed, (0.5, 0.25))):
            by_hand = LayeredTransformer(TINY, 0)
            first_block = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0,)))
            for batch, rate in zip(sample_batches(sgd, 1280, 8, first_block), rates, strict=False):
                by_hand.zero_grad()
                layered_loss(by_hand, batch).backward()  # type: ignore[no-untyped-call]
                for p in by_hand.parameters():
                    assert p.grad is not None
                    p.data -= rate * p.grad
            torch.testing.assert_close(runs.model.W_V, by_hand.W_V)

    def test_frozen_parts_stay(self) -> None:
        model = replace(TINY, one_hot=True, embedding_dim=7, uniform_attention=True)
        (run,) = train_layered([(replace(TRAINING, model=model), 0)])
        assert torch.equal(run.model.W_E, torch.eye(7))
        assert not run.model.W_K.any()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"documents": 3}, "documents = 3: must be DocumentSettings or SandboxSettings"),
            ({"documents": BOX}, "model.vocabulary has V = 7: must be the documents' 17"),
            ({"model": replace(TINY, positions=11)}, "model.positions = 11: must be at least 12"),
            ({"optimizer": "lion"}, "optimizer = 'lion'"),
            ({"learning_rate": 0}, "learning_rate = 0"),
            ({"steps": 0}, "steps = 0"),
            ({"decay": 1}, "decay = 1: must be True or False"),
        ],
    )
    def test_bad_settings_are_named(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            replace(TRAINING, **changes)

    def test_bad_runs_are_named(self) -> None:
        with pytest.raises(TypeError, match="settings = 3: must be a LayeredTraining"):
            train_layered([(3, 0)])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="seed = -1"):
            train_layered([(TRAINING, -1)])


class TestSandbox:
    @pytest.mark.parametrize("positions", [None, 20])
    def test_the_parts_of_the_loss_sum_to_it(self, positions: int | None) -> None:
        vocabulary = BOX.vocabulary
        model = double(LayeredSettings(vocabulary.flat, 2, 6, positions=positions, init_scale=0.8))
        documents = sample_sandbox(BOX, 5, 0)
        hidden = mask_documents(documents.tokens, vocabulary.flat, MaskingSettings(0.3, 0, 0), 0)
        batch = batch_of(hidden, vocabulary.flat, positions=positions is not None)
        parts = loss_parts(model, batch, vocabulary)
        assert (parts > 0).all()
        assert parts.sum() == pytest.approx(float(layered_loss(model, batch).detach()))

    def test_the_parts_of_a_flat_prediction_count_words(self) -> None:
        vocabulary = BOX.vocabulary  # 3 content categories x 2 topics x 2 words, 2 function categories x 2 words
        model = double(LayeredSettings(vocabulary.flat, 1, 6, init_scale=0.0))
        model.b_pred.data[0] = -1e9  # [MASK] is never predicted
        tokens = np.array([[1, 13]])  # a noun of topic 1 (a quarter of the words), a determiner (an eighth)
        for at, expected in ((0, [4, 2, 2]), (1, [8, 1, 2])):
            one = np.arange(2)[None] == at
            batch = batch_of(MaskedDocuments(np.where(one, 0, tokens), tokens, one), vocabulary.flat, positions=False)
            np.testing.assert_allclose(loss_parts(model, batch, vocabulary), np.log(expected), atol=1e-9)

    def test_it_trains_on_the_sandbox_with_and_without_positions(self) -> None:
        for positions in (None, BOX.max_len):
            model = LayeredSettings(BOX.vocabulary.flat, 1, 6, positions=positions)
            settings = LayeredTraining(model, BOX, MaskingSettings(0.3, 0, 0), steps=3, batch_size=4)
            (run,) = train_layered([(settings, 0)], workers=1)
            assert np.isfinite(run.train_loss).all()

    def test_positions_work_on_documents_of_the_topic_model(self) -> None:
        (run,) = train_layered([(replace(TRAINING, model=replace(TINY, positions=12)), 0)], workers=1)
        assert np.isfinite(run.train_loss).all()


def test_the_vocabulary_of_a_run_is_the_documents() -> None:
    assert TRAINING.vocabulary == Vocabulary(3, 2)


TOKENS = torch.tensor([[1, 2, PAD], [3, 0, 4]])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"counts": torch.tensor([[1, 0, 1], [1, 1, 1]])}, "counts = .*must be finite and >= 1"),
        ({"counts": torch.tensor([[1, float("nan"), 1], [1, 1, 1]])}, "counts = .*must be finite and >= 1"),
        ({"queries": torch.tensor([[0], [3]])}, "queries has columns from 0 to 3: must be from 0 to 2"),
        ({"queries": torch.tensor([0, 1])}, r"queries has shape \(2,\)"),
        ({"queries": torch.tensor([[0.0], [1.0]])}, "queries has shape .*must be .*int64"),
    ],
)
def test_bad_counts_and_queries_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        LayeredTransformer(TINY, 0)(TOKENS, **given)


def test_counts_at_padding_may_be_anything() -> None:
    counts = torch.tensor([[1, 2, 0], [1, 1, 1]])
    assert LayeredTransformer(TINY, 0)(TOKENS, counts).isfinite().all()


def test_a_numpy_seed_is_a_seed() -> None:
    ours, theirs = LayeredTransformer(TINY, 3), LayeredTransformer(TINY, np.int64(3))  # type: ignore[arg-type]
    assert torch.equal(ours.W_K, theirs.W_K)


def test_marks_of_pairs_must_fit_and_mark_something() -> None:
    model, batch = LayeredTransformer(TINY, 0), batch_of(masked(), VOCABULARY, positions=False)
    some, none = np.ones((7, 7), dtype=bool), np.zeros((7, 7), dtype=bool)
    for marks, said in (
        ((some, none), "other marks no pair"),
        ((some[1:], some), "one has shape"),
        ((some, some * 1), "other has shape"),
    ):
        with pytest.raises(ValueError, match=f"^{said}"):
            attention_ratios(model, batch, *marks)
