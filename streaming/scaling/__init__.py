"""Doing what the advisor says about the number of workers; the advice itself is `streaming.advisor`."""

from streaming.scaling.cluster import Cluster, SparkCluster
from streaming.scaling.decide import Keep, ScaleTo, decide
from streaming.scaling.scaler import Scaler

__all__ = ["Cluster", "Keep", "ScaleTo", "Scaler", "SparkCluster", "decide"]
