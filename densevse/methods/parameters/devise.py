"""Declares the parameters of config/methods/devise.yaml."""

from pydantic import Field

from densevse.methods.parameters.defrag import GlobalRankingParameters


class Parameters(GlobalRankingParameters):
    """The parameters of DeViSE. The values are ours, as DeFrag's section 4.1 names none."""

    threshold: float = Field(0.0, description="the least score of a detection whose vector counts (section 4.1)")
