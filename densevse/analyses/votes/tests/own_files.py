"""Votes of people, which the fuzz damages."""

from densevse.analyses.votes.ballot import read_votes
from tests.system.fuzz.readers import Target


def targets() -> dict[str, Target]:
    """The reader of votes."""
    votes = b"pair,voter,correct\n1-aaaaaaaa,Anna,yes\n1-aaaaaaaa,Ben,no\n"
    return {
        "votes": Target(
            {"votes.csv": votes},
            "votes.csv",
            lambda folder: read_votes(str(folder / "votes.csv"), {"1-aaaaaaaa"}),
        )
    }
