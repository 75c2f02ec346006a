from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.data.files import Files
from densevse.evaluation.protocols import folds
from densevse.evaluation.retrieval import retrieve, versions
from densevse.inference.encoding import encode_images, encode_sentences
from densevse.inference.models import open_model, trained_on
from densevse.inference.scoring import scorer, summed
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, models, protocol, threads, output, of):
    device = set_up(threads)
    scorers = []
    for model in models:
        inputs, method = open_model(files, model, device)
        pairs = inputs.pairs("test", method.regions_read)
        scorers.append(scorer(method, encode_images(method, pairs), encode_sentences(method, pairs)))
    rows = retrieve(summed(scorers), pairs.rows, folds(pairs.rows, protocol))
    devices = {"device": device.type, "trained_on": ", ".join(sorted({trained_on(model) for model in models}))}
    members = {f"member{number}": model for number, model in enumerate(models)}
    made_from = lineage({"protocol": protocol, **devices, "versions": versions()}, members)
    schema.write(rows, RETRIEVAL, output, made_from, of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            list(snakemake.input.models),
            snakemake.wildcards.protocol,
            snakemake.params.threads,
            snakemake.output[0],
            Identity.of(snakemake.wildcards, split="test"),
        )
