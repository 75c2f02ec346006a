# Sentences to constituency trees and dependencies, by Stanford CoreNLP or, for scenes, by the grammar they come from.

from densevse.config.environment import corenlp_home


# Once, as an edit of the package's code is no reason to obtain a gigabyte again.
rule get_corenlp:
    input:
        project=path("<project>/envs/corenlp/pom.xml"),
    output:
        protected(directory("<resources>/corenlp")),
    log:
        "<logs>/get_corenlp.log",
    localrule: True
    conda:
        "../../../envs/corenlp.yaml"
    resources:
        mem_mb=1000,
    params:
        **calling_once("densevse.language.corenlp_jars:get_corenlp"),
        contents=contents_of("<project>/envs/corenlp/pom.xml"),
    message:
        "obtaining Stanford CoreNLP"
    script:
        RUNNER


rule parse:
    input:
        images=path(
            "<results>/{dataset}/images.parquet", when=lambda dataset: project.datasets[dataset].sentences_have_images
        ),
        captions="<results>/{dataset}/captions.parquet",
        home=path("<resources>/corenlp", lambda: corenlp_home() or {}),
    output:
        "<results>/{dataset}/parses/{parser}/{shard}.parquet",
    log:
        "<logs>/parse/{dataset}-{parser}-{shard}.log",
    wildcard_constraints:
        parser=name_pattern(name for name, one in settings.parsers.items() if one.kind == "corenlp"),
    conda:
        "../../../envs/corenlp.yaml"
    threads: 2
    resources:
        mem_mb=growing(lambda parser: settings.parsers[parser].options.memory_mb),
        runtime=growing(240),
    params:
        **calling("densevse.language.corenlp:parse_by_corenlp", inputs.parsing_job),
        contents=contents_of("<resources>/corenlp", lambda: corenlp_home() or {}),
    message:
        "parsing {wildcards.dataset} with {wildcards.parser}, shard {wildcards.shard}"
    script:
        RUNNER


# DeFrag's dependencies of 2014, which replace today's: requested only if a variant names them.
use rule parse as parse_original with:
    output:
        "<results>/{dataset}/original_parses/{parser}/{shard}.parquet",
    log:
        "<logs>/parse_original/{dataset}-{parser}-{shard}.log",
    params:
        **calling("densevse.language.corenlp:parse_by_corenlp", inputs.parsing_job, original=True),
        contents=contents_of("<resources>/corenlp", lambda: corenlp_home() or {}),
    message:
        "parsing {wildcards.dataset} with {wildcards.parser} for the dependencies of 2014, shard {wildcards.shard}"


rule parse_by_grammar:
    input:
        images=path(
            "<results>/{dataset}/images.parquet", when=lambda dataset: project.datasets[dataset].sentences_have_images
        ),
        captions="<results>/{dataset}/captions.parquet",
    output:
        "<results>/{dataset}/parses/{parser}/{shard}.parquet",
    log:
        "<logs>/parse_by_grammar/{dataset}-{parser}-{shard}.log",
    wildcard_constraints:
        parser=name_pattern(name for name, one in settings.parsers.items() if one.kind == "grammar"),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.scenes.grammar:parse_by_grammar"),
    message:
        "parsing {wildcards.dataset} with {wildcards.parser}, shard {wildcards.shard}"
    script:
        RUNNER
