import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from densevse.artifacts.schemas.sentences import WORDS
from densevse.artifacts.schemas.training import HISTORY
from densevse.config.training import NamedPhase, Recipe, TrainingConfig, TrainingJob
from densevse.data.inputs import Inputs
from densevse.methods.interface import Moment
from densevse.models.files import build_method, load_model, save_model
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Interrupted, Trainer, epoch_batches, training_precision
from densevse.training.retrieval import MEASURES, Retrieval, recalls_and_rsum
from densevse.training.task import Task
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.strict import Strict
from tests.trainings import train_method

PARAMETERS = {
    "dimension": 16,
    "word_dimension": 8,
    "encoder": "gru",
    "dropout": 0.3,
}
TRAINING = {"batch_size": 4, "grad_clip": 2.0, "checkpoint_steps": 4}
PHASES = [
    {"name": "main", "epochs": 2, "learning_rate": 0.01},
    {"name": "settle", "epochs": 1, "learning_rate": 0.001, "parameters": {"negatives": "hardest"}},
]
STILL = [{"name": "still", "epochs": 1, "learning_rate": 1e-30}]


@pytest.fixture
def job(files, tmp_path):
    """Runs a training into a folder of that name; returns the model's bytes and the history."""

    def run(name, training=(), phases=PHASES, start=None, seed=0, number=0, **parameters):
        folder = tmp_path / name / "round0"
        described = TrainingJob(
            method="vse",
            parameters={**PARAMETERS, **parameters},
            sentences=["words"],
            training={**TRAINING, **dict(training)},
            phases=phases,
            seed=seed,
            round=number,
        )
        model, history = folder / "model.safetensors", folder / "history.parquet"
        train_method(files.replace_inputs(start=start or []), described, model, history)
        assert sorted(path.name for path in folder.iterdir()) == ["history.parquet", "model.safetensors"]
        return model.read_bytes(), schema.read(history, HISTORY)

    return run


@pytest.fixture
def trainer(files, tmp_path):
    """A trainer without checkpoints; epochs at one learning rate, and the given training settings."""
    inputs = Inputs(files, ["words"])

    def make(epochs=3, learning_rate=0.01, before=(), **training):
        torch.manual_seed(0)
        task = Retrieval(build_method("vse", PARAMETERS, inputs.shapes()), inputs.pairs("train"), inputs.pairs("val"))
        phases = [*before, NamedPhase(name="main", epochs=epochs, learning_rate=learning_rate)]
        recipe = Recipe(training={**TRAINING, **training}, phases=phases, seed=0)
        return Trainer(task, recipe, Checkpoint(tmp_path / "model.safetensors", "0" * 64))

    return make


def interrupt_at(monkeypatch, step, how):
    """Interrupts a trainer once after a number of steps: by a signal to this process, or by an end without warning."""
    original, count = Trainer.step, [0]

    def stepping(self, *given):
        count[0] += 1
        if count[0] == step:
            how()
        return original(self, *given)

    monkeypatch.setattr(Trainer, "step", stepping)


def send(number):
    def how():
        os.kill(os.getpid(), number)

    return how


def die():
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", [2, 4, 6, 7, 17])
@pytest.mark.parametrize("how", [send(signal.SIGTERM), send(signal.SIGUSR1), die], ids=["TERM", "USR1", "killed"])
@pytest.mark.parametrize("training", [{}, {"ema_decay": 0.8}], ids=["last", "average"])
def test_an_interrupted_training_ends_like_an_uninterrupted_one(job, monkeypatch, step, how, training):
    whole, history = job("whole", training)
    with monkeypatch.context() as patch:
        interrupt_at(patch, step, how)
        with pytest.raises((Interrupted, KeyboardInterrupt)) as stopped:
            job("broken", training)
    if isinstance(stopped.value, Interrupted):
        assert stopped.value.code  # a text: the process ends with status 1
    resumed, resumed_history = job("broken", training)
    assert resumed == whole
    same = [column for column in history if column not in ("resumed", "seconds")]
    assert resumed_history[same].equals(history[same])
    assert history["resumed"].max() == 0
    saved = step > TRAINING["checkpoint_steps"] or how is not die
    assert resumed_history["resumed"].max() == (1 if saved else 0)


