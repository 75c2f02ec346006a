# Contours against the boundaries that people drew (BSDS500): a check of contour networks and hierarchies.

from densevse.analyses.boundaries.settings import BoundarySettings
from densevse.dag.fields import CONTOURS_OF_MCG

boundaries = settings.analysis(BoundarySettings)


rule contours_of_photographs:
    input:
        folder=path("{own_folder}", boundaries.named_folder),
        model=path("<resources>/hed/hed.safetensors", proposals.contour_model),
    output:
        "<results>/boundaries/{proposer}/contours.parquet",
    log:
        "<logs>/contours_of_photographs/{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(proposals.find_proposers("mcg", maps=False)),
    conda:
        f"{ENVS}/torch.yaml"
    threads: settings.threads
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling(
            "densevse.analyses.boundaries.bsds:write_contours",
            lambda proposer: Job(
                {"options": proposals.mcg_options(proposer, CONTOURS_OF_MCG), "threads": settings.threads}
            ),
        ),
        contents=contents_of_each(
            folder=("{own_folder}", boundaries.named_folder),
            model=("<resources>/hed/hed.safetensors", proposals.contour_model),
        ),
    message:
        "finding contours on the photographs with known boundaries for {wildcards.proposer}"
    script:
        RUNNER


rule match_boundaries:
    input:
        folder=path("{own_folder}", boundaries.named_folder),
        contours="<results>/boundaries/{proposer}/contours.parquet",
    output:
        "<results>/boundaries/{proposer}/matches.parquet",
    log:
        "<logs>/match_boundaries/{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(proposals.find_proposers("mcg", maps=False)),
    conda:
        f"{ENVS}/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(6000),
    params:
        **calling(
            "densevse.analyses.boundaries.matching:write_matches",
            lambda proposer: Job(proposals.mcg_options(proposer, ["superpixels"])),
        ),
        contents=contents_of("{own_folder}", boundaries.named_folder),
    message:
        "comparing the contours of {wildcards.proposer} with the boundaries that people drew"
    script:
        RUNNER


rule boundary_table:
    input:
        matches="<results>/boundaries/{proposer}/matches.parquet",
    output:
        **table_pages("<results>/tables/bsds_boundaries_{proposer}", "boundaries.rst", table="boundaries of {proposer}"),
    log:
        "<logs>/boundary_table/{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(proposals.find_proposers("mcg", maps=False)),
    conda:
        f"{ENVS}/torch.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.boundaries.matching:write_table"),
    message:
        "writing the table of boundaries of {wildcards.proposer}"
    script:
        RUNNER
