"""Paths of the configuration: one name for each place, and none that Snakemake would read as another."""

import pytest

from densevse.config.load import load
from snakeproof.errors import InputError
from tests.projects import ROOT


def local(path):
    return {"networks": {"squeezenet1_0": {"local": path}}}


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("/data//a.pth", "/data/a.pth"),
        ("//data/a.pth", "/data/a.pth"),
        ("///data/./a.pth", "/data/a.pth"),
        ("/data/x/../a.pth", "/data/a.pth"),
        ("./a.pth/", "a.pth"),
        ("../a//b", "../a/b"),
        ("{here}/a.pth", "a.pth"),
        ("{here}", "."),
        ("{here}-2/a.pth", "{here}-2/a.pth"),
        ("a b/it's (1) [x], ü.pth", "a b/it's (1) [x], ü.pth"),
    ],
)
def test_a_path_has_one_name_however_it_is_spelled(path, normal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = load(ROOT / "config", local(path.replace("{here}", str(tmp_path))))
    assert config.networks["squeezenet1_0"].local == normal.replace("{here}", str(tmp_path))


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("https://example.org/weights.pth", "give the address as `url` of a source"),
        ("https:/example.org/weights.pth", "give the address as `url` of a source"),
        ("S3://bucket/weights.pth", "give the address as `url` of a source"),
        ("file:///data/my%20weights.pth", "write the path itself: /data/my weights.pth"),
        ("file:/data/weights.pth", "write the path itself: /data/weights.pth"),
        ("~/weights.pth", "write the folder's whole path"),
        ("sets/{dataset}/weights.pth", "rename the folder or file, or name a symbolic link to it"),
        ("a{b,[0-9]+}.pth", "rename"),
        ("a\nb.pth", "rename"),
    ],
)
def test_what_is_no_path_is_refused_by_its_key(path, advice):
    with pytest.raises(InputError) as refused:
        load(ROOT / "config", local(path))
    assert "networks.squeezenet1_0.local: " in str(refused.value)
    assert advice in str(refused.value)


KEYS = {
    "results": {"results": "a{b}"},
    "resources": {"resources": "s3://a"},
    "boundaries.folder": {"boundaries": {"folder": "a{b}"}},
    "datasets.flickr8k.local.images": {"datasets": {"flickr8k": {"local": {"images": "sets/{dataset}"}}}},
    "datasets.flickr8k.boxes": {"datasets": {"flickr8k": {"boxes": "{b}.csv"}}},
    "votes.flickr8k.files.hm_lstm": {"votes": {"flickr8k": {"files": {"hm_lstm": "{b}.csv"}}}},
    "datasets.flickr8k.sources.text.file": {"datasets": {"flickr8k": {"sources": {"text": {"file": "{b}.zip"}}}}},
    "networks.squeezenet1_0.classes": {"networks": {"squeezenet1_0": {"classes": "{b}.txt"}}},
    "word_vectors.glove.local": {"word_vectors": {"glove": {"local": "{b}.txt"}}},
    "proposers.mcg.local": {"proposers": {"mcg": {"local": "{b}.mat"}}},
    "proposers.mcg.options.maps": {"proposers": {"mcg": {"options": {"maps": "{b}"}}}},
    "proposers.mcg.options.structured_edges": {"proposers": {"mcg": {"options": {"structured_edges": "{b}"}}}},
    "searches.mine.photographs": {
        "searches": {"mine": {"dataset": "scenes", "variant": "vse", "photographs": "sets/{dataset}"}}
    },
}


@pytest.mark.parametrize("key", KEYS)
def test_braces_are_refused_in_every_path(key):
    with pytest.raises(InputError, match=rf"(?m)^  {key}: "):
        load(ROOT / "config", KEYS[key])


def test_a_way_back_behind_a_link_is_refused(tmp_path, monkeypatch):
    """Without following links it would lead to another file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere/folder").mkdir(parents=True)
    for name in ("elsewhere/a.pth", "a.pth"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("elsewhere/folder")
    with pytest.raises(InputError, match=r"squeezenet1_0\.local: .*`\.\.` follows .*: .*elsewhere/a\.pth"):
        load(ROOT / "config", local("link/../a.pth"))
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("elsewhere")
    assert load(ROOT / "config", local("link/../a.pth")).networks["squeezenet1_0"].local == "a.pth"
