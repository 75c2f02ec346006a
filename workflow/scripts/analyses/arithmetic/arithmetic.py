from densevse.analyses.arithmetic.arithmetic import write_arithmetic
from densevse.artifacts.lineage import lineage
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        embeddings, boxes = snakemake.input.embeddings, snakemake.input.boxes or None
        exchanged, named = snakemake.params.exchanged, snakemake.params.named
        made_from = lineage({"exchanged": exchanged, "named": named}, {"embeddings": embeddings, "boxes": boxes or []})
        write_arithmetic(embeddings, boxes, exchanged, named, snakemake.output[0], made_from)
