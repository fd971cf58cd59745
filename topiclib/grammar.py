"""A sandbox of topics and syntax: documents of sentences from a small probabilistic grammar (PCFG).

The grammar decides the category of each word (noun, verb, ...), the document's topic mixture decides what it speaks of.
A content word is drawn from the class of its topic and its category, a function word from that of its category alone.
So a word is a category, for a content word a topic, and one of n words that nothing tells apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from topiclib.documents import MAX_ALPHA, PAD, FloatArray, IntArray
from topiclib.validation import as_rng, check_int, check_real, check_text, check_type
from topiclib.vocabulary import Vocabulary

__all__ = ["Grammar", "SandboxDocuments", "SandboxSettings", "SandboxVocabulary", "sample_sandbox"]

MAX_FORMS = 100_000
Rules = tuple[tuple[str, tuple[str, ...], float], ...]
ENGLISH: Rules = (
    ("S", ("NP", "VP"), 1.0),
    ("NP", ("Det", "N"), 0.5),
    ("NP", ("Det", "Adj", "N"), 0.5),
    ("VP", ("V", "NP"), 0.5),
    ("VP", ("V", "NP", "PP"), 0.5),
    ("PP", ("P", "NP"), 1.0),
)


@dataclass(frozen=True)
class Grammar:
    """Context-free rules with probabilities.

    Parameters
    ----------
    rules : (left, right, probability): the symbol ``left`` becomes the symbols ``right``; the probabilities of a symbol's
        rules sum to 1. Symbols that no rule replaces are the categories of words
    start : the symbol that a sentence begins with
    max_words : longer sentences are drawn again (none is, in the default grammar)
    """

    rules: Rules = ENGLISH
    start: str = "S"
    max_words: int = 12

    def __post_init__(self) -> None:
        check_int("max_words", self.max_words, 1)
        check_text("start", self.start)
        if not isinstance(self.rules, tuple) or any(not isinstance(rule, tuple) or len(rule) != 3 for rule in self.rules):
            raise TypeError(f"rules = {self.rules!r}: must be a tuple of (left, right, probability)")
        total: dict[str, float] = {}
        for left, right, probability in self.rules:
            check_text("left", left)
            if not isinstance(right, tuple) or not right:
                raise ValueError(f"rules has {left} -> {right!r}: must have a tuple of at least one symbol on the right")
            for symbol in right:
                check_text("right", symbol)
            total[left] = total.get(left, 0.0) + check_real("probability", probability, 0, 1, open_low=True)
        if self.start not in total:
            raise ValueError(f"start = {self.start!r}: must be the left side of a rule")
        for left, probability in total.items():
            if abs(probability - 1) > 1e-9:
                raise ValueError(f"rules of {left} have probabilities that sum to {probability:g}: must be 1")
        _ = self.sentences  # raises if there is none, or no end of them

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of words, in the order in which the rules name them."""
        replaced = {left for left, _, _ in self.rules}
        return tuple(dict.fromkeys(s for _, right, _ in self.rules for s in right if s not in replaced))

    @cached_property
    def sentences(self) -> dict[tuple[str, ...], float]:
        """Every sentence of at most ``max_words`` words, as categories, with its probability among them."""
        of: dict[str, list[tuple[tuple[str, ...], float]]] = {}
        for left, right, probability in self.rules:
            of.setdefault(left, []).append((right, probability))
        found: dict[tuple[str, ...], float] = {}
        forms: list[tuple[tuple[str, ...], float]] = [((self.start,), 1.0)]
        for _ in range(MAX_FORMS):
            if not forms:
                break
            form, probability = forms.pop()
            at = next((i for i, symbol in enumerate(form) if symbol in of), None)
            if at is None:
                found[form] = found.get(form, 0.0) + probability
                continue
            # The leftmost symbol that a rule replaces; every symbol becomes at least one word.
            for right, p in of[form[at]]:
                if len(form) + len(right) - 1 <= self.max_words:
                    forms.append((form[:at] + right + form[at + 1 :], probability * p))
        if forms or not found:
            what = f"more than {MAX_FORMS:,} derivations" if forms else "no sentence"
            raise ValueError(f"rules give {what} of at most max_words = {self.max_words} words: must be fewer, and at least one")
        whole = sum(found.values())
        return {form: probability / whole for form, probability in sorted(found.items(), key=lambda item: (len(item[0]), item[0]))}

    def frequencies(self) -> FloatArray:
        """Share of each category among the words of sentences; in the order of ``categories``."""
        expected = [sum(p * form.count(c) for form, p in self.sentences.items()) for c in self.categories]
        return np.array(expected) / sum(expected)


@dataclass(frozen=True)
class SandboxVocabulary:
    """Words and what they are: content words by topic and category, then function words by category, after [MASK].

    categories : names of the categories; the first ``num_content`` are those of content words
    category_of : (V,) number of each token's category, -1 for [MASK]
    topic_of : (V,) topic of each content word, 1 to T; 0 for function words, -1 for [MASK]
    first_word : (C, T + 1) first word of each class; column 0 for function words; -1 where there is no such class
    """

    categories: tuple[str, ...]
    num_content: int
    category_of: IntArray
    topic_of: IntArray
    first_word: IntArray

    @property
    def flat(self) -> Vocabulary:
        """The same ids without their structure, as masks and models need them."""
        return Vocabulary(1, len(self.category_of) - 1)


