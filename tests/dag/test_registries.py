"""Registries: facts about what they name without imports, and the jobs that an edit reruns."""

import subprocess
import sys
from pathlib import Path

import pytest

from densevse.config.load import load
from densevse.config.readers import READERS
from densevse.config.registries import ARCHITECTURES, LIBRARIES, OTHERS, STRUCTURES, VIEWS, Architecture, Registry
from densevse.dag import concepts, datasets, features, generators, training
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests import packages
from tests.projects import copy_code

ROOT = Path(__file__).parents[2]


def test_registries_import_nothing_heavy():
    names = [f"densevse.config.{name}" for name in ("registries", "readers")]
    heavy = ["torch", "torchvision", "timm", "open_clip", "cv2", "numpy", "pandas", "pyarrow", "nltk"]
    program = f"import importlib, sys\nfor name in {names}: importlib.import_module(name)\n"
    program += f"print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True).strip() == "[]"


def test_every_entry_has_its_implementation():
    expected = [VIEWS[name].opened_by for name in VIEWS]
    assert {f"densevse/data/views/{name}.py" for name in expected} <= files("densevse/data/views")
    assert {f"densevse/vision/views/{name}.py" for name, view in VIEWS.items() if view.extracted} == files(
        "densevse/vision/views"
    )
    assert {f"densevse/data/structures/{name}.py" for name in STRUCTURES} == files("densevse/data/structures")
    modules = [READERS[name].IMPLEMENTATION for name in READERS]
    modules += [ARCHITECTURES[name].implementation for name in ARCHITECTURES]
    modules += [LIBRARIES[name].implementation for name in LIBRARIES]
    assert all((ROOT / f"{module.replace('.', '/')}.py").exists() for module in modules)


def files(folder: str) -> set[str]:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("*.py")}
    return found - {f"{folder}/__init__.py"}


def test_the_other_classifiers_are_torchvision_s():
    import torchvision

    known = set(torchvision.models.list_models(module=torchvision.models))
    own = {name for name in ARCHITECTURES.listed_names if "torchvision" not in ARCHITECTURES[name].implementation}
    assert set(ARCHITECTURES) - own == known
    assert not OTHERS & set(ARCHITECTURES.listed_names)


MISTAKES = {
    "datasets.coco.reader": ({"datasets": {"coco": {"reader": "cocoa"}}}, "no reader 'cocoa'; known: coco, .*'coco' m"),
    "datasets.coco.networks.gird": (
        {"datasets": {"coco": {"networks": {"gird": "vgg19"}}}},
        "no view 'gird'; known: centre, .*; is 'grid' meant",
    ),
    "methods.vse.views.0": ({"methods": {"vse": {"views": ["hole"]}}}, "no view 'hole'; .*is 'whole' meant"),
    "methods.vse.sentences.0": (
        {"methods": {"vse": {"sentences": ["word"]}}},
        "no structure of sentences 'word'; known: dependencies, .*is 'words' meant",
    ),
    "methods.vse.yields.0": ({"methods": {"vse": {"yields": ["phrase"]}}}, "no yield 'phrase'; known: phrases, sal"),
    "networks.vgg19.architecture": (
        {"networks": {"vgg19": {"architecture": "vgg91"}}},
        "no architecture 'vgg91'; known: alexnet, .* and 7. others; is 'vgg",
    ),
}


@pytest.mark.parametrize("path", MISTAKES)
def test_a_name_that_is_not_known_is_refused_with_those_that_are(path):
    values, message = MISTAKES[path]
    with pytest.raises(InputError, match=rf"{path}: {message}"):
        load(ROOT / "config", values)


@pytest.fixture
def colours(tmp_path, monkeypatch):
    """A registry of a table with one entry, and a package with modules of further ones."""
    for name, text in {"__init__": "", "green": "DECLARED = 2", "_helper": "", "broken": "1 / 0"}.items():
        (tmp_path / "palette").mkdir(exist_ok=True)
        (tmp_path / "palette" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("colour", {"red": 1}, {"grey": 0})
    packages.forget("palette")


def test_modules_add_entries_that_are_imported_when_they_are_needed(colours):
    colours.add("palette")
    assert list(colours) == ["broken", "green", "red", "grey"]
    assert len(colours) == 4
    assert colours["green"] == 2
    assert "palette.broken" not in sys.modules
    with pytest.raises(ZeroDivisionError):
        colours["broken"]
    with pytest.raises(ValueError, match="no colour 'gren'; known: broken, green, red and 1 others; is 'green' meant"):
        colours.check("gren")


def test_a_name_of_two_modules_is_refused_when_it_is_used(colours):
    colours.add("palette")
    colours.add("palette")
    assert len(colours) == 4
    with pytest.raises(
        InputError, match=r"palette\.green: there is a colour 'green' in palette\.green already; rename"
    ):
        colours["green"]


def test_jobs_are_given_the_nodes_of_the_layers_that_they_read(monkeypatch):
    """So an edited layer of an architecture reruns the jobs that read it, and no others."""
    features_stage = Stage(Project(ROOT, {}), features)

    def nodes(network, view):
        job = (
            features_stage.region_job("scenes", network)
            if view == "regions"
            else features_stage.image_job("scenes", network, view)
        )
        return job.settings["network"]["nodes"]

    assert nodes("vgg19", "grid") == {"conv5_4": "features.35"}
    assert nodes("mobilenet_v2", "regions") == {"pooled": "features", "conv": "features"}
    before = nodes("vgg19", "whole")
    layers = {**ARCHITECTURES["vgg19"].layers, "conv5_4": "features.30"}
    monkeypatch.setitem(ARCHITECTURES._entries, "vgg19", Architecture(layers))
    assert nodes("vgg19", "grid") == {"conv5_4": "features.30"}
    assert nodes("vgg19", "whole") == before == {"fc7": "classifier.4"}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return copy_code(tmp_path)


def digests(folder: Path) -> dict[str, str]:
    """The digests of some jobs."""
    project = Project(folder, {})
    digest, features_stage, training_stage = project.code.digest, Stage(project, features), Stage(project, training)
    found = {
        f"read {name}": digest(
            "densevse.datasets.readers:write_dataset", *Stage(project, datasets).reading_job(name).modules
        )
        for name in ("coco", "flickr8k", "scenes")
    }
    found |= {
        f"{view} by {network}": digest(
            "densevse.vision.extract:extract_features", *features_stage.image_job("scenes", network, view).modules
        )
        for view, network in (("whole", "mobilenet_v2"), ("whole", "scenes_net"), ("grid", "vgg19"))
    }
    found |= {
        f"regions by {network}": digest(
            "densevse.vision.extract_regions:extract_regions", *features_stage.region_job("scenes", network).modules
        )
        for network in ("scenes_net", "faster_rcnn")
    }
    found |= {
        f"train {name}": digest("densevse.training.retrieval:train", *training_stage.job("flickr30k", name, 0).modules)
        for name in ("vse", "hm_lstm", "defrag", "defrag_finetuned", "sdt_rnn", "sm_lstm")
    }
    found["train concepts"] = digest(
        "densevse.training.concepts:train_concept_network",
        *Stage(project, concepts).network_job("flickr30k", _trained_whole(project)).modules,
    )
    found["train sc_nlm"] = digest(
        "densevse.training.generators:train_generator",
        *Stage(project, generators).job("flickr30k", "sc_nlm", 0).modules,
    )
    return found


def _trained_whole(project: Project) -> str:
    return next(name for name, entry in project.config.concept_networks.items() if entry.train == "all")


EDITS = {
    "densevse/datasets/coco.py": {"read coco"},
    "densevse/datasets/flickr.py": {"read flickr8k"},
    "densevse/vision/views/grid.py": {"grid by vgg19"},
    "densevse/vision/architectures/faster_rcnn.py": {"regions by faster_rcnn"},
    "densevse/data/views/crops.py": {"train defrag_finetuned"},
    "densevse/data/views/generated_captions.py": set(),
    "densevse/data/structures/trees.py": {"train hm_lstm"},
    "densevse/data/structures/dependencies.py": {"train sdt_rnn"},
    "densevse/data/structures/triplets.py": {"train defrag", "train defrag_finetuned"},
    "densevse/data/structures/tags.py": {"train sc_nlm"},
    "densevse/config/registries.py": set(),
    "densevse/config/readers.py": set(),
}


@pytest.mark.parametrize("file", EDITS)
def test_an_edit_reaches_the_jobs_that_use_what_is_edited(copy, file):
    before = digests(copy)
    with (copy / file).open("a") as text:
        text.write("\nEDITED = True\n")
    after = digests(copy)
    assert {name for name in before if after[name] != before[name]} == EDITS[file]


def test_an_edit_of_the_network_of_scenes_leaves_the_features_of_others(copy):
    before = digests(copy)
    with (copy / "densevse/scenes/network.py").open("a") as text:
        text.write("\nEDITED = True\n")
    after = digests(copy)
    assert {name for name in before if after[name] != before[name]} == {"whole by scenes_net", "regions by scenes_net"}
