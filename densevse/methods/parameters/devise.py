"""Declares what config/methods/devise.yaml may set."""

from pydantic import Field

from densevse.methods.parameters._global_ranking import GlobalRankingParameters


class Parameters(GlobalRankingParameters):
    """Chosen, as DeFrag's section 4.1 names no values."""

    threshold: float = Field(0.0, description="the least score of a detection whose vector counts (section 4.1)")
