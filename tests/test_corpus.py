"""Articles, their pieces, and which of them are words."""

import bz2
import json
import re
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_encoders import small_tokenizer

import topiclib.corpus as module
from topiclib.corpus import Article, ContentWords, Corpus, Pieces, content_words, passages, read_dump, read_summaries, tokenize

SPACE = "http://www.mediawiki.org/xml/export-0.11/"


def page(title: str, text: str, ns: int = 0, extra: str = "") -> str:
    return f"<page><title>{title}</title><ns>{ns}</ns><id>1</id>{extra}<revision><id>2</id><text>{text}</text></revision></page>\n"


def write_dump(path: Path, pages: list[str], end: str = "</mediawiki>") -> Path:
    text = f'<mediawiki xmlns="{SPACE}" version="0.11"><siteinfo><sitename>W</sitename></siteinfo>\n' + "".join(pages) + end
    path.write_bytes(bz2.compress(text.encode(), 1) if path.suffix == ".bz2" else text.encode())
    return path


PAGES = [
    page("First", "The first [[article|text]] &lt;ref&gt;note&lt;/ref&gt; {{template|x}} here.\n\nNext\tline."),
    page("Old name", "#REDIRECT [[First]]"),
    page("Older name", "text that a redirect may hold", extra='<redirect title="First" />'),
    page("Lower", " #redirect [[First]]"),
    page("Talk:First", "a discussion", ns=1),
    page("Empty", ""),
    page("Second", "Ünïcode stays."),
]


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2"])
def test_articles_of_a_dump(name: str, tmp_path: Path) -> None:
    """Without markup, redirects, other namespaces and empty pages."""
    found = list(read_dump(write_dump(tmp_path / name, PAGES)))
    assert found == [Article("First", "The first text here. Next line."), Article("Second", "Ünïcode stays.")]


def test_a_dump_of_another_version_of_the_format_is_read(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "dump.xml", PAGES)
    path.write_text(path.read_text().replace("0.11", "0.99"))
    assert len(list(read_dump(path))) == 2


def test_a_limit_stops_the_stream(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "dump.xml", [page(f"T{i}", f"text {i}") for i in range(9)])
    assert [article.title for article in read_dump(path, 3)] == ["T0", "T1", "T2"]
    with pytest.raises(ValueError, match="limit = 0"):
        read_dump(path, 0)


def test_a_truncated_bz2_is_an_error_after_what_is_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = ["".join(map(chr, rng.integers(97, 123, 9))) for _ in range(60_000)]
    many = [page(f"T{i}", " ".join(words[200 * i : 200 * i + 200])) for i in range(300)]
    path = write_dump(tmp_path / "dump.xml.bz2", many)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 1000])
    stream = read_dump(path)
    assert next(stream).title == "T0", "lazy: the first article comes before the damage is seen"
    with pytest.raises(ValueError, match=r"dump.xml.bz2'.*is not a whole MediaWiki dump"):
        list(stream)


@pytest.mark.parametrize(
    "content",
    [b"", b"no xml", b"<html><page/></html>", bz2.compress(b"<mediawiki><page></mediawiki>"), b"BZh9 damaged"],
    ids=["empty", "text", "html", "crossed", "damaged"],
)
@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2"])
def test_what_is_no_dump_is_an_error(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="is not a whole MediaWiki dump"):
        list(read_dump(tmp_path / name))


def test_a_dump_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "dump.xml", [page("A", "a"), page("B", "b")], end="")
    with pytest.raises(ValueError, match="is not a whole MediaWiki dump"):
        list(read_dump(path))


def test_a_missing_dump_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path = .*nothing\.xml.: is no file"):
        next(read_dump(tmp_path / "nothing.xml"))


def test_a_dump_is_read_as_a_stream(tmp_path: Path) -> None:
    """Neither the file nor the pages that were read are held."""
    long = "word " * 20_000
    others = [page(f"R{i}", "#REDIRECT [[T]]") for i in range(6000)]
    path = write_dump(tmp_path / "dump.xml", [page("First", long), *others, page("Last", long), *others[:500]])
    stream = read_dump(path)
    tracemalloc.start()
    try:
        held = []
        for article in stream:
            del article
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert len(held) == 2
    assert held[1] - held[0] < 0.3e6, "6,000 pages, each of a hundred bytes when it is emptied, are more"


def test_the_packaged_dump_is_read_as_gensim_reads_it() -> None:
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki

    from topiclib.sources import locate

    with bz2.open(locate("dump")) as file:
        pages = list(islice(extract_pages(file, ("0",)), 12))
    texts = [(title, filter_wiki(text)) for title, text, _ in pages if text and text[:9].upper() != "#REDIRECT"]
    # gensim leaves the signs of headings and of italics
    wanted = [(title, " ".join(re.sub("==+|''+", " ", text).split())) for title, text in texts]
    assert any("==" in text for _, text in texts)
    assert [(a.title, a.text) for a in read_dump(limit=len(wanted))] == wanted


