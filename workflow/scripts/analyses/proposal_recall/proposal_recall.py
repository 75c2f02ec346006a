from densevse.analyses.proposal_recall.recall import recall
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, read_all, write
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.masks import SEGMENT_OVERLAP
from densevse.artifacts.schemas.proposals import PROPOSAL_RECALL, PROPOSALS
from densevse.runtime.logs import job


def main(proposals, boxes, image_table, segment_overlap, path, of):
    overlap = read_all(segment_overlap, SEGMENT_OVERLAP) if segment_overlap else None
    families = read(image_table, IMAGES).set_index("image_id")["family"]
    found = recall(read_all(proposals, PROPOSALS), read(boxes, BOXES), families, overlap)
    parents = {"proposals": proposals, "boxes": boxes, "images": image_table}
    write(found, PROPOSAL_RECALL, path, lineage({}, parents), of)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        inputs, of = snakemake.input, Identity.of(snakemake.wildcards)
        main(inputs.proposals, inputs.boxes, inputs.image_table, inputs.segment_overlap, snakemake.output[0], of)
