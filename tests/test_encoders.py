"""Every architecture of Table 1, as a small random model with a tokenizer of its kind, gives the same things in the same form."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from small_encoders import HEADS, KINDS, LAYERS, POSITIONS, VOCABULARY, save_small_encoder, texts

import topiclib.encoders as encoders
from topiclib.corpus import Article, Corpus, Pieces, content_words, tokenize
from topiclib.encoders import FAMILIES, PAPER_MODELS, Encoder, EncoderError, load_encoder, random_encoder, why_no_hub
from topiclib.sources import SourceError

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Encoder]:
    """The small encoder of a kind, made and loaded once."""
    made: dict[str, Encoder] = {}

    def give(kind: str) -> Encoder:
        if kind not in made:
            made[kind] = load_encoder(save_small_encoder(kind, tmp_path_factory.mktemp(kind)))
        return made[kind]

    return give


@pytest.fixture
def folder(load: Callable[[str], Encoder], tmp_path: Path) -> Path:
    """A copy of the small BERT's folder, to damage."""
    shutil.copytree(load("bert").name, tmp_path / "bert")
    return tmp_path / "bert"


def ids(encoder: Encoder, text: str) -> np.ndarray:
    return np.array(encoder.tokenizer(text, add_special_tokens=False)["input_ids"])


