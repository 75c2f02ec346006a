# Functions that training.smk is made with: from wildcards to files and settings.
from densevse.methods.registry import METHODS
from densevse.settings.load import merge, validate, variant_names
from densevse.settings.model import Training

MODELS = f"{RESULTS}/{{dataset}}/models/{{variant}}/seed{{seed}}"


def method_inputs(wildcards):
    """The artifacts that a variant reads on a data set, by the names that densevse.training.data.Files takes."""
    entry, dataset = variant_settings(wildcards), dataset_settings(wildcards)
    folder = f"{RESULTS}/{wildcards.dataset}"
    networks = {**dataset.networks, **entry.networks}
    inputs = {
        "image_table": f"{folder}/images.parquet",  # not `images`: so may a data set's source be called
        "caption_table": f"{folder}/captions.parquet",
        "words": f"{folder}/vocabulary/words.parquet",
        **{f"features_{view}": feature_files(wildcards.dataset, view, networks[view]) for view in entry.views},
    }
    if "trees" in entry.sentences:
        inputs["parses"] = parse_files(wildcards)
    if entry.word_vectors and dataset.word_vectors:
        inputs["word_vectors"] = f"{folder}/vocabulary/vectors-{dataset.word_vectors}.parquet"
    return inputs


def method_module(wildcards):
    """The file of a variant's method."""
    name = METHODS[variant_settings(wildcards).model].split(":")[0]
    return str(Path(*name.split(".")).with_suffix(".py"))


def training_code(wildcards):
    return code("train.py", method_module(wildcards))


def training_settings(wildcards):
    """What training depends on in a variant's config: neither titles nor, in round 0, what differs in later rounds."""
    entry = settings_of(variant_settings(wildcards))
    rounds = entry["round_training"] if hasattr(wildcards, "round") else {}
    training = validate(Training, merge(entry["training"], rounds), f"round_training of {wildcards.variant}")
    return {"model": entry["model"], "parameters": entry["parameters"], "training": settings_of(training)}


def training_seed(wildcards):
    return int(wildcards.seed)


def round_before(wildcards):
    """The model that a round starts from. Round 0 starts from nothing: rule train makes it."""
    if int(wildcards.round) < 1:
        raise ValueError("round 0 has no round before it")
    return f"{MODELS}/round{int(wildcards.round) - 1}/model.safetensors".format(**wildcards)
