"""Metrics of generated sentences against people's: BLEU, ROUGE-L, CIDEr, METEOR and SPICE, by pycocoevalcap.

BLEU is stored as counts (densevse/analyses/caption_scores/bleu.py). METEOR and SPICE are Java programs; SPICE's parser
is an old CoreNLP, in a folder that the workflow obtains.
"""

import json
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge

from densevse.artifacts.schemas.captions import ORDERS
from densevse.runtime.errors import InputError

SPICE_MEMORY_MB = 4000


def measured(
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
        rows["meteor_of_all"], rows["meteor"] = Meteor().compute_score(truth, found)
    if "spice" in metrics and spice:
        rows["spice"] = spice_scores(sentences, references, spice)
    return rows.astype(dict.fromkeys(("meteor", "meteor_of_all", "spice"), "Float64"))


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
