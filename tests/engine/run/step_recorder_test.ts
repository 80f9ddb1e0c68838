// What is worked out for a step of decoding, and what of it the next steps can use.

import { assertEquals } from "@std/assert";
import type { Commands, Device, Pass, SamplingNeeds } from "../../../kernels/mod.ts";
import type { Network, StepShape } from "../../../engine/nn/mod.ts";
import { StepRecorder } from "../../../engine/run/step_recorder.ts";
import type { StepPlan } from "../../../engine/run/step_plan.ts";

const SHAPE: StepShape = {
  rows: 1,
  sequences: 1,
  mediaRows: 0,
  adapters: 0,
  outputs: 1,
  decodeRows: 1,
  decodeContext: 1,
  prefillTiles: 0,
  prefillContext: 0,
};
const NEEDS: SamplingNeeds = {
  ...{ penalties: false, biases: false, masks: false, stochastic: false },
};

/** A recorder whose device and network note which contexts are worked out and which are recorded. */
function noting({ captures }: { captures: boolean }) {
  const encoded: number[] = [];
  const recorded: number[] = [];
  const network = {
    encode(pass: Pass, { decodeContext }: StepShape) {
      encoded.push(decodeContext);
      (pass as unknown as number[]).push(decodeContext);
    },
  };
  const device = {
    decodeSplit: 64,
    ...(captures
      ? {
        capture(encode: (pass: Pass) => void) {
          const kept: number[] = [];
          encode(kept as Pass);
          return [(pass: Pass) => void (pass as unknown as number[]).push(...kept)];
        },
      }
      : {}),
    record: () => ({
      pass: (encode: (pass: Pass) => void) => encode(recorded as Pass),
      copy() {},
      finish: () => ({} as Commands),
    }),
  };
  const recorder = new StepRecorder(device as unknown as Device, network as unknown as Network);
  const record = (shape: Partial<StepShape>, needs = NEEDS) => {
    const plan = { version: 1, shape: { ...SHAPE, ...shape } } as StepPlan;
    const choice = { needs, encode() {}, sampled: { label: "", size: 4 } };
    recorder.take(plan, 1, { ...choice, target: { label: "", size: 4 } });
  };
  return { encoded, recorded, record };
}

Deno.test("a decode step is worked out once for all positions of a split of the context", () => {
  const { encoded, recorded, record } = noting({ captures: true });
  for (let decodeContext = 1; decodeContext <= 128; decodeContext++) record({ decodeContext });
  assertEquals(encoded, [64, 128]);
  assertEquals(recorded.length, 128);
  assertEquals(recorded[63], 64);
  assertEquals(recorded[64], 128);
});

Deno.test("a decode step is worked out anew for other rows and another choice of tokens", () => {
  const { encoded, record } = noting({ captures: true });
  record({});
  record({ rows: 2, decodeRows: 2 });
  record({}, { ...NEEDS, stochastic: true });
  assertEquals(encoded.length, 3);
  record({});
  record({ rows: 2, decodeRows: 2 });
  record({}, { ...NEEDS, stochastic: true });
  assertEquals(encoded.length, 3);
});

Deno.test("a step with rows of prompts is worked out each time, with its own context", () => {
  const { encoded, record } = noting({ captures: true });
  for (const decodeContext of [5, 6]) record({ decodeContext, prefillTiles: 1, rows: 9 });
  assertEquals(encoded, [5, 6]);
});

Deno.test("a device that captures nothing gets each step with its own context", () => {
  const { encoded, record } = noting({ captures: false });
  for (const decodeContext of [1, 2, 3]) record({ decodeContext });
  assertEquals(encoded, [1, 2, 3]);
});
