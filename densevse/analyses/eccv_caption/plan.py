"""The plan of a table of ECCV Caption and CxC, passed from the DAG to the table's job."""

from densevse.report.plan import MeasuringPlan, SectionPlan

LISTED = 50
"""The length of a list: a query of ECCV Caption has up to 48 true answers, and the last place never counts."""


class ExtendedTruthPlan(MeasuringPlan):
    """A table of ECCV Caption and CxC on the test split of a data set."""

    section: SectionPlan
