# Exports and imports of models: an export is a folder in results; an imported model is below resources/carried/, and its
# files replace those of a training. Its records are compared like Snakemake's.

from densevse.exchange import dag

exchange = Stage(project, dag)


ruleorder: use_carried_model > train
ruleorder: use_carried_model > train_round
ruleorder: use_carried_vocabulary > count_words
ruleorder: use_carried_vocabulary > count_relations
ruleorder: use_carried_vocabulary > count_tags
ruleorder: use_carried_vocabulary > pick_word_vectors


rule export_model:
    input:
        model="<model>/round{round}/model.safetensors",
        history="<model>/round{round}/history.parquet",
        vocabularies=path("<results>/{dataset}/vocabulary/{vocabulary}.parquet", exchange.model_vocabularies),
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        retrieval=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            lambda dataset: {"protocol": tables.first_protocol(dataset)},
        ),
    output:
        directory("<results>/{dataset}/exported/{variant}/seed{seed}/round{round}"),
    log:
        "<logs>/export_model/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.exchange.exporting:export_model", exchange.export_job),
    message:
        "exporting {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule export_onnx:
    input:
        exported="<results>/{dataset}/exported/{variant}/seed{seed}/round{round}",
        weights=path("<resources>/{network}/{file}", exchange.onnx_weights),
    output:
        directory("<results>/{dataset}/onnx/{variant}/seed{seed}/round{round}"),
    log:
        "<logs>/export_onnx/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.inference.onnx_files:export_onnx", exchange.onnx_job),
        contents=contents_of("<resources>/{network}/{file}", exchange.onnx_weights),
    message:
        "exporting {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}, as ONNX"
    script:
        RUNNER


rule use_carried_model:
    input:
        records=local_path("<resources>/carried/{imported_model}/records.json"),
        imported_model=local_path("<resources>/carried/{imported_model}/model.safetensors"),
        imported_history=local_path("<resources>/carried/{imported_model}/history.parquet"),
    output:
        model="<results>/{imported_model}/model.safetensors",
        history="<results>/{imported_model}/history.parquet",
    log:
        "<logs>/use_carried_model/{imported_model}.log",
    wildcard_constraints:
        imported_model=name_pattern(exchange.imported_models()),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling("densevse.exchange.records:use_model", exchange.use_job),
        contents=contents_of_each(
            records=("<resources>/carried/{imported_model}/records.json",),
            model=("<resources>/carried/{imported_model}/model.safetensors",),
            history=("<resources>/carried/{imported_model}/history.parquet",),
        ),
    message:
        "using the imported model {wildcards.imported_model}"
    script:
        RUNNER


rule use_carried_vocabulary:
    input:
        records=local_path("<resources>/carried/{imported_model}/records.json", exchange.vocabulary),
        file=local_path("<resources>/carried/{imported_model}/vocabulary/{file}.parquet", exchange.vocabulary),
    output:
        "<results>/{imported_vocabulary}.parquet",
    log:
        "<logs>/use_carried_vocabulary/{imported_vocabulary}.log",
    wildcard_constraints:
        imported_vocabulary=name_pattern(exchange.vocabularies()),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling("densevse.exchange.records:use_vocabulary"),
        contents=contents_of("<resources>/carried/{imported_model}/vocabulary/{file}.parquet", exchange.vocabulary),
    message:
        "using the vocabulary {wildcards.imported_vocabulary}, which came with an imported model"
    script:
        RUNNER
