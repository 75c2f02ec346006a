"""A table refuses retrievals that were made with other settings than it states."""

import pytest

from densevse.report.plan import MeasuredVariant
from densevse.report.provenance import check_provenance
from densevse.runtime.errors import InputError

USED = {"network": ["vgg19"], "proposer": ["boxes"], "parser": [], "vectors": ["glove"], "minimum_word_count": ["4"]}
ROUND = {"method": "vse", "sentences": ["words"], "training": {}}
TRAINED = [
    {**ROUND, "round": 0, "parameters": {"margin": 0.1, "negatives": "sum"}, "phases": []},
    {
        **ROUND,
        "round": 1,
        "parameters": {"margin": 0.2, "negatives": "sum"},
        "phases": [{"name": "main", "epochs": 3}],
    },
]
ROW = MeasuredVariant(title="VSE", seeds=[0], model="vse", round=1, used=USED, trained=TRAINED)
VGG19 = {
    "size": 224,
    "local": "a.pth",
    "precision": "fp32",
    "weights_sha256": "0123456789abcdef",
    "layers": {"whole": "fc7", "grid": "conv5"},
}
READ = {"reader": "flickr", "options": {"seed": 1}, "contents": ["f0f0"]}
DRAWN = {"seed": 3, "train": 10}
CONFIGURED = {
    "network": {"vgg19": VGG19},
    "proposer": {"boxes": {"height": 200}},
    "dataset": {"flickr8k": READ, "resplit": DRAWN},
}


def made_from(
    network="vgg19",
    size=224,
    proposer="boxes",
    height=200,
    vectors="glove",
    minimum=4,
    margin=0.2,
    epochs=3,
    precision="fp32",
    weights="0123456789abcdef0123",
    options=1,
    contents="f0f0",
    draw=3,
):
    read = {"reader": "flickr", "options": {"seed": options}, "contents": [contents], "parents": {}}
    images = {**read, "digests": {"flickr8k/images.parquet": "11"}}
    drawn = {"seed": draw, "train": 10, "parents": {"images": images}, "digests": {"resplit/captions.parquet": "22"}}
    other = {**read, "options": {"seed": 7}, "digests": {"another/images.parquet": "33"}}
    proposals = {"proposer": proposer, "height": height, "parents": {"images": images}}
    regions = {
        "network": network,
        "size": size,
        "local": "b.pth",
        "precision": precision,
        "weights_sha256": weights,
        "layers": {"whole": "fc7"},
        "parents": {"proposals": proposals},
    }
    words = {"minimum_word_count": minimum, "parents": {}}
    phases = [{"name": "main", "epochs": epochs, "final_learning_rate": None}]
    trained = {"method": "vse", "round": 1, "parameters": {"margin": margin}, "phases": phases}
    model = {"seed": 0, **trained, "parents": {"view_regions": regions, "vectors": {"vectors": vectors, "parents": {}}}}
    return {"protocol": "full", "parents": {"model": model, "words": words, "captions": drawn, "others": other}}


def test_what_agrees_passes():
    check_provenance("r.parquet", made_from(), ROW, CONFIGURED)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": "squeezenet"}, r"network: the table says vgg19, found squeezenet \(model/view_regions\)"),
        ({"size": 448}, r"network vgg19, size: the table says 224, found 448"),
        ({"precision": "bf16"}, r"network vgg19, precision: the table says fp32, found bf16"),
        (
            {"weights": "0123000000000000"},
            r"network vgg19, weights_sha256: the table says 0123456789abcdef, found 0123",
        ),
        (
            {"options": 0},
            r"datasets\.flickr8k, options: the table says .*1.*, found .*0.* \(flickr8k/images\.parquet\)",
        ),
        ({"contents": "0f0f"}, r"datasets\.flickr8k, contents: the table says .*f0f0.*, found .*0f0f"),
        ({"draw": 4}, r"datasets\.resplit, seed: the table says 3, found 4 \(resplit/captions\.parquet\)"),
        ({"proposer": "mcg"}, r"proposer: the table says boxes, found mcg \(model/view_regions/proposals\)"),
        ({"height": -5}, r"proposer boxes, height: the table says 200, found -5"),
        ({"vectors": "word2vec"}, r"vectors: the table says glove, found word2vec"),
        ({"minimum": 1}, r"minimum_word_count: the table says 4, found 1"),
        ({"margin": 0.5}, r"parameters: the table says .*0\.2.* found .*0\.5.* \(model\)"),
        ({"epochs": 1}, r"phases: the table says .*3.* found .*1.* \(model\)"),
    ],
)
def test_each_difference_is_refused_by_name(changes, message):
    with pytest.raises(InputError, match=message):
        check_provenance("r.parquet", made_from(**changes), ROW, CONFIGURED)


def test_what_a_table_says_is_not_used_may_not_be_found():
    made = made_from()
    made["parents"]["parses"] = {"parser": "corenlp", "parents": {}}
    with pytest.raises(InputError, match=r"parser: the table says none, found corenlp \(parses\)"):
        check_provenance("r.parquet", made, ROW, CONFIGURED)


def test_all_differences_are_told_at_once():
    with pytest.raises(InputError) as caught:
        check_provenance("r.parquet", made_from(network="alexnet", proposer="mcg"), ROW, CONFIGURED)
    assert "alexnet" in str(caught.value)
    assert "mcg" in str(caught.value)


def test_an_artifact_that_does_not_say_what_it_was_made_from_is_refused():
    with pytest.raises(InputError, match=r"r\.parquet has no record of its inputs"):
        check_provenance("r.parquet", {"protocol": "full"}, ROW, CONFIGURED)