def test_summaries(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"b": {"title": "B", "extract": "Text.", "topic": "Art"}, "a": {"title": "A", "extract": ""}}))
    assert list(read_summaries(path)) == [Article("B", "Text.", "Art"), Article("A", "", "")]


@pytest.mark.parametrize("content", ["", "[]", "[1]", '{"a": 1}', '{"a": {"title": "A"}}', '{"a": {"title": "A", "extr'])
def test_what_are_no_summaries_is_an_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text(content)
    with pytest.raises(ValueError, match=r"some.json'.*is not a JSON file of summaries"):
        list(read_summaries(tmp_path / "some.json"))


def test_the_packaged_summaries() -> None:
    found = list(read_summaries())
    assert len(found) == 10_033
    assert len({article.label for article in found}) == 12
    assert all(article.title for article in found)


@pytest.mark.parametrize(
    ("length", "sizes"), [(0, []), (1, [1]), (9, [9]), (10, [10]), (14, [10]), (15, [10, 5]), (20, [10, 10]), (26, [10, 10, 6])]
)
def test_passages(length: int, sizes: list[int]) -> None:
    text = " ".join(f"w{i}" for i in range(length))
    found = list(passages([Article("T", text, "L")], 10))
    assert [len(part.text.split()) for part in found] == sizes
    assert " ".join(part.text for part in found).split() == text.split()[: sum(sizes)]
    assert all((part.title, part.label) == ("T", "L") for part in found)


def test_passages_are_a_stream() -> None:
    def endless() -> Any:
        while True:
            yield Article("T", "a b c")

    assert len(list(islice(passages(endless(), 3), 5))) == 5
    with pytest.raises(ValueError, match="num_words = 0"):
        next(passages([], 0))


VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "sum", "##erian", "##mer", "music", "the", "of", "ab", "1999", "-"]


def tiny_tokenizer(vocab: list[str] = VOCAB) -> Any:
    from transformers import BertTokenizerFast

    return BertTokenizerFast(vocab={piece: i for i, piece in enumerate(vocab)})


def cut(*texts: str, **options: Any) -> Corpus:
    return tokenize([Article(f"T{i}", text, f"L{i}") for i, text in enumerate(texts)], tiny_tokenizer(), **options)


def loose(corpus: Corpus, **options: Any) -> ContentWords:
    return content_words(corpus, **{"min_documents": 1, "max_share": 1, **options})


def test_tokenize_and_pick() -> None:
    corpus = cut("sum of music", "", "sumerian", "music")
    assert corpus.lengths.tolist() == [3, 0, 2, 1]
    assert [corpus.document(d).tolist() for d in range(4)] == [[5, 10, 8], [], [5, 6], [8]]
    assert (corpus.titles, corpus.labels) == (("T0", "T1", "T2", "T3"), ("L0", "L1", "L2", "L3"))
    picked = corpus.pick([3, 0, 0])
    assert [picked.document(d).tolist() for d in range(3)] == [[8], [5, 10, 8], [5, 10, 8]]
    assert picked.titles == ("T3", "T0", "T0")
    assert len(corpus.pick([])) == 0
    for number in (-1, 4):
        with pytest.raises(ValueError, match=f"number = {number}"):
            corpus.document(number)


def test_long_texts_are_cut_off() -> None:
    corpus = cut("music " * 50, max_tokens=7)
    assert corpus.lengths.tolist() == [7]
    with pytest.raises(ValueError, match="max_tokens = 0"):
        cut("music", max_tokens=0)


def test_many_texts_are_cut_block_by_block() -> None:
    texts = ["music " * (i % 4) for i in range(2300)]
    assert cut(*texts).lengths.tolist() == [i % 4 for i in range(2300)]


def test_a_corpus_without_a_token_is_an_error() -> None:
    for texts in ((), ("",), ("", " ")):
        with pytest.raises(ValueError, match=f"articles: {len(texts)} texts without a single token"):
            cut(*texts)
    with pytest.raises(TypeError, match="articles = 'a text'"):
        tokenize(["a text"], tiny_tokenizer())  # type: ignore[list-item]


def test_a_sample_is_drawn_without_replacement_in_order() -> None:
    corpus = cut(*["music " * i for i in range(30)])
    sample = corpus.sample(12, 3)
    assert len(set(sample.titles)) == 12
    assert np.all(np.diff(sample.lengths) > 0)
    assert sample.titles == corpus.sample(12, 3).titles != corpus.sample(12, 4).titles
    assert corpus.sample(30, 0) is corpus
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"size = {size}"):
            corpus.sample(size, 0)


