from densevse.artifacts import schema
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.evaluation.protocols import folds
from densevse.evaluation.retrieval import retrieve, versions
from densevse.logs import job
from densevse.numerics import set_up
from densevse.training.data import Files, Inputs
from densevse.training.encode import encode_images, encode_sentences, scorer
from densevse.training.models import load_model, trained_on


def main(files, model, protocol, threads, output):
    device = set_up(threads)
    inputs = Inputs(files)
    pairs = inputs.pairs("test")
    method = load_model(model, inputs.shapes(), inputs.features_made_from()).to(device)
    score = scorer(method, encode_images(method, pairs), encode_sentences(method, pairs))
    rows = retrieve(score, pairs.rows, folds(pairs.rows, protocol))
    devices = {"device": device.type, "trained_on": trained_on(model)}
    schema.write(rows, RETRIEVAL, output, {"model": model, "protocol": protocol, **devices, "versions": versions()})


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.wildcards.protocol,
            snakemake.params.threads,
            snakemake.output[0],
        )
