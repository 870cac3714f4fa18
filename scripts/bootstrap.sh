#!/usr/bin/env bash
# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
# Finds a Python that this project supports and starts the set-up with it.
# usage: bootstrap.sh [python]    (python: a command or path; empty: search the PATH)
set -u

# Prints the interpreter to use, or fails where the version is not supported. Inside a virtual
# environment (perhaps our own, about to be replaced) that is the interpreter it was made from.
probe='
import os, sys
if not (3, 10) <= sys.version_info[:2] <= (3, 14): sys.exit(1)
base = os.path.join(sys.base_prefix, "bin", "python%d.%d" % sys.version_info[:2])
print(base if sys.prefix != sys.base_prefix and os.path.exists(base) else sys.executable)'

unset _ROS_WHEELS_BOOTSTRAP_COMPLETE # another environment of ROS 2 wheels may be active
here=$(dirname "${BASH_SOURCE[0]}")
for candidate in ${1:-"$here/../.venv/bin/python" python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
  python=$("$candidate" -c "$probe" 2>/dev/null) && exec "$python" -B "$here/bootstrap.py"
done
echo "error: ${1:-python3} is $("${1:-python3}" --version 2>&1), but Python 3.10 to 3.14 is needed;" \
  "install one, or name one: make PYTHON=/path/to/python3.12 setup" >&2
exit 2