def test_only_whole_words_are_counted() -> None:
    corpus = cut("sum of music", "sum sumerian", "sumerian summer", "music-sum", "music")
    words = loose(corpus)
    assert words.texts == ("sum", "music")
    assert corpus.word_index(words).tolist() == [0, -1, 1, 0, -1, -1, -1, -1, -1, -1, 1, -1, 0, 1]
    assert corpus.counts(words).toarray().tolist() == [[1, 1], [1, 0], [0, 0], [1, 1], [0, 1]]
    pieces = loose(corpus, whole=False)
    assert corpus.counts(pieces).toarray().tolist() == [[1, 1], [2, 0], [2, 0], [1, 1], [0, 1]]


def test_a_word_does_not_go_on_in_the_next_document() -> None:
    """However documents stand one behind the other, also around empty ones."""
    pieces = Pieces.of(tiny_tokenizer())
    tokens = np.array([5, 6, 8, 5], np.int32)
    corpus = Corpus(tokens, np.array([0, 1, 1, 3, 3, 4, 4]), pieces, ("",) * 6, ("",) * 6)
    words = ContentWords(np.array([5, 8]), ("sum", "music"))
    assert corpus.word_index(words).tolist() == [0, -1, 1, 0]
    assert corpus.counts(words).toarray().tolist() == [[1, 0], [0, 0], [0, 1], [0, 0], [1, 0], [0, 0]]


def test_what_content_words_are() -> None:
    corpus = cut("sum the ab 1999 music of -", "music", "music")
    assert loose(corpus).texts == ("sum", "music")
    assert loose(corpus, min_letters=2).texts == ("sum", "music", "ab")
    assert loose(corpus, min_documents=2).texts == ("music",)
    assert loose(corpus, max_share=0.5).texts == ("sum",)
    assert loose(corpus).index("music") == 1
    with pytest.raises(KeyError, match="word = 'the'"):
        loose(corpus).index("the")


def test_a_word_that_is_often_in_one_document_is_in_one_document() -> None:
    with pytest.raises(ValueError, match="no word is left"):
        loose(cut("sum sum sum sum", "ab"), min_documents=2)


@pytest.mark.parametrize("texts", [("the of", "ab 1999 -"), ("sumerian",)])
def test_no_word_left_is_an_error(texts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=rf"of {len(texts)} documents no word is left \(min_documents = 1"):
        loose(cut(*texts))


def test_the_documents_of_an_empty_corpus_hold_no_words() -> None:
    empty = cut("music").pick([])
    with pytest.raises(ValueError, match="of 0 documents no word is left"):
        content_words(empty)


@pytest.mark.parametrize(
    ("option", "value"), [("min_documents", 0), ("max_share", 0), ("max_share", 1.5), ("min_letters", 0), ("whole", 1)]
)
def test_limits_of_content_words(option: str, value: object) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{option} = {value}"):
        content_words(cut("music"), **{option: value})  # type: ignore[arg-type]


def test_words_of_another_tokenizer_are_refused() -> None:
    corpus = cut("sum of music")
    for words in (ContentWords(np.array([99]), ("music",)), ContentWords(np.array([5]), ("music",))):
        with pytest.raises(ValueError, match="words: are of another tokenizer"):
            corpus.word_index(words)


def test_pieces_of_each_kind() -> None:
    for kind, mark in (("bert", "##"), ("albert", "▁"), ("roberta", "Ġ")):
        tokenizer = small_tokenizer(kind)
        pieces, raw = Pieces.of(tokenizer), tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        special = set(tokenizer.all_special_ids)
        assert pieces.size == len(raw)
        assert not any(pieces.begins[i] or pieces.continues[i] for i in special)
        assert not (pieces.begins & pieces.continues).any()
        for i, piece in enumerate(raw):
            if i in special:
                continue
            marked = piece.startswith(mark)
            assert pieces.texts[i] == piece.removeprefix(mark)
            assert pieces.begins[i] == (marked != (kind == "bert"))
            if kind == "bert":
                assert pieces.continues[i] == marked
            elif piece.isascii():
                assert pieces.continues[i] == piece[0].isalnum()


def test_a_tokenizer_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="mark neither where words begin nor where they go on"):
        Pieces.of(tiny_tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]))


def test_a_very_long_text_is_shortened_before_the_tokenizer_sees_it() -> None:
    """The tokenizer's time would grow with the text, however little of it is kept."""
    seen: list[int] = []
    tokenizer = tiny_tokenizer()

    class Watched:
        all_special_ids = tokenizer.all_special_ids
        convert_ids_to_tokens = staticmethod(tokenizer.convert_ids_to_tokens)

        def __len__(self) -> int:
            return len(tokenizer)

        def __call__(self, texts: list[str], **options: Any) -> Any:
            seen.extend(map(len, texts))
            return tokenizer(texts, **options)

    corpus = tokenize([Article("", "music " * 10_000)], Watched(), max_tokens=2)
    assert corpus.lengths.tolist() == [2]
    assert seen == [2 * module.FORCED_CUT]
