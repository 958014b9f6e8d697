// Plan, run a closed loop and follow a validation with the generated types and openapi-fetch: `node closed_loop.js URL KEY`.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [url, key] = process.argv.slice(2);
assert(url && key);
const client = createClient<paths>({ baseUrl: url, headers: { "X-API-Key": key } });

const network: components["schemas"]["Network"] = {
  devices: {
    data: [600, 580, 610],
    processing_capacity: [2000, 900, 1200],
    processing_cost: [0.8, 1.0, 0.9],
    receive_capacity: [200, 100, 150],
    transmit_budget: [80, 60, 70],
  },
  topology: { kind: "links", source: [1, 2], target: [0, 0], similarity: [0.4, 0.1], transmit_cost: [0.5, 0.7] },
};

async function plan(): Promise<void> {
  const { data, error } = await client.POST("/v1/plans", { body: { network, sample_size: 1, horizon: 4 } });
  if (error) throw new Error(error.detail);
  assert(data.kind === "plan");
  assert.deepEqual(data.sampled, [0]);
  assert(data.relative_gap <= 1e-6);
  const dry = await client.POST("/v1/plans", { body: { network, sample_size: 1, horizon: 4, dry_run: true } });
  assert(dry.data?.kind === "diagnosis" && dry.data.feasible);
  const refused = await client.POST("/v1/plans", { body: { network, sample_size: 9, horizon: 4 } });
  assert.equal(refused.error?.errors?.[0]?.pointer, "/sample_size");
  console.log("planned", data.objective);
}

async function loop(): Promise<void> {
  const body = { network, sample_size: 1, horizon: 6, aggregation_period: 2 };
  const first = await client.POST("/v1/runs", { body });
  if (first.error) throw new Error(first.error.detail);
  let period: components["schemas"]["Period"] = first.data;
  const place = { path: { run_id: period.id } };
  for (let norm = 0.8; period.state === "active"; norm *= 0.8) {
    const report = { aggregation: period.aggregation + 1, gradient_norm: norm };
    const next = await client.POST("/v1/runs/{run_id}/aggregations", { params: place, body: report });
    if (next.error) throw new Error(next.error.detail);
    period = next.data;
  }
  const { data: run } = await client.GET("/v1/runs/{run_id}", { params: place });
  assert(run?.state === "finished" && run.step === 6);
  const gone = await client.DELETE("/v1/runs/{run_id}", { params: place });
  assert.equal(gone.response.status, 204);
  console.log("looped", period.aggregation);
}

async function validate(): Promise<void> {
  const { data, error } = await client.POST("/v1/validations", {
    params: { header: { "Idempotency-Key": "closed-loop-ts" } },
    body: {
      source: { kind: "generator", devices: 8, mean_datapoints: 20, link_probability: 0.5 },
      schemes: ["heuristic-offload"],
      sample_size: 2,
      aggregations: 2,
    },
  });
  if (error) throw new Error(error.detail);
  const place = { path: { validation_id: data.id } };
  const events = await client.GET("/v1/validations/{validation_id}/events", { params: place, parseAs: "stream" });
  if (!events.data) throw new Error("no events");
  let text = "";
  for await (const piece of events.data.pipeThrough(new TextDecoderStream())) text += piece;
  assert.match(text, /event: round/);
  const { data: ended } = await client.GET("/v1/validations/{validation_id}", { params: place });
  assert.equal(ended?.state, "succeeded");
  console.log("validated", ended?.schemes[0]?.accuracy.mean.at(-1));
}

await plan();
await loop();
await validate();
