"""Real text: Wikipedia's articles as a stream, cut into an encoder's word pieces, and the content words among them."""

from __future__ import annotations

import bz2
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np
from scipy.sparse import csr_array

from topiclib.sources import locate
from topiclib.validation import as_rng, check_bool, check_each, check_indices, check_int, check_real, check_type

__all__ = [
    "Article",
    "ContentWords",
    "Corpus",
    "Pieces",
    "content_words",
    "passages",
    "read_dump",
    "read_summaries",
    "tokenize",
]

LEFT_MARKUP = re.compile(r"''+|==+")
FORCED_CUT = 4096
"""Characters of a text that a tokenizer gets at most for each token that may come out of it."""


@dataclass(frozen=True)
class Article:
    """A text with its title and, where the source has one, a category."""

    title: str
    text: str
    label: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "text", "label"):
            check_type(name, getattr(self, name), str)


def read_summaries(path: str | Path | None = None) -> Iterator[Article]:
    """The opening summaries of the vital articles, in the file's order; without ``path``, of the installed package.

    Raises SourceError if the package is missing or damaged, ValueError for a file that is not one of such summaries.
    """
    path = locate("summaries") if path is None else Path(path)
    if not path.is_file():
        raise ValueError(f"path = {str(path)!r}: is no file")
    try:
        entries = json.loads(path.read_bytes())
        articles = [Article(str(e["title"]), str(e["extract"]), str(e.get("topic", ""))) for e in entries.values()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"path = {str(path)!r}: is not a JSON file of summaries with 'title' and 'extract' ({error!r})") from None
    yield from articles


def read_dump(path: str | Path | None = None, limit: int | None = None) -> Iterator[Article]:
    """Articles of a MediaWiki dump (.xml or .xml.bz2), one at a time: the whole English Wikipedia takes no more memory.

    Parameters
    ----------
    path : the dump; None: the piece that gensim ships
    limit : stop after so many articles

    Redirects and pages outside of the article namespace are left out; the markup is removed by gensim's ``filter_wiki``,
    and what that leaves of italics ('') and headings (==) with it.
    Raises SourceError if the package is missing or damaged, ValueError for a file that is cut off or no dump.
    """
    if limit is not None:
        check_int("limit", limit, 1)
    path = locate("dump") if path is None else Path(path)
    if not path.is_file():
        raise ValueError(f"path = {str(path)!r}: is no file")
    from gensim.corpora.wikicorpus import filter_wiki

    def stream() -> Iterator[Article]:
        with path.open("rb") as packed:
            file: IO[bytes] = bz2.BZ2File(packed) if path.suffix == ".bz2" else packed
            try:
                for title, text in _pages(file):
                    yield Article(title, " ".join(LEFT_MARKUP.sub(" ", filter_wiki(text)).split()))
            except (ParseError, EOFError, OSError, ValueError) as error:
                raise ValueError(f"path = {str(path)!r}: is not a whole MediaWiki dump ({error})") from error

    return islice(stream(), limit)


