"""The kinds of lake tables that are written."""

from __future__ import annotations

from typing import TypeAlias

from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.hudi import HudiTable
from gluepot.connectors.lake.iceberg import IcebergTable

LakeTable: TypeAlias = DeltaTable | IcebergTable | HudiTable
