"""How many workers a running stream needs, why, and what else would help. Advises; acting is somebody else's."""

from streaming.advisor.advice import Advice, Limit, Measure, Recommendation
from streaming.advisor.advise import advise
from streaming.advisor.history import Observation, observed
from streaming.advisor.log import AdviceLog
from streaming.advisor.settings import AdvisorSettings

__all__ = [
    "Advice",
    "AdviceLog",
    "AdvisorSettings",
    "Limit",
    "Measure",
    "Observation",
    "Recommendation",
    "advise",
    "observed",
]
