"""Further results of a trained model besides scores, one module each.

A method implements them by functions of `Method` (densevse/methods/interface.py). An analysis that shows one applies to
the variants whose configuration lists its name.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from densevse.config.declared.door import Door


@dataclass(frozen=True)
class DeclaredYield:
    """A result that a method gives besides scores."""

    description: str


YIELDS: Door[DeclaredYield] = Door("yields", "yield")
YieldName = Annotated[str, AfterValidator(YIELDS.check), YIELDS.enum]
