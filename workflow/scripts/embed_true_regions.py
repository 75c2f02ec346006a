from densevse.artifacts.lineage import lineage
from densevse.inference.embedding import write_region_embeddings
from densevse.inference.models import load_model
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(model, regions, threads, output):
    method = load_model(model).to(set_up(threads))
    write_region_embeddings(method, regions, output, lineage({}, {"model": model, "regions": regions}))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(snakemake.input.model, snakemake.input.true_regions, snakemake.params.threads, snakemake.output[0])
