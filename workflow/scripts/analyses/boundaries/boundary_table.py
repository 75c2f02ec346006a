from densevse.analyses.boundaries.schemas import BOUNDARY_MATCHES
from densevse.analyses.boundaries.table import table
from densevse.artifacts.schema import read
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        matches = read(snakemake.input.matches, BOUNDARY_MATCHES)
        outputs = snakemake.output
        table(matches).write(outputs.markdown, outputs.html, outputs.latex)
