from densevse.analyses.claims.plan import ClaimsPlan
from densevse.analyses.claims.table import ClaimInputs, make_claims_table
from densevse.config.validation import validate
from densevse.data.files import Files
from densevse.runtime.logs import job
from densevse.tables.results import Outputs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        files = Files.of(dict(snakemake.input.items()))
        make_claims_table(
            ClaimInputs(*map(files.several, ClaimInputs._fields)),
            validate(ClaimsPlan, snakemake.params.plan, "the plan of the table"),
            Outputs(**dict(snakemake.output.items())),
        )
