# Missing paths of the configuration. This is included last, as it depends on the paths that the rules before it make.

tables.check_names(makers.of)

lost = project.records.lost(makers.make) if bucket is None and workflow.is_main_process else []

# These options change no result, or are how a user answers the refusal.
if ADOPTS not in os.environ and not {"--unlock", "--delete-all-output"} & {*sys.argv}:
    refuse_lost(settings.results, lost)

if ADOPTS in os.environ:
    from densevse.dag.adoption import adopt_planned

    forget(lost)

    # The target of `densevse adopt` without targets.
    rule adopt:
        input:
            lost,


# Is planned if a target needs such a path, and never runs: see densevse/dag/targets.py.
rule absent:
    output:
        local("{absent}"),
    wildcard_constraints:
        absent=own_files.absent(makers.of),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=configured(own_files.refuse),
    message:
        "looking for {wildcards.absent}"


targets = TargetStage(
    project,
    Known(
        rules=lambda: [rule.name for rule in workflow.rules if not rule.has_wildcards()],
        patterns=makers.patterns(),
        makes=lambda path: any(rule != "unknown" for rule in makers.of(path)),
    ),
)


# Is planned if a target of that name is requested, and never runs: see densevse/dag/targets.py.
rule unknown:
    output:
        "{unknown}",
    wildcard_constraints:
        unknown=targets.unknown([*own_files.paths(), *exchange.files()]),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=configured(targets.refuse),
    message:
        "looking for {wildcards.unknown}"
