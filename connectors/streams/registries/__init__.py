"""Schema registries whose ids records of streams carry: AWS Glue's, and Confluent's."""

from gluepot.connectors.streams.registries.options import REGISTRY_OPTIONS, registry_of

__all__ = ["REGISTRY_OPTIONS", "registry_of"]
