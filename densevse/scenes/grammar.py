"""A parser for the sentences of `scenes`: a chart parser over a small grammar, in place of CoreNLP.

The trees have Stanford's form, and the typed dependencies are Universal Dependencies by head rules. The grammar is
unambiguous: a post-modifier belongs to the nearest noun, and "and" joins whole subjects or sentences. It does not check
agreement of number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from densevse.language.parses import Dependency, Parse, write_parses
from densevse.language.tokens import TOKENIZER

# A line is a phrase and its expansions. After a child's slash comes its dependency on the phrase's head, which is the
# child marked "="; a "cc" depends on the conjunct after it. A suffix after a colon distinguishes phrases with one Penn
# label. A phrase that begins with "_" has no node; its children are its parent's.
GRAMMAR = """
ROOT        = S:top/root | NP:top/root
S:top       = _clause/= | _clause/= PERIOD/punct | S/= CC/cc S/conj | S/= CC/cc S/conj PERIOD/punct
S           = _clause/=
_clause     = NP/nsubj VP/= | NP/nsubj:pass VP:passive/= | NP:there/expl VP:there/=
_clause     = PP:place/obl COMMA/punct NP/nsubj VP/= | ADVP:place/advmod COMMA/punct NP/nsubj VP/=
_clause     = ADJP:place/advmod COMMA/punct NP/nsubj VP/=
NP:there    = EX/=
VP:there    = _be/= NP/nsubj

VP          = _moves/= | _acts/= NP:one/obj | _leans/= PP:on/obl | _be/aux VP:ing/= | _be/cop ADJP/=
VP          = _moves/= PP:place/obl | _moves/= ADVP:place/advmod | _moves/= ADJP:place/advmod
VP          = _be/cop PP:place/= | _be/cop ADVP:place/= | _be/cop ADJP:place/=
VP:ing      = VBG:move/= | VBG:act/= NP:one/obj | VBG:lean/= PP:on/obl
VP:ing      = VBG:move/= PP:place/obl | VBG:move/= ADVP:place/advmod | VBG:move/= ADJP:place/advmod
VP:passive  = _be/aux:pass VP:en/=
VP:en       = VBN/= PP:by/obl
ADJP        = JJ/= | JJ/= CC/cc JJ/conj
_be         = VBZ:be/= | VBP:be/=
_moves      = VBZ:move/= | VBP:move/=
_acts       = VBZ:act/= | VBP:act/=
_leans      = VBZ:lean/= | VBP:lean/=

NP:top      = _subject/= | _subject/= PERIOD/punct
NP          = _subject/=
NP:one      = _one/=
_subject    = _one/= | NP:one/= CC/cc NP:one/conj
_one        = _bare/= | NP:bare/= PP:with/nmod | NP:bare/= SBAR/acl:relcl | NP:bare/= VP:ing/acl | NP:bare/= VP:en/acl
_one        = NP:bare/= PP:place/nmod | NP:bare/= ADVP:place/advmod | NP:bare/= ADJP:place/amod
_one        = NP:pair/= PP:pair/nmod
NP:bare     = _bare/=
_bare       = DT/det _counted/= | _counted/=
_counted    = CD/nummod _seen/= | _seen/=
_seen       = JJ/amod _seen/= | VBG:move/amod _seen/= | NN/= | NNS/=
NP:pair     = DT/det NN:pair/=
PP:pair     = IN:of/case NP:seen/=
NP:seen     = _seen/=
SBAR        = WHNP/nsubj S:that/=
WHNP        = WDT/=
S:that      = VP/=

PP:place    = IN:place/case NP:one/= | IN:to/case NP:side/= | IN:on/case NP:side/=
NP:side     = NP:the/= PP:of/nmod
NP:the      = DT/det NN:side/=
ADVP:place  = RB:side/= PP:of/obl
ADJP:place  = JJ:next/= PP:to/obl
PP:of       = IN:of/case NP:one/=
PP:to       = IN:to/case NP:one/=
PP:on       = IN:on/case NP:one/=
PP:by       = IN:by/case NP:one/=
PP:with     = IN:with/case NP:marks/=
NP:marks    = NNS/=
"""

# Words by the grammar's preterminals; "side" is both an adverb and a noun. First the lemma, then inflected forms.
_OTHERS = {
    "DT": "a an the some",
    "CD": "one two three",
    "JJ": "small little tiny large big huge plain striped dotted spotted red blue green yellow",
    "NN:pair": "pair couple",
    "IN:place": "above over below under beneath beside near",
    "side": "left right",
    "JJ:next": "next",
    "IN:of": "of",
    "IN:to": "to",
    "IN:on": "on",
    "IN:by": "by",
    "IN:with": "with",
    "CC": "and",
    "WDT": "that",
    "EX": "there",
    "PERIOD": ".",
    "COMMA": ",",
}
_NOUNS = """
ball balls, sphere spheres, box boxes, block blocks, cube cubes, cone cones, triangle triangles, star stars, ring rings,
hoop hoops, thing things, object objects, shape shapes, stripe stripes, dot dots, spot spots
"""
_VERBS = {
    "move": """