def _pages(file: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Title and text of each article in a dump's XML; ValueError if it is none. A page that was read is forgotten."""
    events = iterparse(file, events=("start", "end"))
    _, root = next(events)
    # {http://www.mediawiki.org/xml/export-0.11/}mediawiki: the number changes with the format
    space, _, name = root.tag.rpartition("}")
    if name != "mediawiki":
        raise ValueError(f"its first element is <{name}>, not <mediawiki>")
    tag = f"{space}}}" if space else ""
    for event, page in events:
        if event == "start" or page.tag != f"{tag}page":
            continue
        title, text = page.findtext(f"{tag}title") or "", page.findtext(f"{tag}revision/{tag}text") or ""
        redirect = page.find(f"{tag}redirect") is not None or text.lstrip()[:9].upper() == "#REDIRECT"
        if page.findtext(f"{tag}ns") == "0" and text and not redirect:
            yield title, text
        root.clear()


def passages(articles: Iterable[Article], num_words: int = 150) -> Iterator[Article]:
    """Cut long texts into passages of ``num_words`` words; the rest of a text is a passage if it is at least half as long."""
    check_int("num_words", num_words, 1)
    for article in check_each("articles", articles, Article):
        words = article.text.split()
        for start in range(0, len(words), num_words):
            part = words[start : start + num_words]
            if 2 * len(part) >= num_words or len(words) <= num_words:
                yield Article(article.title, " ".join(part), article.label)


def _goes_on_with_letters(piece: str, tokenizer: Any, of_bytes: bool) -> bool:
    """Whether a piece begins with a letter or digit; in a byte-level vocabulary bytes stand for themselves ("âĢĵ" is a dash)."""
    if of_bytes and not piece.isascii():
        first = tokenizer.convert_tokens_to_string([piece])[:1]
        # A part of a character: dashes, quotes and most other signs begin with the bytes E2 or C2, letters with others
        return piece[0] not in "âÂ" if first == "\N{REPLACEMENT CHARACTER}" else first.isalnum()
    return piece[:1].isalnum()


@dataclass(frozen=True, eq=False)
class Pieces:
    """A tokenizer's vocabulary, whatever its way to mark where words begin: WordPiece, byte-level BPE or SentencePiece.

    texts : the pieces without their mark
    begins : (V,) whether a piece begins a word
    continues : (V,) whether a piece goes on with the word before it
    """

    texts: tuple[str, ...]
    begins: np.ndarray
    continues: np.ndarray

    @classmethod
    def of(cls, tokenizer: Any) -> Pieces:
        """The pieces of a Hugging Face tokenizer; ValueError for one without a mark at words' beginnings or insides."""
        raw = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        raw = ["" if piece is None else piece for piece in raw]
        special = np.zeros(len(raw), bool)
        special[[i for i in tokenizer.all_special_ids if i < len(raw)]] = True
        inside = sum(piece.startswith("##") for piece in raw)
        mark = max(("Ġ", "▁"), key=lambda sign: sum(piece.startswith(sign) for piece in raw))
        outside = sum(piece.startswith(mark) for piece in raw)
        if not inside and not outside:
            raise ValueError(
                f"tokenizer = {type(tokenizer).__name__}: its pieces mark neither where words begin nor where they go on"
            )
        if inside >= outside:
            continues = np.array([piece.startswith("##") for piece in raw])
            texts = tuple(piece.removeprefix("##") for piece in raw)
            return cls(texts, ~continues & ~special, continues & ~special)
        begins = np.array([piece.startswith(mark) for piece in raw])
        texts = tuple(piece.removeprefix(mark) for piece in raw)
        letters = np.array([_goes_on_with_letters(text, tokenizer, mark == "Ġ") for text in texts])
        return cls(texts, begins & ~special, ~begins & letters & ~special)

    @property
    def size(self) -> int:
        """V, the number of pieces, special ones included."""
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class ContentWords:
    """The words that topics are made of.

    ids : (W,) their token ids, increasing
    texts : (W,) the words
    whole : count an occurrence only where the word is not the beginning of a longer one
    """

    ids: np.ndarray
    texts: tuple[str, ...]
    whole: bool = True

    def __len__(self) -> int:
        return len(self.ids)

    def index(self, word: str) -> int:
        """The index of a word, 0 to W - 1; KeyError if it is not among them."""
        try:
            return self.texts.index(word)
        except ValueError:
            raise KeyError(f"word = {word!r}: is not among the {len(self)} content words") from None


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as token ids, without special tokens, one after another in one array.

    tokens : (total,) token ids, int32
    starts : (D + 1,) where document d begins and, at d + 1, ends
    pieces : the tokenizer's vocabulary
    titles, labels : of each document
    """

    tokens: np.ndarray
    starts: np.ndarray
    pieces: Pieces
    titles: tuple[str, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def document(self, number: int) -> np.ndarray:
        """The token ids of a document."""
        number = check_int("number", number, 0, len(self) - 1)
        return self.tokens[self.starts[number] : self.starts[number + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """(D,) tokens of each document."""
        return np.asarray(np.diff(self.starts))

    def pick(self, numbers: Sequence[int] | np.ndarray) -> Corpus:
        """The corpus of the documents with these numbers."""
        numbers = check_indices("numbers", numbers, len(self))
        lengths = self.lengths[numbers]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        tokens = np.concatenate([self.document(n) for n in numbers]) if len(numbers) else self.tokens[:0]
        return Corpus(tokens, starts, self.pieces, tuple(self.titles[n] for n in numbers), tuple(self.labels[n] for n in numbers))

    def sample(self, size: int, rng: np.random.Generator | int) -> Corpus:
        """``size`` documents drawn without replacement, in their order; all if there are no more."""
        check_int("size", size, 1)
        if size >= len(self):
            return self
        return self.pick(np.sort(as_rng(rng).choice(len(self), size, replace=False)))

    def word_index(self, words: ContentWords) -> np.ndarray:
        """(total,) for each token its index among ``words``, or -1 where it is none."""
        known = self.pieces.texts
        if any(i >= len(known) or known[i] != text for i, text in zip(words.ids.tolist(), words.texts, strict=True)):
            raise ValueError("words: are of another tokenizer than the corpus")
        index = np.full(self.pieces.size, -1, np.int32)
        index[words.ids] = np.arange(len(words), dtype=np.int32)
        found = index[self.tokens]
        if words.whole:
            found[self._goes_on()] = -1
        return np.asarray(found)

    def _goes_on(self) -> np.ndarray:
        """(total,) whether the next token of the same document goes on with this one's word."""
        goes_on = np.zeros(len(self.tokens), bool)
        goes_on[:-1] = self.pieces.continues[self.tokens[1:]]
        goes_on[self.starts[1:][self.lengths > 0] - 1] = False
        return goes_on

    def counts(self, words: ContentWords) -> csr_array:
        """(D, W) how often each word is in each document."""
        index = self.word_index(words)
        document = np.repeat(np.arange(len(self)), self.lengths)[index >= 0]
        shape = (len(self), len(words))
        return csr_array((np.ones(len(document), np.int32), (document, index[index >= 0])), shape)


def tokenize(articles: Iterable[Article], tokenizer: Any, max_tokens: int = 254) -> Corpus:
    """Cut texts into the tokenizer's pieces.

    Parameters
    ----------
    articles : may be a stream; a thousand texts are held at a time
    tokenizer : a fast Hugging Face tokenizer
    max_tokens : what is longer is cut off (an encoder adds two special tokens of its own)

    Raises ValueError if no article has any token. Texts without tokens stay, as documents of length 0.
    """
    check_int("max_tokens", max_tokens, 1)
    pieces = Pieces.of(tokenizer)
    stream = check_each("articles", articles, Article)
    parts, titles, labels = [], [], []
    while block := list(islice(stream, 1000)):
        texts = [article.text[: FORCED_CUT * max_tokens] for article in block]
        found = tokenizer(texts, add_special_tokens=False, truncation=True, max_length=max_tokens, return_attention_mask=False)
        parts += [np.asarray(ids, np.int32) for ids in found["input_ids"]]
        titles += [article.title for article in block]
        labels += [article.label for article in block]
    if not any(len(part) for part in parts):
        raise ValueError(f"articles: {len(parts)} texts without a single token; must have text in at least one")
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Corpus(np.concatenate(parts), starts, pieces, tuple(titles), tuple(labels))


def content_words(
    corpus: Corpus,
    *,
    min_documents: int = 5,
    max_share: float = 0.1,
    min_letters: int = 3,
    whole: bool = True,
) -> ContentWords:
    """The words that a topic model is fitted on: pieces that begin a word, of letters a to z only, and no stop words.

    Parameters
    ----------
    corpus : the documents
    min_documents : leave out words that are in fewer documents
    max_share : leave out words that are in a larger share of the documents, which are stop words in all but name
    min_letters : leave out shorter words
    whole : count a piece only where it is a word of its own ("sum" in "sum of", not in "sum ##erian")

    The stop words are gensim's list. Raises ValueError if no word is left.
    """
    from gensim.parsing.preprocessing import STOPWORDS

    check_type("corpus", corpus, Corpus)
    check_int("min_documents", min_documents, 1)
    check_real("max_share", max_share, 0, 1, open_low=True)
    check_int("min_letters", min_letters, 1)
    check_bool("whole", whole)
    pieces = corpus.pieces
    plain = np.array([len(t) >= min_letters and t.isascii() and t.isalpha() and t.lower() not in STOPWORDS for t in pieces.texts])
    candidates = np.flatnonzero(plain & pieces.begins)
    words = ContentWords(candidates, tuple(pieces.texts[i] for i in candidates), whole)
    documents = np.bincount(corpus.counts(words).indices, minlength=len(words))
    kept = (documents >= min_documents) & (documents <= max_share * len(corpus))
    if not kept.any():
        raise ValueError(
            f"corpus: of {len(corpus)} documents no word is left (min_documents = {min_documents}, max_share = {max_share:g}, "
            f"min_letters = {min_letters}); must be more text or wider limits"
        )
    return ContentWords(candidates[kept], tuple(words.texts[i] for i in np.flatnonzero(kept)), whole)
