#!/bin/bash
# The whole tutorial: direct execution, the MCP sandbox, the comparison.
folder="$(dirname "${BASH_SOURCE[0]}")"
. "$folder/setup.sh"
echo "===== MCP Sandbox Isolation Tutorial ====="
echo "===== Running Tests Directly on Host System ====="
"$folder/run_direct_tests.sh"
echo "===== Running Tests Through MCP Sandbox ====="
"$folder/run_mcp_tests.sh"
echo "===== Generating Comparison Report ====="
code=0
"$folder/generate_report.sh" || code=$?
echo "===== Tutorial Complete ====="
echo "View the report at: $RESULTS/isolation_report.md"
exit "$code"
