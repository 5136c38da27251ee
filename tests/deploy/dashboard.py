# SPDX-License-Identifier: MIT
"""conf/grafana/retrybudget.json as its tests see it."""

import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load():
    with open(os.path.join(ROOT, "conf", "grafana", "retrybudget.json")) as file:
        return json.load(file)


def panels(board):
    """Those that ask for something; a row only holds others."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(board):
    """Pairs of a title and a query, as Grafana writes them into the dashboard."""
    found = [(panel["title"], target["expr"]) for panel in panels(board) for target in panel["targets"]]
    return found + [(f"annotation {a['name']}", a["expr"]) for a in board["annotations"]["list"]]


def filled_in(query, interval):
    """The query that Prometheus gets when all is chosen."""
    for variable, value in (("$__rate_interval", interval), ("$dest", ".*"), ("$program", ".*")):
        query = query.replace(variable, value)
    return query
