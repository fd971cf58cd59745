"""The benchmark compares like with like: the cut-down BertForMaskedLM is equation 6, and the numbers are what they say."""

import numpy as np
import pytest
import torch

from tools.bench import Load, Ours, contender, make_bert, make_settings, multiply_adds, ratio, seconds_a_step, summary
from topiclib.masking import MaskingSettings
from topiclib.model import ModelSettings, TopicTransformer
from topiclib.vocabulary import Vocabulary


@pytest.mark.parametrize("one_hot", [False, True])
def test_the_cut_down_bert_computes_equation_6(one_hot: bool) -> None:
    settings = ModelSettings.paper(vocabulary=Vocabulary(3, 2), one_hot=one_hot, init_scale=0.5)
    model, bert = TopicTransformer(settings, 3), make_bert(settings, 8, same_function=True)
    attention = bert.bert.encoder.layer[0].attention.self
    with torch.no_grad():
        bert.bert.embeddings.word_embeddings.weight.copy_(model.W_E.T)
        for linear, letter in ((attention.key, "K"), (attention.query, "Q"), (attention.value, "V")):
            linear.weight.copy_(getattr(model, f"W_{letter}"))
        tokens = torch.tensor([[1, 0, 4, 4, 6, 2]])
        assert torch.allclose(bert(input_ids=tokens).logits[0].T, model(tokens)[0], atol=1e-5)
    trained = sum(p.numel() for p in bert.parameters() if p.requires_grad)
    assert trained == sum(p.numel() for p in model.trained().values())


@pytest.mark.parametrize("doc_len", [125, 500, 2000, 8000])
def test_documents_of_every_length_have_as_many_masked_positions(doc_len: int) -> None:
    settings = make_settings(False, doc_len)
    assert (settings.documents.min_len + settings.documents.max_len) / 2 == doc_len
    assert settings.masking.p_m * doc_len == pytest.approx(MaskingSettings.paper().p_m * 125)


@pytest.mark.parametrize("name", ["counts", "tokens", "bert", "bert_same"])
@pytest.mark.parametrize("one_hot", [False, True])
def test_every_contender_trains(name: str, one_hot: bool) -> None:
    one = contender(name, make_settings(one_hot))
    if isinstance(one, Ours):
        parameters = one.run.engine.parameters["W_V"]
    else:
        parameters = one.bert.bert.encoder.layer[0].attention.self.value.weight
    before = parameters.detach().clone()
    one.steps(2)
    assert not torch.equal(parameters, before)
    assert torch.isfinite(parameters).all()


def test_contenders_take_turns_and_ratios_are_medians_over_rounds() -> None:
    seen: list[str] = []
    times = seconds_a_step({name: lambda n, name=name: seen.append(name) for name in "ab"}, 3, 1e-9)
    assert seen == list("aabb" + "ab" * 3)
    assert {len(values) for values in times.values()} == {3}
    given = {"slow": [2.0, 30.0, 8.0], "fast": [1.0, 10.0, 1.0]}
    assert ratio(given, "slow", "fast") == 3
    assert summary(given)["slow"] == {"steps_per_second": 1 / 8, "spread": 15}


def test_multiply_adds_of_the_paper_model() -> None:
    # Three products for the stack of keys, queries and values, and so on: d = d_a = V = 101, 190 pairs.
    v = 101
    assert multiply_adds(make_settings(True), 190) == 3 * v**3 + 3 * 190 * v**2
    everything = multiply_adds(make_settings(False), 190)
    assert everything == pytest.approx(15 * v**3 + 3 * 190 * v**2, rel=0.02)


def test_load_counts_other_processes_only() -> None:
    load = Load()
    a = np.random.default_rng(0).random((400, 400))
    for _ in range(20):
        a @ a
    assert 0 <= load.others() < 64
