from densevse.analyses.attention.explaining import write_saliency
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.data.files import Files
from densevse.inference.models import open_model
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, threads, of, output):
    inputs, method = open_model(files, model, set_up(threads), "saliency")
    write_saliency(method, inputs, output, lineage({"split": of.split}, {"model": model}), of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.params.threads,
            Identity.of(snakemake.wildcards),
            snakemake.output[0],
        )