def test_the_terminal_is_told_how_far_a_training_is_and_the_time_left(trainer):
    made = trainer(epochs=4)
    assert made.progress_line() == ""
    made.progress.history = [
        {"epoch": 0, "loss": None, "rsum": 1.0, "seconds": 50.0},
        {"epoch": 1, "loss": 0.5, "rsum": 10.0, "seconds": 100.0},
        {"epoch": 2, "loss": 0.25, "rsum": 12.34, "seconds": 140.0},
    ]
    assert made.progress_line() == "loss 0.2500, rsum on val 12.34, 0:04:00 left"


def test_stop_signals_are_given_back(trainer):
    before = signal.getsignal(signal.SIGTERM)
    trainer(epochs=1).run()
    assert signal.getsignal(signal.SIGTERM) is before


def test_history(job, files):
    _, history = job("one")
    assert history["epoch"].tolist() == [1, 2, 3]
    steps = -(-len(Inputs(files, ["words"]).pairs("train").rows.caption_ids) // 4)
    assert history["step"].tolist() == [steps, 2 * steps, 3 * steps]
    assert np.allclose(history["learning_rate"], [0.01, 0.01, 0.001])
    assert history["phase"].tolist() == ["main", "main", "settle"]
    assert np.allclose(history[MEASURES[:6]].sum(axis=1), history["rsum"])
    # Of the only epoch whose parameters are those of the end: the phase before it has another loss.
    assert history["best"].tolist() == [False, False, True]


def test_some_training_images_are_trained_on_alone(job, files):
    _, history = job("some", {"training_images": 3}, STILL)
    kept = Inputs(files, ["words"]).pairs("train", images=3)
    assert len(kept.rows.image_ids) == 3
    assert history["step"].tolist() == [-(-len(kept.rows.caption_ids) // 4)]


def test_seeds_differ_and_repeat(job):
    assert job("first")[0] == job("second")[0]
    assert job("first")[0] != job("third", seed=1)[0]


def measured(monkeypatch, sums, seen=None):
    """Makes every validation return the next of these sums, and keeps the validated weights in `seen`."""
    found = iter(sums)

    def validate(self):
        if seen is not None:
            seen.append({key: value.clone() for key, value in self.module.state_dict().items()})
        return {"rsum": next(found)}

    monkeypatch.setattr(Retrieval, "validate", validate)


def test_best_weights_are_kept(trainer, monkeypatch):
    seen = []
    measured(monkeypatch, [1.0, 5.0, 5.0, 3.0], seen)
    one = trainer(epochs=4)
    assert [row["best"] for row in one.run()] == [False, True, False, False]
    assert all(torch.equal(value, seen[1][key]) for key, value in one.task.module.state_dict().items())
    assert not torch.equal(seen[1]["image.weight"], seen[3]["image.weight"])


def test_the_average_over_steps_is_validated_and_kept(trainer, monkeypatch):
    """And training goes on from the last step as it does without an average."""
    plain, averaged, steps = [], [], []
    measured(monkeypatch, [1.0, 2.0, 3.0], plain)
    without = trainer()
    expected = {key: value.clone() for key, value in without.task.module.state_dict().items()}
    taken = Trainer.step

    def step(self, *given):
        loss = taken(self, *given)
        steps.append({key: value.clone() for key, value in self.task.module.state_dict().items()})
        return loss

    monkeypatch.setattr(Trainer, "step", step)
    without.run()
    without.checkpoint.remove()
    measured(monkeypatch, [1.0, 5.0, 3.0], averaged)
    one = trainer(ema_decay=0.75)
    one.run()
    assert len(steps) % 6 == 0  # three epochs without and three with the average
    epoch = len(steps) // 6
    for number, (before, after) in enumerate(zip(steps[: 3 * epoch], steps[3 * epoch :], strict=True), 1):
        assert all(torch.equal(value, after[key]) for key, value in before.items())
        expected = {key: 0.75 * value + 0.25 * after[key] for key, value in expected.items()}
        if number % epoch == 0:
            found = averaged[number // epoch - 1]
            assert all(torch.allclose(value, expected[key], atol=1e-6) for key, value in found.items())
    assert all(torch.equal(value, averaged[1][key]) for key, value in one.task.module.state_dict().items())
    assert not torch.equal(plain[1]["image.weight"], averaged[1]["image.weight"])


def test_patience(trainer, monkeypatch):
    measured(monkeypatch, [2.0, 1.0, 3.0, 3.0, 2.0, 9.0])
    assert len(trainer(epochs=6, patience=2).run()) == 5


def test_a_phase_follows_when_patience_with_the_one_before_is_at_an_end(trainer, monkeypatch):
    """Else a lower learning rate, which is what the second phase is for, would never be tried."""
    measured(monkeypatch, [2.0, 1.0, 1.5, 1.0, 1.8, 9.0])
    first = NamedPhase(name="first", epochs=5, learning_rate=0.1)
    rows = trainer(epochs=4, before=[first], patience=2).run()
    assert [(row["epoch"], row["phase"]) for row in rows] == [
        (1, "first"), (2, "first"), (3, "first"), (6, "main"), (7, "main"),
    ]  # fmt: skip
    assert [row["learning_rate"] for row in rows] == [0.1] * 3 + [0.01] * 2


WARM_UP = NamedPhase(name="warm_up", epochs=2, learning_rate=0.01, parameters={"negatives": "hardest"})


def test_no_epoch_of_a_warm_up_is_kept_however_good(trainer, monkeypatch):
    """Its weights are another method's: those of VSE would appear in the row of VSE++."""
    measured(monkeypatch, [9.0, 8.0, 1.0, 3.0, 2.0])
    assert [row["best"] for row in trainer(before=[WARM_UP]).run()] == [False, False, False, True, False]


def test_patience_begins_after_a_warm_up(trainer, monkeypatch):
    measured(monkeypatch, [9.0, 8.0, 3.0, 2.0, 1.0, 5.0])
    rows = trainer(epochs=4, before=[WARM_UP], patience=2).run()
    assert [row["best"] for row in rows] == [False, False, True, False, False]


def test_a_phase_that_changes_a_learning_rate_alone_is_no_warm_up(trainer, monkeypatch):
    measured(monkeypatch, [9.0, 8.0, 1.0])
    first = NamedPhase(name="first", epochs=2, learning_rate=0.1)
    assert [row["best"] for row in trainer(epochs=1, before=[first]).run()] == [True, False, False]


def test_validation_leaves_training_mode_and_randomness_alone(trainer):
    one = trainer()
    method = one.task.module
    method.train()
    before = torch.get_rng_state()
    assert recalls_and_rsum(method, one.task.val, set()) == one.task.validate()
    assert method.training
    assert torch.equal(before, torch.get_rng_state())


def test_the_gradient_is_clipped(trainer):
    one = trainer(grad_clip=1e-3, optimizer="sgd")
    before = [weight.detach().clone() for weight in one.weights.values()]
    one.step(one.task.batch(np.arange(4), 1), Moment(1, "main", one.task.parameters), 1.0)
    moved = torch.cat([(weight - old).flatten() for weight, old in zip(one.weights.values(), before, strict=True)])
    assert moved.norm().item() == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_phase_may_leave_modules_as_they_are(trainer, optimizer, monkeypatch):
    """For that phase alone, whatever the optimiser remembers of them."""
    first = NamedPhase(name="first", epochs=1, learning_rate=0.01)
    still = NamedPhase(name="still", epochs=1, learning_rate=0.01, frozen=["words"])
    one = trainer(epochs=1, before=[first, still], optimizer=optimizer, momentum=0.9, weight_decay=0.1)
    words, images = [], []

    def close(trainer, original=Trainer._close_epoch):
        words.append(trainer.task.module.words.weight.detach().clone())
        images.append(trainer.task.module.image.weight.detach().clone())
        original(trainer)

    monkeypatch.setattr(Trainer, "_close_epoch", close)
    one.run()
    assert torch.equal(words[0], words[1])
    assert not torch.equal(words[1], words[2])
    assert not torch.equal(images[0], images[1])


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_phase_may_begin_to_train_what_the_one_before_left(trainer, optimizer, monkeypatch):
    still = NamedPhase(name="still", epochs=1, learning_rate=0.01, frozen=["words"])
    one = trainer(epochs=1, before=[still], optimizer=optimizer, momentum=0.9)
    before, words = one.task.module.words.weight.detach().clone(), []
    close = Trainer._close_epoch
    monkeypatch.setattr(
        Trainer, "_close_epoch", lambda self: (words.append(self.task.module.words.weight.clone()), close(self))
    )
    one.run()
    assert torch.equal(words[0], before)
    assert not torch.equal(words[1], before)


def test_a_cpu_trains_in_half_precision_only_if_it_is_told_to_and_faster(trainer, monkeypatch):
    cpu, told = torch.device("cpu"), TrainingConfig(**TRAINING, cpu_precision="bf16")
    for faster in ("bf16", "fp32"):
        monkeypatch.setattr("densevse.training.loop.fastest_precision", lambda faster=faster: faster)
        assert training_precision(TrainingConfig(**TRAINING, precision="bf16"), cpu) == "float32"
    with pytest.raises(InputError, match=r"cpu_precision: bf16 is not faster .* on this processor.*remove the key"):
        training_precision(told, cpu)
    monkeypatch.setattr("densevse.training.loop.fastest_precision", lambda: "bf16")
    assert training_precision(told, cpu) == "bf16"
    in_half, in_float = (trainer(cpu_precision=one) for one in ("bf16", "float32"))
    batch, moment = in_half.task.batch(np.arange(16), 1), Moment(1, "main", in_half.task.parameters)
    losses = []
    for one in (in_half, in_float):
        torch.manual_seed(0)
        losses.append(one.step(batch, moment, 0.01))
    torch.testing.assert_close(*losses, rtol=0.05, atol=0.05)
    assert losses[0] != losses[1]
    assert all(weight.dtype == torch.float32 for weight in in_half.weights.values())
    monkeypatch.setattr("densevse.runtime.exact._begun", True)
    with pytest.raises(InputError, match="cpu_precision: bf16 is not exact; remove the key, or leave `exact` out"):
        training_precision(told, cpu)


def test_half_precision_is_of_gpus_that_compute_in_it(monkeypatch):
    settings, card = TrainingConfig(**TRAINING, precision="bf16"), torch.device("cuda", 0)
    assert training_precision(settings, torch.device("cpu")) == "float32"
    for has_it, expected in ((True, "bf16"), (False, "float32")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, has_it=has_it: has_it)
        assert training_precision(settings, card) == expected


def test_a_frozen_module_that_is_not_there_is_named(trainer):
    with pytest.raises(InputError, match=r"phases\.main\.frozen: 'word' is no module .*known: image, sentence, words"):
        trainer(before=[NamedPhase(name="main", epochs=1, learning_rate=0.01, frozen=["word"])])


def test_divergence_is_an_error_that_says_what_to_do(trainer, monkeypatch):
    one = trainer()
    monkeypatch.setattr(one.task, "loss", lambda *_: one.task.module.image.weight.sum() * float("nan"))
    with pytest.raises(InputError, match="learning_rate"):
        one.run()


def test_a_batch_of_one(trainer):
    assert len(trainer(batch_size=1, epochs=1).run()) == 1


def test_the_next_round_starts_from_the_last(job, tmp_path):
    job("before")
    previous = str(tmp_path / "before/round0/model.safetensors")
    still, history = job("after", phases=STILL, start=previous, number=1, dropout=0.0)
    (tmp_path / "copy.safetensors").write_bytes(still)
    old, new = load_model(previous), load_model(tmp_path / "copy.safetensors")
    before = dict(old.named_parameters())
    assert all(torch.equal(weight, before[name]) for name, weight in new.named_parameters())
    assert history["epoch"].tolist() == [0, 1]
    assert np.isnan(history["loss"][0])
    with pytest.raises(InputError, match=r"image.bias: expected \(8,\), found \(16,\)"):
        job("smaller", start=previous, dimension=8)


def test_a_round_without_phases_keeps_the_weights_that_it_starts_from(job, tmp_path):
    job("before")
    previous = tmp_path / "before/round0/model.safetensors"
    kept, history = job("after", {"ema_decay": 0.9}, [], str(previous), number=1)
    (tmp_path / "copy.safetensors").write_bytes(kept)
    before, after = (load_model(path).state_dict() for path in (previous, tmp_path / "copy.safetensors"))
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert history[["epoch", "step", "learning_rate", "best"]].to_numpy().tolist() == [[0, 0, 0.0, True]]


def test_without_phases_and_start_the_weights_stay_as_they_were_drawn(job):
    drawn, history = job("drawn", phases=[])
    assert history["epoch"].tolist() == [0]
    assert job("again", phases=[])[0] == drawn
    assert job("trained")[0] != drawn


def test_a_round_that_makes_it_worse_keeps_what_it_started_from(job, tmp_path, monkeypatch):
    job("before")
    previous = tmp_path / "before/round0/model.safetensors"
    measured(monkeypatch, [9.0, 3.0, 2.0, 1.0])
    after, history = job("after", start=str(previous), number=1)
    assert history["best"].tolist() == [True, False, False, False]
    (tmp_path / "copy.safetensors").write_bytes(after)
    before = load_model(previous).state_dict()
    assert all(
        torch.equal(value, before[key]) for key, value in load_model(tmp_path / "copy.safetensors").state_dict().items()
    )


def test_a_round_does_not_repeat_the_batches_of_the_one_before():
    orders = [np.concatenate(epoch_batches(100, 10, 0, 1, number)).tolist() for number in range(3)]
    assert len({tuple(order) for order in orders}) == 3


def test_a_method_does_not_start_from_another_unless_it_says_how(files, job, tmp_path):
    job("before")
    path = str(tmp_path / "before/round0/model.safetensors")
    inputs = Inputs(files, ["words"])
    save_model(build_method("vse", PARAMETERS, inputs.shapes()), "another", ["words"], path)
    with pytest.raises(InputError, match=r"cannot start .* VSE cannot start from a model of the method another"):
        job("after", start=path)


def test_a_parameter_that_does_not_exist(job):
    with pytest.raises(InputError, match="depth"):
        job("one", depth=3)


def test_a_phase_that_changes_a_parameter_that_does_not_exist(job):
    with pytest.raises(InputError, match=r"(?s)phases\.main\.parameters.*depth"):
        job("one", phases=[{**PHASES[0], "parameters": {"depth": 3}}])


class Line(Task):
    """A toy: y = 3 x + 1, learned from points. The loop knows nothing of it."""

    selects = "closeness"
    examples = 40

    def __init__(self):
        torch.manual_seed(0)
        self.module, self.parameters, self.moments = nn.Linear(1, 1), Weighting(), []

    def batch(self, examples, epoch):
        x = torch.from_numpy(examples).float()[:, None] / 40
        return x, 3 * x + 1

    def loss(self, batch, moment):
        self.moments.append((moment.epoch, moment.phase, moment.parameters.weight))
        return moment.parameters.weight * (self.module(batch[0]) - batch[1]).square().mean()

    def validate(self):
        return {"closeness": -abs(self.module.weight.item() - 3), "bias": self.module.bias.item()}

    def save(self, path, **found):
        raise AssertionError("the loop writes no weights")


class Weighting(Strict):
    weight: float = 1.0


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_any_task_is_trained_through_its_phases(tmp_path, optimizer):
    task = Line()
    phases = [
        NamedPhase(name="rise", epochs=2, learning_rate=0.0, final_learning_rate=0.1, parameters={"weight": 2.0}),
        NamedPhase(name="on", epochs=40, learning_rate=0.1),
    ]
    recipe = Recipe(training=TrainingConfig(optimizer=optimizer, batch_size=8), phases=phases, seed=0)
    rows = Trainer(task, recipe, _checkpoint(tmp_path)).run()
    assert sorted(set(task.moments))[:3] == [(1, "rise", 2.0), (2, "rise", 2.0), (3, "on", 1.0)]
    assert [row["learning_rate"] for row in rows[:3]] == pytest.approx([0.05, 0.1, 0.1])
    assert rows[-1]["closeness"] > rows[0]["closeness"]
    assert [row["best"] for row in rows].count(True) == 1
    best = max(rows, key=lambda row: row["closeness"])
    assert -abs(task.module.weight.item() - 3) == best["closeness"]


def test_training_does_not_load_the_compiler_of_torch(tmp_path):
    """Loading it takes longer than many a training on scenes."""
    code = """
import sys
from pathlib import Path
from tests.training import test_loop
test_loop.test_any_task_is_trained_through_its_phases(Path(sys.argv[1]), "adam")
sys.exit("torch._dynamo" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)


def _checkpoint(folder):
    return Checkpoint(folder / "model.safetensors", "0" * 64)


@pytest.mark.parametrize(("sentences", "size"), [(1, 4), (4, 4), (9, 4), (129, 128)])
def test_sampler(sentences, size):
    batches = epoch_batches(sentences, size, seed=1, epoch=1)
    assert sorted(np.concatenate(batches)) == list(range(sentences))
    lengths = [len(batch) for batch in batches]
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    again = epoch_batches(sentences, size, seed=1, epoch=1)
    assert all(np.array_equal(one, other) for one, other in zip(batches, again, strict=True))


def test_sampler_shuffles_by_seed_and_epoch():
    orders = [np.concatenate(epoch_batches(100, 10, seed, epoch)).tolist() for seed in (0, 1) for epoch in (1, 2)]
    assert len({tuple(order) for order in orders}) == 4


def test_a_damaged_checkpoint_is_named(tmp_path):
    checkpoint = Checkpoint(tmp_path / "model.safetensors", "a" * 64)
    checkpoint.save({"step": 3, "weights": torch.arange(1000)})
    assert checkpoint.load()["step"] == 3
    whole = checkpoint.path.read_bytes()
    for damaged in (whole[:100], whole[: len(whole) // 2], b"", b"not a checkpoint at all"):
        checkpoint.path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"checkpoint\.pt.*Delete it"):
            checkpoint.load()


def test_a_checkpoint_runs_no_code(tmp_path):
    checkpoint = Checkpoint(tmp_path / "model.safetensors", "a" * 64)
    checkpoint.save({"code": os.system})
    with pytest.raises(InputError, match="Delete it"):
        checkpoint.load()


def test_a_checkpoint_of_another_training_is_not_used(tmp_path, caplog):
    one, other = (Checkpoint(tmp_path / "model.safetensors", letter * 64) for letter in "ab")
    one.save({"step": 3})
    with caplog.at_level("INFO", logger="snakeproof"):
        assert other.load() is None
    assert ".work-model-aaaa" in caplog.text
    other.path.parent.mkdir()
    other.path.write_bytes(one.path.read_bytes())
    with pytest.raises(InputError, match=r"expected the checkpoint of training b+, found that of a+"):
        other.load()
    other.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_training_leaves_alone_the_checkpoint_of_other_weights_in_the_folder(tmp_path):
    """All networks of a data set are in one folder, and some are trained at the same time."""
    one, other = (Checkpoint(tmp_path / f"{name}.safetensors", "a" * 64) for name in ("net", "net_fine"))
    other.save({"step": 3})
    one.save({"step": 4})
    one.remove()
    assert not one.path.exists()
    assert other.load()["step"] == 3


def test_fingerprint_knows_settings_and_contents(tmp_path):
    file = tmp_path / "input"
    file.write_text("one")
    first = fingerprint({"rate": 1}, [file])
    assert fingerprint({"rate": 1}, [str(file)]) == first
    assert fingerprint({"rate": 2}, [file]) != first
    assert fingerprint({"rate": 1}, [file.rename(tmp_path / "moved")]) == first
    (tmp_path / "moved").rename(file)
    file.write_text("two")
    assert fingerprint({"rate": 1}, [file]) != first


def test_an_artifact_is_known_by_its_rows(tmp_path):
    path = tmp_path / "words.parquet"
    found = set()
    for count, made in ((1, {}), (1, {"minimum": 2}), (2, {})):
        schema.write([{"word": "a", "index": 0, "count": count}], WORDS, path, **made)
        found.add(fingerprint({}, [path]))
    assert len(found) == 2


def test_no_changed_bit_of_a_checkpoint_is_read(tmp_path):
    checkpoint = Checkpoint(tmp_path / "model.safetensors", "a" * 64)
    checkpoint.save({"step": 3, "weights": torch.arange(500.0)})
    written = checkpoint.path.read_bytes()
    assert checkpoint.load()["step"] == 3
    for place in [*range(0, len(written), 37), *range(len(written) - 40, len(written))]:
        changed = bytearray(written)
        changed[place] ^= 4
        checkpoint.path.write_bytes(changed)
        with pytest.raises(InputError, match=r"checkpoint\.pt: expected a checkpoint, found a damaged file"):
            checkpoint.load()


def test_a_model_trained_on_other_features_is_named(tmp_path, files):
    inputs, path = Inputs(files, ["words"]), tmp_path / "model.safetensors"
    seen = {"network": "alexnet", "view": "whole", "batch_size": 8, "parents": {"weights": {"seed": 0}}}
    save_model(build_method("vse", PARAMETERS, inputs.shapes()), "vse", ["words"], path, features={"whole": seen})
    load_model(path, inputs.shapes(), {"whole": seen})
    with pytest.raises(InputError, match=r"model\.safetensors: trained on whole .*alexnet.*found .*vgg19.*Delete"):
        load_model(path, inputs.shapes(), {"whole": {**seen, "network": "vgg19"}})
    with pytest.raises(InputError, match=r"parents\.weights\.seed: expected 0, found 1"):
        load_model(path, inputs.shapes(), {"whole": {**seen, "parents": {"weights": {"seed": 1}}}})


def test_settings_that_change_no_features_or_that_only_one_has_are_not_compared(tmp_path, files):
    inputs, path = Inputs(files, ["words"]), tmp_path / "model.safetensors"
    seen = {"network": "alexnet", "batch_size": 8, "dropped": True, "parents": {"regions": {"batch_size": 8}}}
    save_model(build_method("vse", PARAMETERS, inputs.shapes()), "vse", ["words"], path, features={"whole": seen})
    larger = {"batch_size": 16, "parents": {"regions": {"batch_size": 16}}}
    for others in ({**seen, **larger}, {"network": "alexnet", "new": 1}):
        load_model(path, inputs.shapes(), {"whole": others})


def test_a_trained_model_says_which_features_it_read(job, tmp_path, files):
    job("trained", phases=STILL)
    with pytest.raises(InputError, match=r"expected .*miniature.*found .*another"):
        load_model(tmp_path / "trained/round0/model.safetensors", features={"whole": {"network": "another"}})
    load_model(tmp_path / "trained/round0/model.safetensors", features=Inputs(files, ["words"]).feature_settings())


def test_models_that_cannot_be_read(tmp_path, files):
    method = build_method("vse", PARAMETERS, Inputs(files, ["words"]).shapes())
    path = tmp_path / "model.safetensors"
    save_model(method, "vse", ["words"], path)
    again = load_model(path)
    assert again.hyperparameters == method.hyperparameters
    assert all(torch.equal(value, method.state_dict()[key]) for key, value in again.state_dict().items())
    more_words = Inputs(files, ["words"]).shapes()
    object.__setattr__(more_words, "words", 20)
    with pytest.raises(InputError, match=r"words.weight: expected \(20, 8\), found \(11, 8\)"):
        load_model(path, more_words)
    whole = path.read_bytes()
    save_model(method, "vse", ["words"], path)
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-10])
    with pytest.raises(InputError, match=r"model\.safetensors: damaged"):
        load_model(path)
    with pytest.raises(InputError, match="no such file"):
        load_model(tmp_path / "none")
