# Sentences about images: generators are trained, and write and rank sentences about a split.


rule train_generator:
    input:
        unpack(generators.inputs_of_training),
    output:
        model="<results>/{dataset}/generators/{generator}/seed{seed}/model.safetensors",
        history="<results>/{dataset}/generators/{generator}/seed{seed}/history.parquet",
    log:
        "<logs>/train_generator/{dataset}_{generator}_seed{seed}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(4000, 130)),
        runtime=1440,
    params:
        **calling("densevse.training.generators:train_generator", generators.job),
    message:
        "training the generator {wildcards.generator} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule generate_captions:
    input:
        unpack(generators.inputs_of_captions),
        model=rules.train_generator.output.model,
    output:
        "<results>/{dataset}/generated_captions/{generator}/seed{seed}/{split}.parquet",
    log:
        "<logs>/generate_captions/{dataset}_{generator}_seed{seed}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(4000, 130)),
        runtime=growing(240),
    params:
        **calling("densevse.models.captioning:write_captions", generators.captions_job),
    message:
        "sentences about {wildcards.split}: {wildcards.generator} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER
