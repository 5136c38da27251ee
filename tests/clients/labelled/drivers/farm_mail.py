# SPDX-License-Identifier: MIT
"""A worker of the second service (farm.py): two tries, and an end. Usage: HOST PORT UNIT"""

import sys

from farm_orders import work

sys.exit(0 if work(*sys.argv[1:4]) or work(*sys.argv[1:4]) else 1)
