"""Every variant of every method on the tested device: training, later rounds, retrieval, and all other results."""

import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from densevse.artifacts.schemas.training import HISTORY
from densevse.config.load import load, variant
from densevse.config.training import NamedPhase, TrainingJob
from densevse.evaluation.protocols import folds
from densevse.evaluation.retrieval import retrieve
from densevse.methods.interface import Moment
from densevse.models.embedding import embed, write_correspondences
from densevse.models.encodings import KeptImages, write_encodings
from densevse.models.files import open_model
from densevse.models.retrieval import encode_test
from snakeproof import schema
from tests.cases import first_now
from tests.device.chosen import CPU, DEVICE
from tests.device.files import files_of
from tests.trainings import train_method

CONFIG = load(Path(__file__).parents[2] / "config", {})
DATASET = "flickr8k"
UNTRAINED = {name for name in CONFIG.variant_names() if variant(CONFIG, DATASET, name).is_untrained}
METHODS = [name for name in CONFIG.method_entries() if name not in UNTRAINED]
"""One variant of each method, for `make test`; `make test-all` runs the others."""
NUMBER = re.compile(r"(?<![\w.])(?!0(\.0)?\b)\d+(\.\d+)?(e[+-]?\d+)?")
EMBEDDING = ("embed_images", "embed_regions", "embed_sentences", "embed_phrases", "embed_words")


def small(parameters):
    """The same parameters with small sizes."""
    large = {name: 8 for name, value in parameters.items() if type(value) is int and value >= 64}
    return parameters | {name: size for name, size in large.items() if not name.endswith("at_once")}


def job_of(entry, number=0, **training):
    kept = entry.training.model_dump() | {"batch_size": 8, "validation_images": None} | training
    phases = [NamedPhase(**{**phase.model_dump(), "epochs": 1}) for phase in entry.round_phases(number)]
    return TrainingJob(
        method=entry.model,
        parameters=small(entry.parameters.model_dump()),
        sentences=entry.sentences,
        training=kept,
        phases=phases,
        seed=0,
        round=number,
    )


def alike(name):
    """The computations of a variant's trainings here; variants that differ in numbers other than 0 have the same."""
    entry = variant(CONFIG, DATASET, name)
    jobs = [job_of(entry, number) for number in range(min(2, entry.last_round + 1))]
    return NUMBER.sub("n", f"{jobs} {entry.views} {entry.dependencies} {entry.word_vectors} {entry.starts_from}")


DISTINCT = {alike(name): name for name in reversed([*METHODS, *CONFIG.variant_names()]) if name not in UNTRAINED}
OTHERS = [name for name in reversed(DISTINCT.values()) if name not in METHODS]
VARIANTS = [*METHODS, *first_now(OTHERS, 0)]
"""Of variants that are alike the first."""
CLOSED = {name for name in (*METHODS, *OTHERS) if getattr(variant(CONFIG, DATASET, name).parameters, "FITTED", False)}
"""Those with a closed form, which are not trained in steps."""
STEPPED = [*(name for name in METHODS if name not in CLOSED), *first_now([n for n in OTHERS if n not in CLOSED], 0)]


class Trained:
    """A variant's rounds, trained on a device into a folder."""

    def __init__(self, made, folder, name, rounds=2):
        self.entry = entry = variant(CONFIG, DATASET, name)
        self.files = files_of(made, entry.views, entry.sentences, entry.dependencies, entry.word_vectors)
        start = [str(Trained(made, folder, entry.starts_from, 1).last)] if entry.starts_from else []
        self.models, self.histories = [], []
        for number in range(min(rounds, entry.last_round + 1)):
            own = folder / f"{name}-{number}"
            given = self.files.replace_inputs(start=start, **self.correspondences(number, own))
            self.models.append(own / "model.safetensors")
            train_method(given, job_of(entry, number), self.models[-1], own / "history.parquet")
            self.histories.append(schema.read(own / "history.parquet", HISTORY))
            start = [str(self.models[-1])]

    @property
    def last(self):
        return self.models[-1]

    def correspondences(self, number, folder):
        """The correspondences that a round is trained on, learned by the model of the round before."""
        if number == 0:
            return {}
        inputs, method = self.opened()
        write_correspondences(method, inputs, "train", folder / "correspondences.parquet")
        return {"correspondences": str(folder / "correspondences.parquet")}

    def opened(self):
        from densevse.runtime.numerics import device

        return open_model(self.files.replace_inputs(network=[]), self.last, device())

    def figures(self, folder):
        """Every result of a trained model, by name."""
        numbers = [column for column in self.histories[0] if column not in ("phase", "seconds", "resumed", "best")]
        found = {}
        for number, (model, history) in enumerate(zip(self.models, self.histories, strict=True)):
            found |= {f"{number}.{name}": value.numpy() for name, value in load_file(model).items()}
            found[f"{number}.history"] = history[numbers].to_numpy(float)
        return found | self.retrieval() | self.embeddings() | self.encodings(folder)

    def retrieval(self):
        encoded = encode_test({str(self.last): self.files.replace_inputs(network=[])}, 1)
        rows = retrieve(encoded.scorers[0], encoded.rows, folds(encoded.rows, "full"), block=2, top=3)
        return {"ranks": rows["rank"].to_numpy(), "scores": np.concatenate(rows["top_scores"].to_list())}

    def embeddings(self):
        inputs, method = self.opened()
        abilities = [
            name for name in EMBEDDING if method.can(name) and (name != "embed_regions" or "regions" in inputs.stores)
        ]
        return {"embedded": embed(method, inputs, "val")[1]} if abilities else {}

    def encodings(self, folder):
        inputs, method = self.opened()
        write_encodings(method, inputs, "val", folder / f"{self.entry.model}.parquet")
        kept = KeptImages(folder / f"{self.entry.model}.parquet", type(method), next(method.parameters()).device)
        return {f"kept {number}": part.cpu().numpy() for number, part in enumerate(kept.encoding(np.arange(3)))}


def assert_alike(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_has_the_figures_of_the_cpu(made, tmp_path, compute_on, same_draws, name):
    figures = {}
    for device in (CPU, DEVICE):
        compute_on(device)
        folder = tmp_path / device.type
        figures[device] = Trained(made, folder, name).figures(folder)
    assert_alike(figures[DEVICE], figures[CPU])


class Reads:
    """Parameters that note which of them are read."""

    def __init__(self, of, found):
        self._of, self._found = of, found

    def __getattr__(self, name):
        derived = getattr(type(self._of), name, None)
        if isinstance(derived, property):
            return derived.fget(self)
        self._found.add(name)
        return getattr(self._of, name)


@pytest.mark.parametrize("name", [name for name in METHODS if variant(CONFIG, DATASET, name).round_phases(0)])
def test_a_phase_may_change_what_the_loss_reads(made, tmp_path, compute_on, monkeypatch, name):
    """And nothing else. Whether sm-LSTM attends is also read when the model is built, so that no phase changes it."""
    compute_on(CPU)
    found = set()

    def moment(epoch, phase, parameters):
        return Moment(epoch, phase, Reads(parameters, found))

    monkeypatch.setattr("densevse.training.loop.Moment", moment)
    trained = Trained(made, tmp_path, name)
    assert found - {"select"} == type(trained.entry.parameters).OF_LOSS