def documents(encoder: Encoder) -> list[np.ndarray]:
    """Three documents of different lengths, the longest in the middle."""
    cut = [ids(encoder, text) for text in texts()[:3]]
    return [cut[0][:9], cut[1][: encoder.max_tokens], cut[2][:20]]


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the tensors in a folder's weights."""
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@every_kind
def test_shapes_frame_and_mask(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    attention, embedded, mask = encoder.run(documents(encoder))
    assert encoder.family == kind.removesuffix("-wide")
    assert encoder.family in FAMILIES
    assert len(attention) == encoder.num_layers == LAYERS
    assert encoder.max_tokens == POSITIONS - 2
    assert all(layer.shape == (3, HEADS, POSITIONS, POSITIONS) for layer in attention)
    assert embedded.shape == (3, POSITIONS, encoder.word_matrix.shape[1])
    assert mask.sum(1).tolist() == [11, POSITIONS, 22]
    assert mask[0, :11].all()


@every_kind
def test_attention_rows_sum_to_one_over_real_tokens(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    attention, _, mask = encoder.run(documents(encoder))
    for layer in attention:
        for row, real in enumerate(mask):
            weights = layer[row][:, real]
            assert not weights[..., ~real].any(), "nothing goes to the padding"
            torch.testing.assert_close(weights[..., real].sum(-1), torch.ones(HEADS, int(real.sum())))
            assert weights[..., real].std() > 0.002, "far from uniform, or the tests below see nothing"


@every_kind
def test_padding_changes_nothing(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    together, embedded, _ = encoder.run(documents(encoder))
    for row, document in enumerate(documents(encoder)):
        alone, embedded_alone, mask = encoder.run([document])
        n = mask.shape[1]
        assert mask.all()
        torch.testing.assert_close(embedded[row, :n], embedded_alone[0], atol=1e-5, rtol=1e-4)
        for a, b in zip(together, alone, strict=True):
            torch.testing.assert_close(a[row, :, :n, :n], b[0], atol=1e-5, rtol=1e-4)


@every_kind
def test_the_input_is_what_the_tokenizer_itself_makes(kind: str, load: Callable[[str], Encoder]) -> None:
    """The same attention as the library's own call on the text; with the frame wrong it would be another."""
    encoder = load(kind)
    text = " ".join(texts()[0].split()[:12])
    before, after = encoder.frame
    given = encoder.tokenizer(text, return_tensors="pt")
    assert given["input_ids"][0].tolist() == [*before, *ids(encoder, text), *after]
    body = encoder.model.encoder if kind == "bart" else encoder.model
    with torch.inference_mode():
        wanted = body(**given, output_attentions=True).attentions
    for mine, theirs in zip(encoder.run([ids(encoder, text)])[0], wanted, strict=True):
        torch.testing.assert_close(mine, theirs)


@every_kind
def test_embedded_is_the_embedding_modules_output(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    document = documents(encoder)[2]
    line = torch.tensor([[*encoder.frame[0], *document, *encoder.frame[1]]])
    model = encoder.model
    with torch.inference_mode():
        if kind == "bart":
            part = model.encoder
            words = part.embed_tokens(line) + part.embed_positions(line)
            wanted = part.layernorm_embedding(words)
        else:
            wanted = model.embeddings(input_ids=line)
    torch.testing.assert_close(encoder.run([document])[1], wanted)


@every_kind
def test_layer_output_is_each_token_alone(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    some = documents(encoder)[2][:5]
    found = encoder.layer_output(some, batch_size=2)
    at = len(encoder.frame[0])
    for row, token in enumerate(some):
        torch.testing.assert_close(found[row], encoder.run([np.array([token])])[1][0, at])
    assert found.shape == (5, encoder.word_matrix.shape[1])


@every_kind
def test_the_word_matrix_is_the_input_embedding(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    model = encoder.model
    wanted = model.shared if kind == "bart" else model.embeddings.word_embeddings
    assert encoder.word_matrix.shape[0] == len(encoder.tokenizer) == VOCABULARY
    assert torch.equal(encoder.word_matrix, wanted.weight)
    assert not encoder.word_matrix.requires_grad


@every_kind
def test_a_text_of_max_tokens_runs_and_one_more_is_refused(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    longest = np.resize(documents(encoder)[1], encoder.max_tokens)
    assert torch.isfinite(encoder.run([longest])[0][-1]).all()
    with pytest.raises(ValueError, match=f"one has {encoder.max_tokens + 1} tokens; .* takes {encoder.max_tokens} at most"):
        encoder.run([np.resize(longest, encoder.max_tokens + 1)])


@every_kind
def test_one_position_more_than_max_tokens_would_break(kind: str, load: Callable[[str], Encoder], monkeypatch: Any) -> None:
    """``max_tokens`` is not too careful: the model itself cannot take more."""
    encoder = load(kind)
    limit = encoder.max_tokens
    monkeypatch.setattr(Encoder, "max_tokens", property(lambda self: 10**6))
    with pytest.raises((IndexError, RuntimeError)):
        encoder.run([np.resize(documents(encoder)[1], limit + 1)])


@every_kind
def test_content_words_are_whole_words_of_each_tokenizer(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    corpus = tokenize([Article("", text) for text in texts()], encoder.tokenizer, encoder.max_tokens)
    words = content_words(corpus)
    assert {"century", "film", "world"} <= set(words.texts)
    assert not {"the", "and", "with"} & set(words.texts), "stop words"
    assert len(words) > 80
    # Against the text that the pieces stand for: a word of its own, up to the next sign that is no letter or digit
    index = corpus.word_index(words)
    for d in range(20):
        tokens, found = corpus.document(d).tolist(), index[corpus.starts[d] : corpus.starts[d + 1]]
        for at in np.flatnonzero(found >= 0):
            word = words.texts[found[at]]
            before, behind = (encoder.tokenizer.decode(part) for part in (tokens[:at], tokens[: at + 2]))
            rest = behind[len(before) :].strip()
            assert rest.startswith(word), (word, rest)
            assert not rest[len(word) :][:1].isalnum(), (word, rest)


@every_kind
def test_a_word_that_goes_on_is_not_counted(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    texts = [f"we {word} them" for word in ("music", "musicqqz", "music,", "music”", "music–", "music–qqz")]
    corpus = tokenize([Article("", text) for text in texts], encoder.tokenizer)
    words = content_words(corpus, min_documents=1, max_share=1)
    counted = corpus.counts(words)[:, [words.index("music")]].toarray().ravel()
    assert counted.tolist() == [1, 0, 1, 1, 1, 1]


def test_byte_level_letters_beyond_ascii_go_on_with_a_word(load: Callable[[str], Encoder]) -> None:
    pieces = Pieces.of(load("roberta").tokenizer)
    encode = load("roberta").tokenizer.tokenize
    at = {text: i for i, text in enumerate(pieces.texts)}
    assert pieces.continues[[at[piece] for piece in encode("xé")[1:]]].all()
    dash = encode("–")
    assert len(dash) == 1, "the dash is frequent enough to be a piece"
    assert not pieces.continues[at[dash[0]]]


@every_kind
def test_random_weights_are_drawn_by_the_seed(kind: str, load: Callable[[str], Encoder]) -> None:
    encoder = load(kind)
    state = torch.random.get_rng_state()
    a, b, c = (random_encoder(encoder, seed) for seed in (5, 5, 6))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(a.word_matrix, b.word_matrix)
    assert not torch.equal(a.word_matrix, c.word_matrix)
    assert type(a.model) is type(encoder.model)
    assert not a.model.training
    assert "random weights" in a.name
    # As before pretraining: normal with standard deviation 0.02, but for the padding
    assert 0.017 < float(a.word_matrix.std()) < 0.023
    attention, _, mask = a.run(documents(encoder))
    torch.testing.assert_close(attention[0][1].sum(-1), torch.ones(HEADS, int(mask[1].sum())))


def test_a_loaded_encoder_is_in_evaluation_mode_in_float32_with_eager_attention(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.update({name: t.half() for name, t in tensors.items()}))
    encoder = load_encoder(str(folder), device="cpu")
    assert not encoder.model.training
    assert {p.dtype for p in encoder.model.parameters()} == {torch.float32}
    assert encoder.model.config._attn_implementation == "eager"
    assert encoder.device == torch.device("cpu")


def test_the_digest_holds_weights_configuration_and_frame(load: Callable[[str], Encoder], folder: Path) -> None:
    from topiclib.cache import content_key

    def key(encoder: Encoder) -> str:
        return content_key(encoder.digest_parts())

    first = key(load("bert"))
    assert key(load_encoder(folder)) == first, "the same files elsewhere"
    change_weights(folder, lambda tensors: tensors["encoder.layer.1.output.dense.weight"][0, 0].add_(1))
    assert key(load_encoder(folder)) != first
    assert key(random_encoder(load("bert"), 0)) != key(random_encoder(load("bert"), 1))
    config = (folder / "config.json").read_text()
    changed = key(load_encoder(folder))
    (folder / "config.json").write_text(config.replace('"layer_norm_eps": 1e-12', '"layer_norm_eps": 0.1'))
    assert key(load_encoder(folder)) != changed


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(value: float, folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors["encoder.layer.0.attention.self.query.weight"][3, 2].fill_(value))
    with pytest.raises(EncoderError, match=r"encoder.layer.0.attention.self.query.weight holds NaN or infinite weights"):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", b""),
        ("model.safetensors", b"no weights"),
        ("model.safetensors", None),
        ("config.json", b"{"),
        ("config.json", None),
        ("config.json", b"{}"),
        ("tokenizer.json", b"{}"),
    ],
)
def test_a_damaged_folder_is_named(name: str, content: bytes | None, folder: Path) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(EncoderError, match="bert: cannot be read") as caught:
        load_encoder(folder)
    assert "\n" not in str(caught.value)


def test_truncated_weights_are_refused(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-100])
    with pytest.raises(EncoderError, match="cannot be read"):
        load_encoder(folder)


def test_missing_weights_are_not_drawn_at_random(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.pop("encoder.layer.1.attention.self.key.weight"))
    with pytest.raises(EncoderError, match=r"lack encoder.layer.1.attention.self.key.weight"):
        load_encoder(folder)


def test_a_model_may_come_without_its_pooler(folder: Path) -> None:
    def drop(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if name.startswith("pooler")]:
            del tensors[name]

    change_weights(folder, drop)
    assert load_encoder(folder).num_layers == LAYERS


def test_a_tokenizer_larger_than_the_model_is_refused(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors.update({k: tensors[k][:-10].clone() for k in tensors if "word_emb" in k}))
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"vocab_size": 1500', '"vocab_size": 1490'))
    with pytest.raises(EncoderError, match="tokenizer has 1500 tokens, the model's word matrix 1490 rows"):
        load_encoder(folder)


def test_a_tokenizer_with_another_padding_is_refused_where_positions_depend_on_it(
    load: Callable[[str], Encoder], tmp_path: Path
) -> None:
    shutil.copytree(load("roberta").name, tmp_path / "roberta")
    config = (tmp_path / "roberta" / "config.json").read_text()
    (tmp_path / "roberta" / "config.json").write_text(config.replace('"pad_token_id": 1', '"pad_token_id": 3'))
    with pytest.raises(EncoderError, match="pads with token 1, the model with 3"):
        load_encoder(tmp_path / "roberta")


def test_another_architecture_is_refused(folder: Path, tmp_path: Path) -> None:
    import transformers

    config = transformers.DistilBertConfig(vocab_size=VOCABULARY, dim=8, n_layers=1, n_heads=1, hidden_dim=8)
    transformers.DistilBertModel(config).save_pretrained(folder)
    with pytest.raises(EncoderError, match="is a 'distilbert' model; must be one of bert, albert"):
        load_encoder(folder)


def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every connection fails as without a network; the list gets the addresses that were asked for."""
    import socket

    asked: list[str] = []

    def refuse(host: str, *rest: Any, **options: Any) -> Any:
        asked.append(host)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return asked


@pytest.mark.parametrize("name", ["bert", "albert", "someone/some-model"])
def test_without_a_network_loading_from_the_hub_fails_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = no_network(monkeypatch)
    start = time.monotonic()
    with pytest.raises(EncoderError, match=r"is not on this machine, and the hub cannot be reached \(") as caught:
        load_encoder(name)
    assert time.monotonic() - start < 5
    assert len(asked) <= 2, "asked once, not in a loop"
    message = str(caught.value)
    assert message.startswith(f"{name}: {PAPER_MODELS.get(name, name)} ")
    assert "\n" not in message


def test_the_hub_is_not_asked_where_that_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    asked = no_network(monkeypatch)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert why_no_hub() == "HF_HUB_OFFLINE is set"
    assert not asked


def test_a_model_of_the_hub_that_is_on_this_machine_needs_no_network(
    load: Callable[[str], Encoder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub's folder: models--owner--name/snapshots/REVISION, and the revision in refs/main."""
    asked = no_network(monkeypatch)
    place = tmp_path / "models--bert-base-uncased"
    revision = "0" * 40
    shutil.copytree(load("bert").name, place / "snapshots" / revision)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(revision)
    use_hub_folder(tmp_path, monkeypatch)
    encoder = load_encoder("bert")
    assert torch.equal(encoder.word_matrix, load("bert").word_matrix)
    assert encoder.name == "bert"
    assert len(asked) <= 1, "the hub's library may ask once how it should call itself; nothing is asked about the model"


def use_hub_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the hub's library look into ``folder``; it reads the environment when it is imported, so its constants are set."""
    import huggingface_hub.constants
    import huggingface_hub.file_download
    import transformers.utils.hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder))
    for module in (huggingface_hub.file_download, transformers.utils.hub):
        if hasattr(module, "TRANSFORMERS_CACHE"):
            monkeypatch.setattr(module, "TRANSFORMERS_CACHE", str(folder))


@pytest.mark.parametrize("name", ["summaries", "dump"])
def test_text_is_no_encoder(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_network(monkeypatch)
    with pytest.raises(EncoderError):
        load_encoder(name)


def test_errors(load: Callable[[str], Encoder]) -> None:
    encoder = load("bert")
    with pytest.raises(ValueError, match="documents: there are none"):
        encoder.run([])
    with pytest.raises(ValueError, match="ids: there are none"):
        encoder.layer_output(np.array([], int))
    with pytest.raises(ValueError, match="batch_size = 0"):
        encoder.layer_output(np.array([7]), batch_size=0)
    with pytest.raises(ValueError, match="name = ' '"):
        load_encoder(" ")
    with pytest.raises(TypeError, match="name = 7"):
        load_encoder(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="encoder = None"):
        random_encoder(None, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed = -1"):
        random_encoder(encoder, -1)


def test_a_package_that_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        raise SourceError(f"the package of {name} is not installed")

    monkeypatch.setattr(encoders, "locate", missing)
    with pytest.raises(SourceError, match="package of minilm"):
        load_encoder("minilm")


def test_minilm() -> None:
    encoder = load_encoder()
    assert (encoder.family, encoder.num_layers, encoder.max_tokens) == ("bert", 6, 510)
    assert encoder.word_matrix.shape == (30522, 384)
    assert encoder.frame == ([101], [102])
    # Words that are alike lie near each other: the right rows under the right tokens
    pairs = [[encoder.tokenizer.convert_tokens_to_ids(word) for word in pair] for pair in (("king", "queen"), ("king", "bacteria"))]
    near, far = (torch.cosine_similarity(*encoder.word_matrix[pair], dim=0) for pair in pairs)
    assert near > far + 0.1


def test_an_empty_document_runs_as_its_special_tokens(load: Callable[[str], Encoder]) -> None:
    encoder = load("bert")
    corpus = tokenize([Article("", ""), Article("", "music")], encoder.tokenizer)
    assert isinstance(corpus, Corpus)
    attention, _, mask = encoder.run([corpus.document(0), corpus.document(1)])
    assert mask.sum(1).tolist() == [2, 2 + len(corpus.document(1))]
    assert torch.isfinite(attention[-1]).all()
