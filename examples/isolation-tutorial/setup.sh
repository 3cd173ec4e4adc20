#!/bin/bash
# Finds glovebox and makes the folder for the results. Sourced by the other scripts.
#
# GLOVEBOX: the program (default: the one on PATH, else this source tree's build)
# MCP_SERVER: the command of the MCP server to test (default: glovebox itself)
# RESULTS: where results go (default: ./results)
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
if [[ -z "${GLOVEBOX:-}" ]]; then
  GLOVEBOX="$(command -v glovebox || true)"
  [[ -n "$GLOVEBOX" ]] || GLOVEBOX="$here/../../build/bin/glovebox"
fi
[[ -x "$GLOVEBOX" ]] || {
  echo "setup: no glovebox on PATH and no $GLOVEBOX; run 'make build' or set GLOVEBOX" >&2
  exit 1
}
RESULTS="${RESULTS:-results}"
if [[ -z "${MCP_SERVER:-}" ]]; then
  # The language layer off: what is tested is what the kernel holds.
  MCP_SERVER="$GLOVEBOX serve --env-file '' --config '' --enable-full true --default-profile full"
fi
mkdir -p "$RESULTS"
