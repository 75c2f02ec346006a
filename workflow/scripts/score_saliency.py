from densevse.artifacts.lineage import lineage
from densevse.evaluation.saliency import write_score
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        saliency, boxes = snakemake.input.saliency, snakemake.input.boxes
        write_score(saliency, boxes, snakemake.output[0], lineage({}, {"saliency": saliency, "boxes": boxes}))
