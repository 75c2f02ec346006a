"""`densevse new` recognises each layout of docs/data_sets.md, and writes a configuration that reads it."""

import csv
import hashlib
import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision
import yaml

from densevse.command.shared import configuration, configured_project, overrides
from densevse.command.subcommands.new import fit_settings
from densevse.command.weights import _timm_entries, _torchvision_entries, recognise_weights
from densevse.config.load import variant
from densevse.config.readers import READERS
from densevse.datasets.own_files import list_dataset
from tests.datasets.reader_examples import EXAMPLES, IMAGES, SENTENCES, SPLITS, contents, write_files

GENERATED = {"scenes"}
"""Readers of data that densevse makes itself."""
WITH_SPLITS = {"flickr", "karpathy", "webdataset", "pairs", "scan"}
"""Readers whose examples say the split of each image."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("reader", "form"), [(reader, form) for reader in EXAMPLES for form in EXAMPLES[reader] if reader not in GENERATED]
)
def test_each_layout_becomes_a_configuration_that_reads_it(reader, form, folder, densevse):
    _, paths = EXAMPLES[reader][form](Path("own"), contents())
    if reader == "scan":
        for split, name in (("train", "train"), ("val", "dev"), ("test", "test")):
            np.save(f"own/precomp/{name}_ims.npy", np.zeros((SPLITS[split], 3, 4), np.float32))
    answer = densevse("new", *dict.fromkeys(paths.values()))
    assert answer.status == 0, answer.errors
    assert f"{IMAGES} photographs" in answer.output
    assert f"{IMAGES * SENTENCES} sentences" in answer.output
    project = configured_project(["mine.yaml"])
    entry = project.datasets["mine"]
    assert (entry.reader, entry.about_images) == (reader, IMAGES)
    images, captions = list_dataset(entry, entry.local)
    assert len(captions) == IMAGES * SENTENCES
    expected = SPLITS if reader in WITH_SPLITS else {"train": 16, "val": 2, "test": 2}
    assert images["split"].value_counts().to_dict() == expected


def test_every_reader_has_an_example():
    assert EXAMPLES.keys() == {*READERS}


def write_table(folder, text, name="pairs.csv", pictures=12):
    write_files(folder / "photographs", {f"{number}.jpg": b"" for number in range(pictures)})
    (folder / name).write_text(text)
    return "photographs", name


def table(heading="image,sentence", sign=",", row="{0}.jpg,a dog runs {0}", rows=12):
    return "\n".join([heading, *(row.format(number) for number in range(rows))]).replace(",", sign)


@pytest.mark.parametrize("sign", [",", "\t", ";", "|"])
def test_the_sign_between_columns_is_found(sign, folder, densevse):
    assert densevse("new", *write_table(folder, table(sign=sign))).status == 0
    options = yaml.safe_load(Path("mine.yaml").read_text())["datasets"]["mine"]["options"]
    assert options == {"image": "image", "sentence": "sentence", "split": "random"}


@pytest.mark.parametrize(
    ("heading", "row", "options"),
    [
        ("filename,caption", "{0}.jpg,a dog {0}", {"image": "filename", "sentence": "caption", "split": "random"}),
        ("Photo,Words", "{0}.jpg,a dog {0}", {"image": "Photo", "sentence": "Words", "split": "random"}),
        ("where,number,what", "dir/{0}.jpg,{0},a dog {0}", {"image": "where", "sentence": "what", "split": "random"}),
    ],
)
def test_columns_are_known_by_their_names_or_by_what_they_hold(heading, row, options, folder, densevse):
    files = write_table(folder, table(heading, row=row))
    if row.startswith("dir"):
        Path("photographs").rename("dir")
        Path("photographs").mkdir()
        shutil.move("dir", "photographs/dir")
    assert densevse("new", *files).errors == ""
    assert yaml.safe_load(Path("mine.yaml").read_text())["datasets"]["mine"]["options"] == options


def test_columns_that_all_hold_sentences_are_named(folder, densevse):
    row = "{0}.jpg,a dog {0},a cat {0}"
    files = write_table(folder, table("image,caption_0,caption_1", row=row))
    refused = densevse("new", *files)
    assert refused.status == 1
    assert "pairs.csv: the columns caption_0, caption_1 all hold sentences, and one is read. Give" in refused.errors
    write_table(folder, table("image,sentence,caption_1", row=row) + "\n1.jpg,a pig,")
    answer = densevse("new", *files)
    assert "; caption_1 may hold sentences too, and sentence alone is read." in answer.output, answer.errors


def test_null_is_no_sentence(folder, densevse):
    rows = [{"image": f"{number}.jpg", "sentences": ["a dog", None]} for number in range(12)]
    answer = densevse("new", *write_table(folder, "\n".join(map(json.dumps, rows)), "pairs.jsonl"))
    assert "12 photographs (10 train, 1 val, 1 test), 12 sentences." in answer.lines, answer.errors


def test_any_name_of_a_column_stays_in_its_comment(folder, densevse):
    heading = 'image,sentence,"all\nmine: [",é'
    assert densevse("new", *write_table(folder, table(heading, row="{0}.jpg,a dog {0},1,2"))).status == 0
    assert configuration(overrides(["mine.yaml"])).datasets["mine"].about_images == 12
    assert "é" in Path("mine.yaml").read_text()


def test_other_words_for_splits_and_lists_of_sentences_are_translated(folder, densevse):
    words = ["training"] * 10 + ["dev", "test"]
    rows = [f'{number}.jpg,"[""a dog"", ""a cat""]",{word}' for number, word in enumerate(words)]
    assert densevse("new", *write_table(folder, "\n".join(["image,raw,split", *rows]))).status == 0
    options = yaml.safe_load(Path("mine.yaml").read_text())["datasets"]["mine"]["options"]
    assert options["splits"] == {"training": "train", "dev": "val", "test": "test"}
    assert options["sentences_as"] == "json"


def test_a_table_for_each_split(folder, densevse):
    write_files(folder / "photographs", {f"{number}.jpg": b"" for number in range(6)})
    for split, numbers in {"train": (0, 1, 2, 3), "validation": (4,), "test": (5,)}.items():
        rows = "".join(f"{number}.jpg,a dog {number}\n" for number in numbers)
        write_files(folder / "tables", {f"{split}.csv": f"image,sentence\n{rows}"})
    answer = densevse("new", "photographs", "tables")
    assert "6 photographs (4 train, 1 val, 1 test), 6 sentences." in answer.lines


def test_random_splits_have_the_images_of_all_files_that_are_read(folder, densevse):
    numbers = {"captions_train": range(12), "captions_val": range(12, 20), "copy_of_train": range(12)}
    for name, of_file in numbers.items():
        content = {
            "images": [{"id": number, "file_name": f"{number}.jpg"} for number in of_file],
            "annotations": [{"id": number, "image_id": number, "caption": f"a dog {number}"} for number in of_file],
        }
        write_files(folder / "annotations", {f"{name}.json": json.dumps(content)})
    write_files(folder / "photographs", {f"{number}.jpg": b"" for number in range(20)})
    answer = densevse("new", "photographs", "annotations")
    assert "20 photographs (16 train, 2 " in answer.output, answer.errors


def write_tables(folder, *names):
    """A table of each name, with two photographs."""
    for number, name in enumerate(names):
        files = [f"{number}_{row}.jpg" for row in range(2)]
        write_files(folder / "photographs", dict.fromkeys(files, b""))
        rows = "".join(f"{file},a dog\n" for file in files)
        write_files(folder / "tables", {name: f"image,sentence\n{rows}"})
    return "photographs", "tables"


@pytest.mark.parametrize(
    ("train", "others", "pattern"),
    [
        (("train-0.csv", "train-1.csv"), ("val-2.csv", "test-3.csv"), "train-*.csv"),
        (("0-train.csv", "1-train.csv"), ("2-val.csv", "3-test.csv"), "*-train.csv"),
        (("0-train-of-2.csv", "1-train-of-2.csv"), ("2-val-of-2.csv", "3-test-of-2.csv"), "*-train-of-2.csv"),
        (("a-0-train.csv", "a-1-train.csv"), ("a-val.csv", "test.csv", "val-train.csv"), "a-*-train.csv"),
        (("one/train.csv", "two/train.csv"), ("val.csv", "test.csv"), "train.csv"),
        (("Train-0.csv", "Train-1.csv"), ("VAL.csv", "myTestSet.csv"), "Train-*.csv"),
    ],
)
def test_a_pattern_matches_the_tables_of_its_split_alone(train, others, pattern, folder, densevse):
    answer = densevse("new", *write_tables(folder, *train, *others))
    assert "8 photographs (4 train, 2 val, 2 test), 8 sentences." in answer.lines, answer.errors
    options = yaml.safe_load(Path("mine.yaml").read_text())["datasets"]["mine"]["options"]
    assert options["files"]["train"] == pattern


def test_tars_that_begin_with_their_numbers(folder, densevse):
    _, paths = EXAMPLES["webdataset"]["txt"](Path("own"), contents())
    for number, split in enumerate(SPLITS):
        Path(f"own/{split}.tar").rename(f"own/0{number}-{split}.tar")
    shutil.copy("own/00-train.tar", "own/03-train.tar")
    answer = densevse("new", *paths.values())
    assert f"{IMAGES + SPLITS['train']} photographs" in answer.output, answer.errors


def test_one_tar_of_samples_is_no_folder_of_texts(folder, densevse):
    _, paths = EXAMPLES["webdataset"]["txt"](Path("own"), contents())
    answer = densevse("new", f"{paths['shards']}/train.tar")
    assert f"Seen: 1 tars of samples, as img2dataset writes them.\n{SPLITS['train']:,} photographs" in answer.output
    assert yaml.safe_load(Path("mine.yaml").read_text())["datasets"]["mine"]["reader"] == "webdataset"


def test_tables_that_no_pattern_tells_apart_are_named(folder, densevse):
    answer = densevse("new", *write_tables(folder, "a-train.csv", "train-b.csv", "a-val.csv", "test.csv"))
    assert answer.status == 1
    assert "tables: not understood: no name with * is that of a-train.csv, train-b.csv (train) alone;" in answer.errors


def test_features_leave_no_place_for_weights(folder, densevse):
    _, paths = EXAMPLES["scan"]["txt"](Path("own"), contents())
    for split, name in (("train", "train"), ("val", "dev"), ("test", "test")):
        np.save(f"own/precomp/{name}_ims.npy", np.zeros((SPLITS[split], 3, 4), np.float32))
    Path("any.pth").write_bytes(b"weights")
    answer = densevse("new", *paths.values(), "--weights", "any.pth")
    assert answer.errors == "densevse new: --weights: scan's files have features already; leave it out.\n"
    assert not Path("mine.yaml").exists()


@pytest.mark.parametrize("is_page", [False, True])
def test_a_photograph_without_sentences_is_in_no_random_split(is_page, folder, densevse):
    texts = {f"dog/{number}.txt": "a dog\n" if number else " \n" for number in range(21)}
    write_files(folder / "photographs", {name.replace(".txt", ".jpg"): b"" for name in texts})
    rows = [f'<img src="{name[:-4]}.jpg"><table><tr><td>{text}</td></tr></table>' for name, text in texts.items()]
    write_files(folder / "texts", {"page.html": "".join(rows)} if is_page else texts)
    answer = densevse("new", "photographs", "texts/page.html" if is_page else "texts")
    assert "20 photographs (16 train, 2 " in answer.output, answer.errors


def test_photographs_and_their_table_in_one_folder(folder, densevse):
    write_table(folder, table(), "photographs/mine.csv")
    assert densevse("new", "photographs").status == 0
    assert configuration(overrides(["mine.yaml"])).datasets["mine"].local["images"] == "photographs"


def test_the_one_table_beside_a_folder_of_photographs_has_their_sentences(folder, densevse):
    write_table(folder, table("image,caption"), "captions.txt")
    Path("kaggle").mkdir()
    write_files(folder / "kaggle", {"README.txt": "image,caption"})
    shutil.move("photographs", "kaggle/Images")
    shutil.move("captions.txt", "kaggle/Captions.TXT")
    answer = densevse("new", "kaggle")
    assert "12 photographs (10 train, 1 val, 1 test), 12 sentences." in answer.lines, answer.errors
    entry = configuration(overrides(["mine.yaml"])).datasets["mine"]
    assert (entry.options.file, entry.local["images"]) == ("Captions.TXT", "kaggle")


@pytest.mark.parametrize(
    "others",
    [
        {"a.csv": "image,sentence\n0.jpg,a dog", "b.csv": "image,sentence\n1.jpg,a dog"},
        {"0.txt": "a dog", "1.txt": "a cat", "README.txt": "mine"},
        {"sentences.txt": "a dog runs"},
    ],
)
def test_files_that_could_hold_sentences_are_named_before_a_search(others, folder, densevse):
    write_files(folder / "photographs", {**others, "0.jpg": b"", "1.jpg": b""})
    answer = densevse("new", "photographs")
    assert answer.status == 1
    asked = ", ".join(name for name in others if name != "README.txt")
    assert f"photographs: its sentences could be in {asked}. If one file has them, name it too" in answer.errors
    assert not Path("mine.yaml").exists()


@pytest.mark.parametrize("name", ["no", "on", "null", "true"])
def test_a_name_that_yaml_reads_otherwise_is_in_quotes(name, folder, densevse):
    """no is also the code of Norwegian."""
    densevse("new", *write_tables(folder, "train.csv", "val.csv", "test.csv"), "--to", f"{name}.yaml")
    assert name in configuration(overrides([f"{name}.yaml"])).datasets


def test_photographs_alone_become_a_search(folder, densevse):
    write_files(folder / "photographs", {"a.jpg": b"", "b.png": b"", "notes.doc": b"", "LICENSE.txt": b""})
    answer = densevse("new", "photographs", "--to", "album.yaml")
    assert "2 photographs in photographs and no sentences" in answer.output
    assert "doc" not in answer.output
    assert "  densevse run results/search/album.md --configfile album.yaml --cores 2" in answer.lines
    assert configuration(overrides(["album.yaml"]))
    search = yaml.safe_load(Path("album.yaml").read_text())["searches"]["album"]
    assert (search["variant"], search["photographs"]) == ("clip", "photographs")


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ('[{"image": "1.jpg", "sentence": "a dog"}]', "a.json", "a.json: a file that begins with b'[{"),
        ("nothing in it", "a.txt", "a.txt: a file that begins with b'nothing in it'"),
        ("%PDF-1.7", "a.pdf", "a.pdf: a file that begins with b'%PDF-1.7'"),
        (
            table("where,who", row="{0}.jpg,7"),
            "a.csv",
            "columns where, who, of which none is known as that of the option sentence",
        ),
        (table("where,what", row="x{0}.jpg,a dog"), "a.csv", "none is known as that of the option image;"),
        (
            table(row="{0},a dog"),
            "a.csv",
            "12 names agree only without folder, case, suffix or quotes, such as '0' and",
        ),
        (table(rows=14), "a.csv", "2 of 14 photographs are not there, such as 12.jpg"),
        (table("image,sentence,split", row="{0}.jpg,a dog,first"), "a.csv", "the column split has 'first'"),
        (table("image,sentence,split", row="{0}.jpg,a dog,train"), "a.csv", "no photograph is in the split val"),
        (table(rows=5), "a.csv", "needs 10 images or more"),
    ],
)
def test_what_is_not_understood_is_said(text, name, said, folder, densevse):
    answer = densevse("new", *write_table(folder, text, name))
    assert answer.status == 1
    assert said in answer.errors
    assert not Path("mine.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("photographs", "nowhere.csv"), "nowhere.csv is not there"),
        (("pairs.csv",), "Name the one folder, zip or tar with its photographs too"),
        (("photographs", "others"), "not understood:"),
        (("photographs", "pairs.csv", "--to", "flickr8k.yaml"), "flickr8k is a data set or table of the project"),
        (("photographs", "pairs.csv", "--to", "figures.yaml"), "datasets.figures: results has a folder of this name"),
        (("photographs", "pairs.csv", "--to", "search.yaml"), "datasets.search: results has a folder of this name"),
        (("photographs", "pairs.csv", "--to", "Scenes.yaml"), "datasets: scenes and Scenes would share their files"),
        (("photographs", "pairs.csv", "--to", f"{'a' * 70}.yaml"), "is also a part of file names; write at most 64"),
        (("photographs", "pairs.csv", "--to", "my file.yaml"), "must be called <name>.yaml"),
        (("photographs", "pairs.csv", "--to", "there.yaml"), "there.yaml is there already"),
        (("photographs", "--to", "missing/mine.yaml"), "--to: the folder missing is not there; make it, or"),
        (("photographs", "--weights", "others"), "--weights: others is a folder; name the file of the weights"),
        (("photographs", "pairs.csv", "--weights", "others"), "--weights: others is a folder;"),
    ],
)
def test_files_and_names_that_do_not_fit_are_refused(arguments, said, folder, densevse):
    write_table(folder, table())
    write_files(folder / "others", {"a.jpg": b""})
    Path("there.yaml").write_text("mine")
    answer = densevse("new", *arguments)
    assert answer.status == 1
    assert said in answer.errors
    assert Path("there.yaml").read_text() == "mine"


def test_weights_are_known_by_their_sha256(folder, densevse, monkeypatch):
    Path("any.pth").write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    networks = dict(configuration(overrides([])).networks)
    published = {
        "file": f"m-{digest[:8]}.pth",
        "url": "https://example.org/m.pth",
        "sha256": digest[:8],
        "licence": "-",
    }
    source = type(networks["vgg19"].weights).model_validate(published)
    known = {**networks, "vgg19": networks["vgg19"].model_copy(update={"weights": source})}
    assert recognise_weights("any.pth", known)[:2] == ("vgg19", {"local": "any.pth"})
    entry = {"architecture": "resnet18", "mean": [0.1, 0.2, 0.3], "layers": {"whole": "avgpool"}}
    place = f"https://example.org/resnet18-{digest[:8]}.pth"
    monkeypatch.setattr("densevse.command.weights._torchvision_entries", lambda: [(place, entry)])
    assert recognise_weights("any.pth", networks)[:2] == ("mine", {**entry, "local": "any.pth"})


def test_the_weights_that_libraries_publish_have_entries_that_are_valid():
    networks = configuration(overrides([])).networks
    known = type(networks["vgg19"])
    found = dict(_torchvision_entries())
    resnet = found["https://download.pytorch.org/models/resnet50-11ad3fa6.pth"]
    assert (resnet["architecture"], resnet["resize"]) == ("resnet50", 232)
    for entry in found.values():
        assert known.model_validate({**entry, "local": "a.pth"}).layers.keys() == {"whole"}
    pytest.importorskip("timm", reason="the extra `networks` is not installed")
    for _, entry in list(_timm_entries())[:20]:
        assert known.model_validate({**entry, "local": "a.pth"}).library is not None


def test_the_listed_weights_are_of_architectures_that_exist():
    from densevse.command.shared import ROOT

    with (ROOT / "config/weights.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    networks = configuration(overrides([])).networks
    for row in rows:
        assert len(row["sha256"]) == 64
        examples = "".join(file.read_text() for file in (ROOT / "examples").glob("*.yaml"))
        assert row["network"] in examples
        assert row["network"] in networks or row["network"].startswith("tf_efficientnet_lite")


@pytest.mark.parametrize(("name", "network"), [("my_mobilenet_v2.pth", "mobilenet_v2"), ("weights.pth", "mine")])
def test_unknown_weights_leave_lines_that_the_plan_refuses(name, network, folder, densevse):
    torch.save(torchvision.models.mobilenet_v2(num_classes=3).state_dict(), name)
    answer = densevse("new", *write_table(folder, table()), "--weights", name)
    assert answer.status == 0
    assert "mean and std of your weights" in answer.output
    refused = densevse("plan", "results/tables/mine.md", "--configfile", "mine.yaml")
    assert refused.status == 1
    assert f"networks.{network}.mean" in refused.errors
    assert "write the mean of these weights here" in refused.errors
    filled = Path("mine.yaml").read_text()
    for old, new in {"mean": "[0.5, 0.5, 0.5]", "std": "[0.2, 0.2, 0.2]"}.items():
        filled = filled.replace(f"write the {old} of these weights here, as [red, green, blue]", new)
    filled = filled.replace("write their architecture here, such as resnet50", "resnet50")
    Path("mine.yaml").write_text(filled)
    assert configuration(overrides(["mine.yaml"])).networks[network].mean == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("name", "network", "asked"),
    [
        ("my_clip_vit_b_32.pt", "clip_vit_b_32", set()),
        ("deit_small_tuned.pth", "deit_small", set()),
        ("my_faster_rcnn.pth", "mine", {"mean", "std"}),
    ],
)
def test_weights_are_of_networks_of_whole_images_and_libraries_know_their_input(name, network, asked, folder):
    Path(name).write_bytes(b"weights")
    networks = configuration(overrides([])).networks
    found, entry, _ = recognise_weights(name, networks)
    assert (found, entry.keys() & {"mean", "std"}) == (network, asked)
    detector = networks["faster_rcnn"]
    source = detector.weights.model_copy(update={"sha256": hashlib.sha256(b"weights").hexdigest()})
    only = {"faster_rcnn": detector.model_copy(update={"weights": source})}
    assert recognise_weights(name, only)[0] == "mine"


def test_settings_are_those_of_the_starting_point_with_smaller_batches_and_more_epochs(folder, densevse):
    densevse("new", *write_table(folder, table(rows=12)))
    own = yaml.safe_load(Path("mine.yaml").read_text())["methods"]["vse"]
    of_example = yaml.safe_load(Path(__file__).parents[2].joinpath("config/methods/vse.yaml").read_text())
    chosen = of_example["datasets"]["flickr8k"]
    assert own["datasets"]["mine"]["parameters"] == chosen["parameters"]
    assert own["datasets"]["mine"]["training"]["batch_size"] == 8
    assert fit_settings(chosen, 30_000)["phases"] == chosen["phases"], "as many pairs want no change"
    assert fit_settings(chosen, 30_000)["training"]["ema_decay"] == chosen["training"]["ema_decay"]
    few, many = (fit_settings(chosen, pairs) for pairs in (100, 2000))
    assert few["training"]["batch_size"] < many["training"]["batch_size"] <= 128
    assert few["phases"]["main"]["epochs"] > many["phases"]["main"]["epochs"]
    assert fit_settings(chosen, 0) == fit_settings(chosen, 1), "fewer sentences than photographs"


@pytest.mark.parametrize("weights", [None, "lite2"])
def test_each_row_is_fitted_as_a_whole_and_its_file_is_named(weights, folder, densevse, monkeypatch):
    entry = {"architecture": "tf_efficientnet_lite2", "local": "a.pth", "layers": {"whole": "pooled"}}
    monkeypatch.setattr("densevse.command.weights.recognise_weights", lambda *_: ("mine", entry, "known"))
    Path("a.pth").write_bytes(b"weights")
    file = "examples/flickr8k_lite.yaml" if weights else "config/methods/vse.yaml"
    example = overrides([str(Path(__file__).parents[2] / "examples/flickr8k_lite.yaml")] if weights else [])
    answer = densevse(
        "new", *write_table(folder, table(rows=200), pictures=200), *(["--weights", "a.pth"] * bool(weights))
    )
    assert answer.status == 0, answer.errors
    text = Path("mine.yaml").read_text()
    assert f"settings chosen on Flickr8k, in {file} below datasets.flickr8k, for" in text
    for name in ("vse", "vsepp"):
        chosen = variant(configuration(example), "flickr8k", name)
        own = variant(configuration(overrides(["mine.yaml"])), "mine", name)
        fitted = fit_settings(chosen.model_dump(), 160)
        assert {key: one.epochs for key, one in own.phases.items()} == {
            key: one["epochs"] for key, one in fitted["phases"].items()
        }
        assert own.training.ema_decay == fitted["training"]["ema_decay"]
        assert own.training.batch_size == fitted["training"]["batch_size"]


def test_every_line_has_a_comment_and_the_next_commands_are_valid(folder, densevse):
    answer = densevse("new", *write_table(folder, table()))
    lines = Path("mine.yaml").read_text().splitlines()[1:]
    values = [line for line in lines if not line.endswith(":")]
    assert [line for line in values if "  # " not in line] == []
    commands = [line.strip() for line in answer.lines if line.startswith("  ")]
    assert [shlex.split(command)[:2] for command in commands] == [
        ["densevse", "plan"],
        ["densevse", "run"],
        ["cat", "results/tables/mine.md"],
    ]
    assert densevse(*shlex.split(commands[0])[1:]).status == 0
