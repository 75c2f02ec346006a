"""The plan of a table of ECCV Caption and CxC: the contract between the DAG and the table's job."""

from densevse.config.strict import Strict
from densevse.tables.plan import Configured, SectionPlan

LISTED = 50
"""Candidates that a list needs: a query of ECCV Caption has up to 48 true answers, and the last place is never one."""


class ExtendedTruthPlan(Strict):
    """A table of ECCV Caption and CxC on the test split of a data set."""

    title: str
    section: SectionPlan
    configured: Configured
