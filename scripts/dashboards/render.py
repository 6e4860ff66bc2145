"""Boards in Grafana's own JSON, through its SDK."""

from __future__ import annotations

import json
from pathlib import Path

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from scripts.dashboards.panels import Board, Event, Number, Panel, Variable

FOLDER = Path(__file__).parents[2] / "deploy/grafana/dashboards"
TAG = "gluepot"
HEIGHTS = {"graph": 8, "number": 4, "table": 8}
SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")


def rendered(board: Board) -> str:
    """Return the JSON of a board; equal boards give equal text."""
    made = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.says)
        .tags([TAG])
        .timezone("browser")
        .time("now-1h", "now")
        .refresh("10s")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(_other_boards())
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
    )
    for variable in board.variables:
        made.with_variable(_number(variable) if isinstance(variable, Number) else _choice(variable))
    for event in board.events:
        made.annotation(_mark(event))
    number = 0
    for row in board.rows:
        number += 1
        made.with_row(dashboard.Row(row.title).id(number))
        for panel in row.panels:
            number += 1
            made.with_panel(_panel(panel).id(number))
    return json.dumps(made.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


def _other_boards() -> dashboard.DashboardLink:
    link = dashboard.DashboardLink("Gluepot").type(models.DashboardLinkType.DASHBOARDS).tags([TAG])
    return link.as_dropdown(True).include_vars(True).keep_time(True)


def _choice(variable: Variable) -> dashboard.QueryVariable:
    made = (
        dashboard.QueryVariable(variable.name)
        .label(variable.name.capitalize())
        .datasource(SOURCE)
        .query({"query": f"label_values({variable.of}, {variable.label})", "refId": variable.name})
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(variable.several)
        .include_all(variable.several)
    )
    if variable.several:
        made.all_value(".+").current(models.VariableOption(selected=True, text="All", value="$__all"))
    return made


def _number(number: Number) -> dashboard.TextBoxVariable:
    text = str(number.value)
    chosen = models.VariableOption(selected=True, text=text, value=text)
    return dashboard.TextBoxVariable(number.name).label(number.title).default_value(text).current(chosen)


def _mark(event: Event) -> dashboard.AnnotationQuery:
    return (
        dashboard.AnnotationQuery()
        .name(event.title)
        .datasource(SOURCE)
        .enable(True)
        .icon_color(event.color)
        .expr(event.expr)
    )


def _panel(panel: Panel) -> timeseries.Panel | stat.Panel | table.Panel:
    match panel.kind:
        case "graph":
            legend = common.VizLegendOptions().display_mode(common_models.LegendDisplayMode.LIST)
            tooltip = common.VizTooltipOptions().mode(common_models.TooltipDisplayMode.MULTI)
            made = timeseries.Panel().legend(legend.placement(common_models.LegendPlacement.BOTTOM)).tooltip(tooltip)
            made.fill_opacity(8).show_points(common_models.VisibilityMode.NEVER)
            if panel.warn_at is not None or panel.bad_at is not None:
                style = common.GraphThresholdsStyleConfig()
                made.thresholds_style(style.mode(common_models.GraphTresholdsStyleMode.DASHED))
        case "number":
            made = stat.Panel().color_mode(common_models.BigValueColorMode.VALUE)
            made.graph_mode(common_models.BigValueGraphMode.AREA)
            made.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        case "table":
            made = table.Panel()
    made.title(panel.title).description(panel.says).datasource(SOURCE).unit(panel.unit)
    made.span(panel.width).height(HEIGHTS[panel.kind]).thresholds(_thresholds(panel))
    for name, line in zip("ABCDEFGH", panel.lines, strict=False):
        query = prometheus.Dataquery().expr(line.expr).legend_format(line.legend).ref_id(name).datasource(SOURCE)
        made.with_target(query.instant().format(PromQueryFormat.TABLE) if panel.kind == "table" else query.range())
    return made


def _thresholds(panel: Panel) -> dashboard.ThresholdsConfig:
    steps = [models.Threshold(None, "green")]
    steps += [
        models.Threshold(at, color)
        for at, color in ((panel.warn_at, "yellow"), (panel.bad_at, "red"))
        if at is not None
    ]
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)
