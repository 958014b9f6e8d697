#!/usr/bin/env bash
# A plan, then a run with one aggregation, with curl: examples/plan.sh [URL]
set -euo pipefail
url=${1:-http://127.0.0.1:8000}
network='{
  "devices": {"data": [600, 580, 620], "processing_capacity": [2000, 900, 1500], "processing_cost": [0.8, 1.0, 1.0],
              "receive_capacity": [200, 100, 150], "transmit_budget": [80, 60, 60]},
  "topology": {"kind": "links", "source": [1, 2], "target": [0, 0], "similarity": [0.4, 0.1], "transmit_cost": [0.5, 1.0]}
}'
post() { curl -sS --fail-with-body "$url$1" -H 'Content-Type: application/json' -d "$2"; }

echo "A plan for ten steps:"
post /v1/plans "{\"network\": $network, \"sample_size\": 1, \"horizon\": 10}"
echo

echo "A run: its first five steps, then what comes after an aggregation that halved the gradient:"
period=$(post /v1/runs "{\"network\": $network, \"sample_size\": 1, \"horizon\": 10, \"aggregation_period\": 5}")
run=$(sed -E 's/.*"id":"(run_[^"]+)".*/\1/' <<< "$period")
post "/v1/runs/$run/aggregations" '{"aggregation": 1, "gradient_norm": 0.5}'
echo
