"""Scores sentences about a split's images against people's sentences, and chooses the best sentence by its score.

BLEU, ROUGE-L, CIDEr, METEOR and SPICE are by pycocoevalcap. BLEU is stored as counts, which tables sum. METEOR and
SPICE are Java programs; SPICE's parser is an old CoreNLP, in a folder that the workflow obtains.

There are two sets of references: all of an image's sentences, and all but the first. A person's sentence, the first,
can only be compared with the others, so every row of a table is measured against these too.

The best of the sentences about an image is that with the highest CIDEr against its first sentence: an oracle of the
choice (ours).
"""

import json
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge

from densevse.analyses.caption_scores.settings import writer_with_oracle
from densevse.artifacts.families import read_families
from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.captions import ALL, CAPTION_SCORES, GENERATED, ORDERS, OTHER_REFERENCES
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.language.corenlp_jars import require_java
from densevse.language.tokens import tokenize_for_metrics
from densevse.runtime.arrays import Reals
from snakeproof import schema
from snakeproof.errors import InputError

SPICE_MEMORY_MB, METEOR_MEMORY_MB = 4000, 2048


def score_captions(
    images: str,
    captions: str,
    generated: str,
    metrics: Collection[str],
    wildcards: Mapping[str, str],
    output: str,
    spice: str | None = None,
) -> None:
    """The job that scores the first sentence about each image of a split, and writes CAPTION_SCORES.

    `spice` is the folder of the jars that SPICE needs. An image without a generated sentence has no row. Raises
    `InputError` if no such image has two sentences by people.
    """
    known = schema.read(captions, CAPTIONS, ["image_id", "position", "split", "text"])
    people = known[known["split"] == wildcards["split"]].sort_values("position", kind="stable")
    rows = schema.read(generated, GENERATED, ["image_id", "rank", "sentence", "in_training"])
    first = rows[rows["rank"] == 1].set_index("image_id")
    families = read_families(images)
    people["text"] = [" ".join(tokenize_for_metrics(text)) for text in people["text"]]
    found = []
    for name, references in ((ALL, people), (OTHER_REFERENCES, people[people["position"] > 0])):
        texts = references.groupby("image_id", sort=False)["text"].agg(list)
        found.append(_reference_scores(name, first, texts, metrics, spice))
    scores = pd.concat(found, ignore_index=True)
    scores["family"] = families[scores["image_id"]].to_numpy()
    schema.write(scores, CAPTION_SCORES, output)


def _reference_scores(
    name: str, first: pd.DataFrame, texts: pd.Series, metrics: Collection[str], spice: str | None
) -> pd.DataFrame:
    """The rows for one set of references, for images with references, in the order of `first`."""
    asked = first[first.index.isin(texts.index)]
    if asked.empty:
        raise InputError(f"no image of the split has a sentence to compare with (references: {name}).")
    words = [tokenize_for_metrics(sentence) for sentence in asked["sentence"]]
    references = [texts[image] for image in asked.index]
    rows = sentence_metrics([" ".join(sentence) for sentence in words], references, metrics, spice)
    described: dict[str, Any] = {"image_id": asked.index, "references": name, "words": words}
    return rows.assign(**described, in_training=asked["in_training"].to_numpy())


def sentence_metrics(
    sentences: Sequence[str], references: Sequence[Sequence[str]], metrics: Collection[str], spice: str | None = None
) -> pd.DataFrame:
    """The metric columns of CAPTION_SCORES, a row for each sentence.

    `sentences` and their `references` are words with spaces between; `spice` is the folder of the jars that SPICE
    needs. BLEU, ROUGE-L and CIDEr are always measured; METEOR and SPICE are missing unless `metrics` names them.
    """
    rows = _bleu_counts(sentences, references)
    truth = {number: list(some) for number, some in enumerate(references)}
    found = {number: [sentence] for number, sentence in enumerate(sentences)}
    rows["rouge_l"] = np.asarray(Rouge().compute_score(truth, found)[1])
    rows["cider"] = np.asarray(Cider().compute_score(truth, found)[1])
    rows = rows.assign(meteor=np.nan, meteor_of_all=np.nan, spice=np.nan)
    if "meteor" in metrics:
        rows["meteor_of_all"], rows["meteor"] = _meteor(truth, found)
    if "spice" in metrics and spice:
        rows["spice"] = spice_scores(sentences, references, spice)
    return rows.astype(dict.fromkeys(("meteor", "meteor_of_all", "spice"), "Float64"))


