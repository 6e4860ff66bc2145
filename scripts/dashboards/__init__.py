"""Grafana boards as code: a module for each, made of the values in `panels`; `render` makes Grafana's JSON of them."""

from scripts.dashboards.fleet import FLEET
from scripts.dashboards.one_job import ONE
from scripts.dashboards.one_source import SOURCE
from scripts.dashboards.rejects import REJECTS
from scripts.dashboards.render import FOLDER, rendered
from scripts.dashboards.sizing import SIZING

BOARDS = (FLEET, ONE, SOURCE, SIZING, REJECTS)

__all__ = ["BOARDS", "FOLDER", "rendered"]
