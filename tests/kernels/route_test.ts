// The router against plain numbers: each gating, ties, biases, groups, and what becomes of weights.
// Logits are quarters, so that many are equal, and few enough that no two scores differ by rounding.

import { assertEquals, assertThrows } from "@std/assert";
import {
  allocateRouting,
  type Device,
  GpuError,
  type RouteOptions,
  routeReference,
} from "../../kernels/mod.ts";
import { deviceTest, gpuTest, readFloats, readWords, submit, upload } from "../gpu.ts";
import { randomFloats } from "../numbers.ts";
import { assertClose, relative, uploadRows } from "./close.ts";

interface Case extends Omit<RouteOptions, "bias"> {
  rows?: number;
  experts: number;
  topK: number;
  bias?: Float32Array;
  logits?: Float32Array;
}

/** Whole quarters in [-2, 2]. */
function quarters(count: number, seed: number): Float32Array {
  return randomFloats(count, seed).map((value) => Math.round(8 * (value % 1)) / 4);
}

/** Fails unless the GPU chooses the reference's experts and weights. */
async function assertRouted(device: Device, shape: Case): Promise<void> {
  const { rows = 5, experts, topK, bias, ...options } = shape;
  const logits = shape.logits ?? quarters(rows * experts, experts + topK);
  const routing = allocateRouting(device, rows, { experts, topK });
  const route = device.route(uploadRows(device, logits, experts), routing, {
    ...options,
    ...(bias ? { bias: upload(device, bias) } : {}),
  });
  submit(device, (pass) => route.encode(pass, rows));

  const expected = Array.from({ length: rows }, (_, row) => {
    const of = logits.subarray(row * experts, (row + 1) * experts);
    return routeReference(of, topK, {
      ...options,
      ...(bias ? { bias } : {}),
    });
  });
  const ids = await readWords(device, routing.ids, rows * topK);
  assertEquals(Array.from(ids), expected.flatMap(({ ids }) => ids));
  const weights = expected.flatMap(({ weights }) => weights);
  // An exponential and a sum of them, twice where weights are normalized.
  const spread = logits.reduce((most, logit) => Math.max(most, 2 * Math.abs(logit) || 0), 0);
  const ulps = 2 * (3 + 3 * spread) + experts / 2 + topK / 2 + 12;
  const actual = await readFloats(device, routing.weights, rows * topK);
  assertClose(actual, weights, relative(weights, ulps));
  assertEquals(Array.from(await readWords(device, routing.count, 1)), [rows * topK]);
}

deviceTest(
  "Route takes probabilities by softmax, of all experts or of the chosen",
  async (device) => {
    await assertRouted(device, { experts: 60, topK: 4, gating: "softmax", rows: 33 });
    const normalize = true;
    await assertRouted(device, {
      experts: 128,
      topK: 8,
      gating: "softmax",
      normalize,
      rows: 33,
    });
    await assertRouted(device, { experts: 2, topK: 1, gating: "softmax", normalize, rows: 1 });
  },
);

deviceTest("Route takes the softmax of the selected", async (device) => {
  await assertRouted(device, { experts: 6, topK: 3, gating: "softmax of selected", rows: 33 });
  const bias = quarters(128, 3);
  await assertRouted(device, { experts: 128, topK: 4, gating: "softmax of selected", bias });
});

deviceTest(
  "Route takes probabilities by sigmoid and scales what it has normalized",
  async (device) => {
    await assertRouted(device, { experts: 6, topK: 1, gating: "sigmoid", rows: 1 });
    const shape = { experts: 60, topK: 5, gating: "sigmoid" as const, scale: 2.5 };
    await assertRouted(device, { ...shape, normalize: true });
    await assertRouted(device, shape);
  },
);

deviceTest("Route chooses by biased probabilities and weights by unbiased ones", async (device) => {
  const shape = { rows: 33, normalize: true, scale: 1.5 };
  const bias = quarters(60, 7);
  await assertRouted(device, { ...shape, experts: 60, topK: 6, gating: "sigmoid", bias });
  await assertRouted(device, { ...shape, experts: 60, topK: 6, gating: "softmax", bias });
});

deviceTest("Route keeps to the groups with the best two experts", async (device) => {
  const shape = { experts: 60, rows: 33, normalize: true };
  const groups = { count: 12, used: 3 };
  const bias = quarters(60, 11);
  await assertRouted(device, { ...shape, topK: 7, gating: "sigmoid", bias, groups });
  await assertRouted(device, { ...shape, topK: 2, gating: "softmax", groups });
});

deviceTest("Route divides by no less than 2^-14", async (device) => {
  const logits = new Float32Array(6).fill(-14).with(4, -12); // probabilities of 10^-6
  const gating = "sigmoid";
  await assertRouted(device, { experts: 6, topK: 2, gating, normalize: true, logits, rows: 1 });
});

deviceTest("Route takes the lower ids of equal logits", async (device) => {
  for (const gating of ["softmax", "sigmoid", "softmax of selected"] as const) {
    const logits = new Float32Array(3 * 60).fill(0.5);
    await assertRouted(device, { experts: 60, topK: 4, gating, logits, rows: 3 });
  }
});

deviceTest("Route chooses an expert whose logit is NaN, so that it shows", async (device) => {
  const shape = { experts: 60, topK: 4, rows: 3 };
  const sound = quarters(3 * 60, 5);
  const bias = quarters(60, 13);
  const groups = { count: 12, used: 3 };
  for (const gating of ["softmax", "sigmoid", "softmax of selected"] as const) {
    for (const options of [{}, { bias, groups }]) {
      for (const damaged of [[7], [119, 62], sound.keys()]) {
        const logits = sound.slice();
        for (const at of damaged) logits[at] = NaN;
        await assertRouted(device, { ...shape, ...options, gating, logits });
      }
    }
  }
});

deviceTest("Route ranks logits whose probabilities are equal in f32", async (device) => {
  const logits = new Float32Array([40, 41, 42, 39, 43, 38]);
  await assertRouted(device, { experts: 6, topK: 2, gating: "sigmoid", logits, rows: 1 });
});

deviceTest("Route chooses 32 of 512 experts", async (device) => {
  await assertRouted(device, { experts: 512, topK: 32, gating: "softmax" });
});

gpuTest("Route refuses more than it has room for, and groups of too few experts", (device) => {
  const x = uploadRows(device, new Float32Array(60), 60);
  const routing = allocateRouting(device, 1, { experts: 60, topK: 8 });
  for (const groups of [{ count: 7, used: 4 }, { count: 12, used: 1 }, { count: 60, used: 10 }]) {
    const create = () => device.route(x, routing, { gating: "softmax", groups });
    assertThrows(create, GpuError, "Cannot route");
  }
  for (const shape of [{ experts: 513, topK: 2 }, { experts: 60, topK: 33 }]) {
    const create = () => device.route(x, allocateRouting(device, 1, shape), { gating: "softmax" });
    assertThrows(create, GpuError, "Cannot route");
  }
  return Promise.resolve();
});