def _meteor(truth: Mapping[int, list[str]], found: Mapping[int, list[str]]) -> tuple[float, list[float]]:
    """METEOR of all sentences together, and of each. Raises `InputError` with Java's words if it fails."""
    require_java(METEOR_MEMORY_MB)
    meteor = Meteor()
    try:
        scores: tuple[float, list[float]] = meteor.compute_score(truth, found)
    except (ValueError, OSError) as error:
        meteor.lock.release()  # it is held, and the end of Meteor would wait for it for ever
        meteor.meteor_p.kill()
        said = meteor.meteor_p.communicate()[1].decode(errors="replace")
        raise InputError(f"METEOR failed ({error}); Java's output:\n{said[-2000:]}") from error
    return scores


def _bleu_counts(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> pd.DataFrame:
    scorer = BleuScorer(n=len(ORDERS))
    for sentence, some in zip(sentences, references, strict=True):
        scorer += (sentence, list(some))
    rows = [
        {
            **{f"correct_{n}": counts["correct"][n - 1] for n in ORDERS},
            **{f"guessed_{n}": counts["guess"][n - 1] for n in ORDERS},
            "reference_length": min((abs(length - counts["testlen"]), length) for length in counts["reflen"])[1],
        }
        for counts in scorer.ctest
    ]
    return pd.DataFrame(rows)


def spice_scores(sentences: Sequence[str], references: Sequence[Sequence[str]], jars: str) -> list[float]:
    """SPICE's F of each sentence (Anderson et al. 2016). Raises `InputError` with Java's output if it fails."""
    package = Path(str(find_spec("pycocoevalcap.spice").origin)).parent  # type: ignore[union-attr]
    asked = [
        {"image_id": number, "test": sentence, "refs": list(some)}
        for number, (sentence, some) in enumerate(zip(sentences, references, strict=True))
    ]
    require_java(SPICE_MEMORY_MB)
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "sentences.json"), Path(folder, "scores.json")
        question.write_text(json.dumps(asked), encoding="utf-8")
        path = f"{package}/spice-1.0.jar:{package}/lib/*:{Path(jars).absolute()}/*"
        command = ["java", f"-Xmx{SPICE_MEMORY_MB}m", "-cp", path, "edu.anu.spice.SpiceScorer", str(question)]
        command += ["-out", str(answer), "-subset", "-silent"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode or not answer.exists():
            raise InputError(f"SPICE failed; Java's output:\n{(done.stdout + done.stderr)[-2000:]}")
        scores = {item["image_id"]: item["scores"]["All"]["f"] for item in json.loads(answer.read_text())}
    return [float(scores[number]) for number in range(len(sentences))]


def choose_best_sentences(captions: str, generated: str, wildcards: Mapping[str, str], output: str) -> None:
    """The job that writes the best GENERATED sentence about each image, with its CIDEr as its score.

    A tie keeps the first in rank. `generated` are sentences of a generator with an oracle. Raises `InputError` if an
    image has no sentence by a person.
    """
    people = schema.read(captions, CAPTIONS, ["image_id", "position", "text"])
    first = people.sort_values("position", kind="stable").drop_duplicates("image_id").set_index("image_id")["text"]
    rows = schema.read(generated, GENERATED)
    unknown = rows.loc[~rows["image_id"].isin(first.index), "image_id"]
    if len(unknown):
        raise InputError(f"{captions}: the image {unknown.iloc[0]!r} has no sentence to choose by.")
    rows["score"] = 0.0
    references = {image: " ".join(tokenize_for_metrics(first[image])) for image in rows["image_id"].unique()}
    sentences = [" ".join(tokenize_for_metrics(sentence)) for sentence in rows["sentence"]]
    for _, same in rows.groupby("rank"):
        rows.loc[same.index, "score"] = _ciders([sentences[row] for row in same.index], same["image_id"], references)
    ordered = rows.sort_values(["score", "rank"], ascending=[False, True], kind="stable")
    best = ordered.drop_duplicates("image_id").sort_index().assign(rank=1)
    writer = writer_with_oracle(str(Identity.from_wildcards(wildcards).variant), wildcards["oracle"], "best")
    schema.write(best, GENERATED, output, variant=writer)


def _ciders(sentences: Sequence[str], images: pd.Series, references: dict[str, str]) -> Reals:
    """CIDEr of one sentence about each of some images; document frequencies are those of all `references`."""
    found = {image: [""] for image in references} | {
        image: [text] for image, text in zip(images, sentences, strict=True)
    }
    _, scores = Cider().compute_score({image: [text] for image, text in references.items()}, found)
    place = {image: row for row, image in enumerate(references)}
    chosen: Reals = scores[[place[image] for image in images]]
    return chosen
