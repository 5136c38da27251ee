# SPDX-License-Identifier: MIT
"""The storms, in the order in which the report shows them."""

from . import blip, chain, fifty, herd, dns, farm, backlog, partial, today  # noqa: F401
