#!/bin/bash
# Attempts every operation through the MCP server: RESULTS/*_results_mcp.json
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
echo "Running isolation tests through the MCP sandbox..."
"$GLOVEBOX" audit --only target --mcp "$MCP_SERVER" --results "$RESULTS" "$@"
echo "MCP sandbox tests completed."
