// Kernels on a driver whose exp() of a NaN is infinite, as WGSL allows and SwiftShader has it: a value
// that is damaged must come out as NaN all the same. Deno's own driver is made such a one here.

import { assert } from "@std/assert";
import {
  allocateRouting,
  deltaStateBytes,
  type Device,
  type FloatRows,
  type RouteOptions,
} from "../../kernels/mod.ts";
import { WebGpuDevice } from "../../kernels/webgpu/mod.ts";
import { webGpuTest } from "../adapter.ts";
import { readFloats, submit, upload } from "../gpu.ts";
import { pretendGpu } from "../pretended_gpu.ts";
import { profileNamed } from "../profiles.ts";
import { assertAttention } from "./attention_case.ts";
import { outputRows, uploadRows } from "./close.ts";
import { assertSteps, SEQUENCES, SLOTS } from "./recurrent/steps.ts";

/** The bits of NaNs are above those of infinity. */
const HIDING_EXP = `
fn hiding_exp(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let infinity = bitcast<f32>(0x7f800000u | (bits & 0u));
  return select(exp(x), infinity, bits > 0x7f800000u);
}
`;

function withHidingExp(code: string): string {
  return code.replaceAll(/\bexp\(/g, "hiding_exp(") + HIDING_EXP;
}

let opened: Promise<WebGpuDevice> | undefined;

function hidingTest(name: string, run: (device: Device) => Promise<void>): void {
  webGpuTest(`${name}, where exp() of one is infinite`, async () => {
    opened ??= WebGpuDevice.open({
      gpu: pretendGpu(profileNamed("software, no subgroups"), withHidingExp),
    });
    const device = await opened;
    await device.scoped(`run "${name}"`, () => run(device));
  });
}

async function assertNan(device: Device, rows: FloatRows, count: number): Promise<void> {
  const values = await readFloats(device, rows.floats, count);
  assert(values.every(Number.isNaN), `${values}`);
}

hidingTest("A gate that is NaN shows", async (device) => {
  const y = uploadRows(device, new Float32Array(8).fill(1), 8);
  const x = uploadRows(device, new Float32Array(8).fill(NaN), 8);
  submit(device, (pass) => {
    device.elementwise("sigmoid_gate", { rows: y }, { x: { rows: x } }).encode(pass, 1);
  });
  await assertNan(device, y, 8);

  for (const activation of ["sigmoid", "silu"] as const) {
    const ones = new Float32Array(8).fill(1);
    const normed = outputRows(device, 1, 8, false) as FloatRows;
    const norm = device.gatedNorm({ rows: uploadRows(device, ones, 8), first: 0 }, normed, {
      groups: 1,
      weight: upload(device, ones),
      sharedWeight: false,
      epsilon: 1e-5,
      gate: { activation, z: { rows: x, first: 0 } },
    });
    submit(device, (pass) => norm.encode(pass, 1));
    await assertNan(device, normed, 8);
  }
});

hidingTest("A capped NaN shows", async (device) => {
  const y = uploadRows(device, new Float32Array(8).fill(NaN), 8);
  submit(device, (pass) => {
    device.elementwise("softcap", { rows: y }, { factor: 30 }).encode(pass, 1);
  });
  await assertNan(device, y, 8);
});

hidingTest("A query that is NaN shows", async (device) => {
  const heads = { heads: 4, kvHeads: 2, headDim: 16, half: false, quantized: false };
  const shape = {
    ...heads,
    tileRows: 2,
    split: 64,
    sharpness: NaN,
    softcap: 5,
    sequences: [[9, 9]] as const,
  };
  await assertAttention(device, shape);
});

hidingTest("A logit of the router that is NaN shows", async (device) => {
  const [experts, topK] = [8, 2];
  const cases: [RouteOptions["gating"], Float32Array][] = [
    ["softmax", new Float32Array(experts).fill(0).with(5, NaN)],
    ...(["softmax", "sigmoid", "softmax of selected"] as const).map((
      gating,
    ): [RouteOptions["gating"], Float32Array] => [gating, new Float32Array(experts).fill(NaN)]),
  ];
  for (const [gating, logits] of cases) {
    const routing = allocateRouting(device, 1, { experts, topK });
    const route = device.route(uploadRows(device, logits, experts), routing, { gating });
    submit(device, (pass) => route.encode(pass, 1));
    const weights = await readFloats(device, routing.weights, topK);
    assert(weights.every(Number.isNaN), `${gating}: ${weights}`);
  }
});

hidingTest("A gate of a delta net that is NaN shows", async (device) => {
  const shape = { heads: 2, keyHeads: 2, dim: 32 };
  const width = shape.heads * shape.dim;
  for (const broken of ["beta", "alpha"]) {
    const of = (columns: number, value: number) => (rows: number) =>
      new Float32Array(rows * columns).fill(value);
    const columns = {
      qkv: of(3 * width, 1),
      beta: of(shape.heads, broken === "beta" ? NaN : 1),
      alpha: of(shape.heads, broken === "alpha" ? NaN : 1),
    };
    const sequences = SEQUENCES.map(({ rows }) =>
      Object.fromEntries(Object.entries(columns).map(([name, make]) => [name, make(rows)]))
    );
    await assertSteps(device, sequences, {
      columns: width,
      stateBytes: deltaStateBytes(shape, SLOTS),
      bind: ({ qkv, beta, alpha }, y, step, state) =>
        device.deltaRule(
          {
            qkv: { rows: qkv, q: 0, k: width, v: 2 * width },
            beta: { rows: beta, first: 0 },
            alpha: { rows: alpha, first: 0 },
          },
          y,
          step,
          state,
          {
            a: upload(device, Float32Array.of(-1, -1)),
            bias: upload(device, new Float32Array(2)),
            vectorGate: false,
            epsilon: 1e-6,
          },
          shape,
        ),
      expected: SEQUENCES.map(({ rows }) => new Float32Array(rows * width).fill(NaN)),
      tolerance: () => () => 0,
    });
  }
});
