"""Advises how many workers a running stream needs, why, and what else would help. It changes nothing itself."""

from gluepot.streaming.advisor.advice import Advice, Limit, Measure, Recommendation
from gluepot.streaming.advisor.advise import advise
from gluepot.streaming.advisor.history import Observation, observed
from gluepot.streaming.advisor.log import AdviceLog
from gluepot.streaming.advisor.settings import AdvisorSettings

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