@dataclass(frozen=True)
class SandboxSettings:
    """How documents of the sandbox are generated.

    Parameters
    ----------
    grammar : decides the categories of a sentence's words
    content : categories whose words have a topic; the others are function words
    num_topics : T
    words_per_class : n, words of each topic and content category, and of each function category
    dirichlet_alpha : of the document's topic weights, as in ``DocumentSettings``; every content word draws its own topic
    num_sentences : sentences in a document
    """

    grammar: Grammar = field(default_factory=Grammar)
    content: tuple[str, ...] = ("N", "V", "Adj")
    num_topics: int = 5
    words_per_class: int = 4
    dirichlet_alpha: float = 0.1
    num_sentences: int = 4

    def __post_init__(self) -> None:
        check_type("grammar", self.grammar, Grammar)
        for name in ("num_topics", "words_per_class", "num_sentences"):
            check_int(name, getattr(self, name), 1)
        check_real("dirichlet_alpha", self.dirichlet_alpha, 0, MAX_ALPHA, open_low=True)
        if not isinstance(self.content, tuple):
            raise TypeError(f"content = {self.content!r}: must be a tuple of categories from {', '.join(self.grammar.categories)}")
        unknown = [name for name in self.content if name not in self.grammar.categories]
        if not self.content or unknown or len(set(self.content)) < len(self.content):
            raise ValueError(f"content = {self.content!r}: must be distinct categories from {', '.join(self.grammar.categories)}")

    @classmethod
    def tiny(cls, **changes: object) -> SandboxSettings:
        """T = 2, n = 2, two sentences: small enough to read; for examples and tests."""
        return replace(cls(num_topics=2, words_per_class=2, num_sentences=2), **changes)  # type: ignore[arg-type]

    @property
    def max_len(self) -> int:
        """The longest that a document can be."""
        return self.num_sentences * max(map(len, self.grammar.sentences))

    @cached_property
    def vocabulary(self) -> SandboxVocabulary:
        """The words, and what each is."""
        function = [c for c in self.grammar.categories if c not in self.content]
        names, n = (*self.content, *function), self.words_per_class
        classes = [(c, t) for t in range(1, self.num_topics + 1) for c in range(len(self.content))]
        classes += [(c, 0) for c in range(len(self.content), len(names))]
        first = np.full((len(names), self.num_topics + 1), -1)
        for k, (c, t) in enumerate(classes):
            first[c, t] = 1 + k * n
        category, topic = (np.repeat([-1, *column], [1] + [n] * len(classes)) for column in zip(*classes, strict=True))
        return SandboxVocabulary(names, len(self.content), category, topic, first)


@dataclass(frozen=True)
class SandboxDocuments:
    """A batch of B documents.

    tokens : (B, N) word ids, ``PAD`` after the end of a document
    categories : (B, N) number of each word's category, -1 after the end
    topics : (B, N) topic of each content word, 0 for function words, -1 after the end
    sentences : (B, S) which of the grammar's sentences, in their order
    topic_weights : (B, T) the topic mixture of each; rows sum to 1
    """

    tokens: IntArray
    categories: IntArray
    topics: IntArray
    sentences: IntArray
    topic_weights: FloatArray

    def __len__(self) -> int:
        return len(self.tokens)


def sample_sandbox(settings: SandboxSettings, num_docs: int, rng: np.random.Generator | int) -> SandboxDocuments:
    """Draw ``num_docs`` documents: sentences from the grammar, a topic for each content word, a word from its class."""
    check_type("settings", settings, SandboxSettings)
    check_int("num_docs", num_docs, 1)
    rng = as_rng(rng)
    v, forms = settings.vocabulary, settings.grammar.sentences
    table = np.full((len(forms), max(map(len, forms))), -1)
    for k, form in enumerate(forms):
        table[k, : len(form)] = [v.categories.index(name) for name in form]
    chosen = rng.choice(len(forms), size=(num_docs, settings.num_sentences), p=list(forms.values()))
    categories = _left_aligned(table[chosen].reshape(num_docs, -1))
    weights = rng.dirichlet(np.full(settings.num_topics, settings.dirichlet_alpha), size=num_docs)
    uniform, topics = rng.random(categories.shape), np.ones(categories.shape, dtype=np.int64)
    for boundary in weights.cumsum(axis=1)[:, :-1].T:
        topics += uniform >= boundary[:, None]
    topics[categories >= v.num_content] = 0
    tokens = v.first_word[categories, topics] + rng.integers(settings.words_per_class, size=categories.shape)
    tokens[categories < 0] = PAD
    topics[categories < 0] = -1
    return SandboxDocuments(tokens, categories, topics, chosen, weights)


def _left_aligned(rows: IntArray) -> IntArray:
    """Move the entries that are not -1 to the left, in their order, and cut the columns that are then empty."""
    filled = rows >= 0
    order = np.argsort(~filled, axis=1, kind="stable")[:, : filled.sum(axis=1).max()]
    moved: npt.NDArray[np.int64] = np.take_along_axis(rows, order, axis=1)
    return moved
