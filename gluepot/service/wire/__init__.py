"""The protocol between AWS clients and the service: signatures, shapes, errors (docs/glue 11.1)."""
