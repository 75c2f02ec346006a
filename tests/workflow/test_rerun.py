import copy
import shutil

from tests.projects import SMALL, SMALL_ROUNDS, Project

TABLE = "results/tables/scenes.md"


def changed(finished: Project, values: dict, before: dict = SMALL) -> dict[str, int]:
    """What a run would do under another configuration; the old one is put back."""
    finished.configure(values)
    try:
        return finished.planned(TABLE)
    finally:
        finished.configure(before)


def edited(finished: Project, file: str, addition: str = "\nEDITED = True\n") -> dict[str, int]:
    """What a run would do after something is added to a file; the edit is taken back."""
    path = finished.folder / file
    kept = shutil.copy2(path, finished.folder / "kept")
    path.write_text(path.read_text() + addition)
    try:
        return finished.planned(TABLE)
    finally:
        shutil.copy2(kept, path)


def test_a_finished_run_has_nothing_to_do(finished):
    assert finished.planned(TABLE) == {}


def test_a_touched_module_reruns_nothing(finished):
    (finished.folder / "densevse/methods/vse.py").touch()
    assert finished.planned(TABLE) == {}


def test_a_learning_rate_reruns_training_and_what_follows(finished):
    values = copy.deepcopy(SMALL)
    values["methods"]["vse"]["datasets"]["scenes"]["phases"]["settle"]["learning_rate"] = 0.5
    assert changed(finished, values) == {"train": 2, "retrieve": 2, "table": 1}


def test_a_parameter_of_one_variant_reruns_that_variant_only(finished):
    values = copy.deepcopy(SMALL)
    values["methods"]["vse"]["variants"] = {"vsepp": {"parameters": {"margin": 0.123}}}
    assert changed(finished, values) == {"train": 1, "retrieve": 1, "table": 1}


def test_a_title_reruns_only_the_table(finished):
    values = copy.deepcopy(SMALL)
    values["methods"]["vse"]["title"] = "Another name"
    assert changed(finished, values) == {"table": 1}


def test_another_data_sets_key_reruns_nothing(finished):
    values = copy.deepcopy(SMALL)
    values["datasets"]["coco"] = {"minimum_word_count": 17}
    assert changed(finished, values) == {}


def test_an_edited_module_reruns_the_stages_that_import_it(finished):
    planned = edited(finished, "densevse/methods/vse.py")
    assert planned["train"] == 2
    assert "extract_features" not in planned
    assert "count_words" not in planned
    planned = edited(finished, "densevse/vision/extract.py")
    assert planned["extract_features"] == 1
    assert "read_dataset" not in planned
    assert set(edited(finished, "densevse/evaluation/tables.py")) == {"table"}


def test_an_edited_module_of_another_stage_reruns_nothing(finished):
    assert edited(finished, "densevse/language/corenlp.py") == {}
    assert edited(finished, "densevse/methods/hm_lstm.py") == {}


def test_one_round_more_later_trains_one_round_more_only(finished_rounds):
    more = copy.deepcopy(SMALL_ROUNDS)
    more["methods"]["hm_lstm"]["datasets"]["scenes"]["rounds"] += [["phrases"]]
    planned = changed(finished_rounds, more, SMALL_ROUNDS)
    assert planned == {"correspond": 1, "train_round": 1, "retrieve": 1, "table": 1}