roll rolls rolling, float floats floating, hover hovers hovering, spin spins spinning, turn turns turning, fall falls
falling, drop drops dropping, shine shines shining, glow glows glowing, sit sits sitting, stand stands standing
""",
    "act": """
push pushes pushing pushed, shove shoves shoving shoved, carry carries carrying carried, support supports supporting
supported
""",
    "lean": "lean leans leaning, rest rests resting",
}
_SYMBOLS = {"side": ("RB:side", "NN:side")}
"""The grammar's preterminals for a kind of words that has further names."""

_PUNCTUATION = {"PERIOD": ".", "COMMA": ","}


@dataclass(frozen=True)
class _Word:
    kind: str  # a preterminal of the grammar, or "side"
    lemma: str


@dataclass(frozen=True)
class _Phrase:
    """A node of a tree: a phrase of the grammar, or a word, which has no children."""

    symbol: str
    children: tuple["_Phrase", ...] = ()


@dataclass(frozen=True)
class _Reading:
    """The phrases and dependencies of a sequence of kinds of words, whatever the words are."""

    tags: list[str]
    tree: _Phrase
    dependencies: list[Dependency]


_Ways: TypeAlias = Mapping[str, Mapping[tuple[str, ...], tuple[str, ...]]]
"""For the symbol of a phrase and each expansion (the symbols of its children), the children's relations."""


class _Chart:
    """The phrases of a sequence of kinds of words; each is found once, even if it is part of several phrases.

    No phrase of the grammar begins with a phrase of its own symbol, so the search from the root down ends.
    """

    def __init__(self, ways: _Ways, kinds: Sequence[str]) -> None:
        self._ways, self._kinds = ways, kinds
        self._begun = cache(self._find)

    def trees(self) -> list[_Phrase]:
        """Every tree over all words."""
        return [tree for tree, end in self._begun("ROOT", 0) if end == len(self._kinds)]

    def _find(self, symbol: str, begin: int) -> list[tuple[_Phrase, int]]:
        """The phrases of a symbol that begin with a word, each with the number of the word after it."""
        if symbol not in self._ways:
            is_there = begin < len(self._kinds) and symbol in _SYMBOLS.get(self._kinds[begin], (self._kinds[begin],))
            return [(_Phrase(symbol), begin + 1)] if is_there else []
        return [
            (_Phrase(symbol, children), end)
            for symbols in self._ways[symbol]
            for children, end in self._find_sequences(symbols, begin)
        ]

    def _find_sequences(self, symbols: Sequence[str], begin: int) -> list[tuple[tuple[_Phrase, ...], int]]:
        found: list[tuple[tuple[_Phrase, ...], int]] = [((), begin)]
        for symbol in symbols:
            found = [((*row, one), end) for row, middle in found for one, end in self._begun(symbol, middle)]
        return found


def parse_by_grammar(captions: str, wildcards: Mapping[str, Any], output: str, images: str | None = None) -> None:
    """The job that parses a shard's captions by the grammar; see `write_parses`."""
    write_parses(GrammarParser(), images, captions, wildcards["shard"], output)


