#!/bin/bash
# Attempts every operation directly on this host: RESULTS/*_results.json
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
echo "Running isolation tests directly on the host system..."
"$GLOVEBOX" audit --only direct --results "$RESULTS" "$@"
echo "Direct execution tests completed."
