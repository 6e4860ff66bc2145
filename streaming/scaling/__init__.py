"""Doing what the advisor says about the number of workers; the advice itself is `gluepot.streaming.advisor`."""

from gluepot.streaming.scaling.cluster import Cluster, SparkCluster
from gluepot.streaming.scaling.decide import Keep, ScaleTo, decide
from gluepot.streaming.scaling.scaler import Scaler

__all__ = ["Cluster", "Keep", "ScaleTo", "Scaler", "SparkCluster", "decide"]
