"""Constituency trees as HM-LSTM reads them: unary chains collapsed, noun phrases marked."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from snakeproof.errors import InputError

# An opening bracket with its label, and with its word if it is a whole leaf; a closing bracket; anything else.
# ASCII space only: CoreNLP writes the word 1 1/2 with a no-break space.
PIECES = re.compile(r"\(\s*([^\s()]*)\s*(?:([^\s()]+)\s*\))?|(\))|([^\s()]+)", re.ASCII)
NOT_PHRASES = ("ROOT", "TOP", "")


@dataclass(frozen=True)
class Tree:
    """A constituency tree as flat arrays over its nodes: children before parents, the root last.

    A node is a word with its tag (a leaf), or a phrase with at least two children. So no two nodes span the same
    tokens, and a one-word sentence is a single node.
    """

    parent: NDArray[np.int32]  # (nodes,) the parent's number; -1 at the root
    label: list[str]  # (nodes,) the topmost phrase label of the node's unary chain, or the tag of a lone word
    token: NDArray[np.int32]  # (nodes,) which token a leaf is; -1 at phrases
    start: NDArray[np.int32]  # (nodes,) the first token below the node
    end: NDArray[np.int32]  # (nodes,) the token after the last one
    noun_phrase: NDArray[np.bool_]  # (nodes,) whether the label is NP, with or without a function (NP-TMP)


def read_tree(bracketed: str) -> Tree:
    """Reads a tree in Penn bracket notation and collapses its unary chains.

    A chain such as NP -> NP -> NN -> dog becomes one node with the topmost phrase label, so that no phrase counts
    twice (chosen: HM-LSTM, section 3.3, takes each noun phrase as a candidate). Raises `InputError` if the text is
    not one whole tree.
    """
    nodes = _Nodes()
    children: list[int] = []
    open_phrases: list[tuple[str, list[int]]] = []
    for label, word, closing, stray in PIECES.findall(bracketed):
        if word:
            children.append(nodes.add_word(label))
        elif closing and open_phrases and children:
            label, siblings = open_phrases.pop()
            siblings.append(nodes.add_phrase(label, children))
            children = siblings
        elif closing or stray:
            raise _tree_error(bracketed)
        else:
            open_phrases.append((label, children))
            children = []
    if open_phrases or len(children) != 1:
        raise _tree_error(bracketed)
    return nodes.tree()


def phrases(tree: Tree) -> NDArray[np.int64]:
    """The numbers of a tree's noun phrases, without the root, which is the sentence itself."""
    return np.flatnonzero(tree.noun_phrase[:-1])


class _Nodes:
    """The nodes of a tree that is being read, numbered in the order of completion."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.label: list[str] = []
        self.token: list[int] = []
        self.start: list[int] = []
        self.end: list[int] = []
        self.tokens = 0

    def add_word(self, tag: str) -> int:
        self.tokens += 1
        return self._add(tag, self.tokens - 1, self.tokens - 1)

    def add_phrase(self, label: str, children: list[int]) -> int:
        """Adds a phrase; an only child gets no new node but takes the label."""
        if len(children) == 1:
            if label not in NOT_PHRASES:
                self.label[children[0]] = label
            return children[0]
        node = self._add(label, -1, self.start[children[0]])
        for child in children:
            self.parent[child] = node
        return node

    def _add(self, label: str, token: int, start: int) -> int:
        self.parent.append(-1)
        self.label.append(label)
        self.token.append(token)
        self.start.append(start)
        self.end.append(self.tokens)
        return len(self.parent) - 1

    def tree(self) -> Tree:
        noun_phrase = [label == "NP" or label.startswith(("NP-", "NP=")) for label in self.label]
        numbers = (np.array(values, dtype=np.int32) for values in (self.parent, self.token, self.start, self.end))
        parent, token, start, end = numbers
        return Tree(parent, self.label, token, start, end, np.array(noun_phrase))


def _tree_error(bracketed: str) -> InputError:
    shown = bracketed if len(bracketed) <= 200 else f"{bracketed[:200]}..."
    return InputError(f"not a tree in Penn bracket notation, such as (NP (DT a) (NN dog)): {shown!r}")