class GrammarParser:
    """Parses sentences of the grammar."""

    def __init__(self) -> None:
        self._words = _lexicon()
        self._ways = _ways()
        # Sentences differ more in their words than in the kinds of their words, so each sequence of kinds is parsed
        # once.
        self._reading = cache(self._read)

    def parse(self, texts: list[str]) -> list[Parse]:
        """The parse of each sentence; a sentence outside the grammar has the reason as its status."""
        known = {text: self._parse(text) for text in dict.fromkeys(texts)}
        return [known[text] for text in texts]

    def _parse(self, text: str) -> Parse:
        tokens: list[str] = TOKENIZER.tokenize(text)
        if not tokens:
            return Parse.from_failure("no words")
        unknown = sorted({token for token in tokens if token.lower() not in self._words})
        if unknown:
            return Parse.from_failure(f"not in the grammar's lexicon: {' '.join(unknown)}")
        words = [self._words[token.lower()] for token in tokens]
        reading = self._reading(tuple(word.kind for word in words))
        if reading is None:
            return Parse.from_failure("not a sentence of the grammar")
        lemmas = [word.lemma for word in words]
        return Parse(
            tokens=tokens,
            lemmas=lemmas,
            tags=reading.tags,
            tree=_bracket_tree(reading.tree, iter(tokens)),
            basic_dependencies=reading.dependencies,
            enhanced_dependencies=_enhance_dependencies(reading.dependencies, lemmas),
        )

    def _read(self, kinds: tuple[str, ...]) -> _Reading | None:
        trees = _Chart(self._ways, kinds).trees()
        if not trees:
            return None
        dependencies: list[Dependency] = []
        head = self._attach(trees[0], iter(range(len(kinds))), dependencies)
        dependencies.append(Dependency("root", -1, head))
        tags = [_penn_label(symbol) for symbol in _symbols_of_words(trees[0])]
        return _Reading(tags, trees[0], sorted(dependencies, key=lambda one: one.dependent))

    def _attach(self, tree: _Phrase, positions: Iterator[int], found: list[Dependency]) -> int:
        """Finds the dependencies inside a phrase, and returns the position of its head."""
        if not tree.children:
            return next(positions)
        relations = self._ways[tree.symbol][tuple(one.symbol for one in tree.children)]
        heads = [self._attach(child, positions, found) for child in tree.children]
        head = heads[next(i for i, relation in enumerate(relations) if relation in ("=", "root"))]
        for i, relation in enumerate(relations):
            if relation not in ("=", "root"):
                found.append(Dependency(relation, heads[i + 1] if relation == "cc" else head, heads[i]))
        return head


def _lexicon() -> dict[str, _Word]:
    words = {word: _Word(kind, word) for kind, line in _OTHERS.items() for word in line.split()}
    for row in _NOUNS.split(","):
        forms = row.split()
        words.update({form: _Word(tag, forms[0]) for form, tag in zip(forms, ("NN", "NNS"), strict=True)})
    for kind, rows in _VERBS.items():
        for row in rows.split(","):
            forms = row.split()
            tags = (f"VBP:{kind}", f"VBZ:{kind}", f"VBG:{kind}", "VBN")
            words.update({form: _Word(tag, forms[0]) for form, tag in zip(forms, tags, strict=False)})
    return {**words, "an": _Word("DT", "a"), "is": _Word("VBZ:be", "be"), "are": _Word("VBP:be", "be")}


def _ways() -> _Ways:
    """The grammar's phrases, with their expansions."""
    found: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {}
    for line in filter(None, GRAMMAR.splitlines()):
        phrase, ways = line.split(" = ")
        for way in ways.split(" | "):
            symbols, relations = zip(*(child.rsplit("/", 1) for child in way.split()), strict=True)
            found.setdefault(phrase.strip(), {})[symbols] = relations
    return found


def _symbols_of_words(tree: _Phrase) -> Iterator[str]:
    if not tree.children:
        yield tree.symbol
    for child in tree.children:
        yield from _symbols_of_words(child)


def _penn_label(symbol: str) -> str:
    return _PUNCTUATION.get(symbol, symbol.split(":")[0])


def _bracket_tree(tree: _Phrase, tokens: Iterator[str]) -> str:
    if not tree.children:
        return f"({_penn_label(tree.symbol)} {next(tokens)})"
    inside = " ".join([_bracket_tree(child, tokens) for child in tree.children])
    return inside if tree.symbol.startswith("_") else f"({_penn_label(tree.symbol)} {inside})"


def _enhance_dependencies(basic: Sequence[Dependency], lemmas: Sequence[str]) -> list[Dependency]:
    """Makes the enhanced dependencies: relations name their preposition or conjunction, and subjects are shared.

    Conjuncts share their role in the sentence; "that" refers to the noun before it.
    """
    marks = {one.governor: lemmas[one.dependent] for one in basic if one.relation in ("case", "cc")}
    by_dependent = {one.dependent: one for one in basic}
    enhanced = [_name_relation(one, marks) for one in basic]
    for one in basic:
        if one.relation == "conj" and by_dependent[one.governor].relation.startswith("nsubj"):
            subject = by_dependent[one.governor]
            enhanced.append(Dependency(subject.relation, subject.governor, one.dependent))
        elif one.relation == "acl:relcl":
            that = next(d.dependent for d in basic if d.governor == one.dependent and d.relation == "nsubj")
            enhanced = [d for d in enhanced if d.dependent != that]
            enhanced += [Dependency("ref", one.governor, that), Dependency("nsubj", one.dependent, one.governor)]
    return sorted(enhanced, key=lambda one: (one.dependent, one.governor))


def _name_relation(one: Dependency, marks: dict[int, str]) -> Dependency:
    if one.relation not in ("nmod", "obl", "conj") or one.dependent not in marks:
        return one
    mark = marks[one.dependent]
    return Dependency(f"{one.relation}:{'agent' if mark == 'by' else mark}", one.governor, one.dependent)
