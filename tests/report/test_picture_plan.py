"""The plan of a picture, as the DAG passes it to the picture's job."""

from densevse.artifacts.identity import Identity
from densevse.config.strict import validate
from densevse.report.plan import PicturePlan


def test_a_plan_is_the_same_after_it_was_given_to_a_job_as_plain_values():
    shown = {"Ours": Identity("scenes", "vse", seed=0, split="test")}
    plan = PicturePlan(title="Two", shown=shown)
    assert validate(PicturePlan, plan.model_dump(mode="json"), "the plan of the picture") == plan
