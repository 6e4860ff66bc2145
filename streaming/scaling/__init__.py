"""Scales the workers as the advisor advises; the advice itself is made in `gluepot.streaming.advisor`."""

from gluepot.streaming.scaling.cluster import Cluster, SparkCluster
from gluepot.streaming.scaling.decide import Keep, ScaleTo, decide
from gluepot.streaming.scaling.scaler import Scaler

__all__ = ["Cluster", "Keep", "ScaleTo", "Scaler", "SparkCluster", "decide"]
