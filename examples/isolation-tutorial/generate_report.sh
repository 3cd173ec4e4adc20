#!/bin/bash
# Compares the two: RESULTS/isolation_report.md. Exit code 1: something forbidden succeeded.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
echo "Generating comparison report..."
"$GLOVEBOX" audit --from-results --results "$RESULTS" "$@"
