// A whole mixture of experts, from the router's logits to the residual stream, against a loop in
// plain numbers over tokens and their experts; and the weighted sum at its end by itself.

import { assert } from "@std/assert";
import {
  allocateRouting,
  combineReference,
  floatRows,
  gateReference,
  GROUP,
  isQuantized,
  linearReference,
  quantizedRows,
  quantizeReference,
  routeReference,
} from "../../kernels/mod.ts";
import {
  ExpertLinear,
  GpuExpertPairs,
  Linear,
  rowBinders,
  type WebGpuDevice,
} from "../../kernels/webgpu/mod.ts";
import { gpuTest, readFloats, submit, write } from "../gpu.ts";
import { nmse, randomFloats } from "../numbers.ts";
import { assertRows, ULP, uploadRows, writeRows } from "./close.ts";
import { formatNamed, randomMatrix } from "./weights.ts";

const COLUMNS = 96;
const HIDDEN = 64;
const ROUTE = { gating: "softmax", normalize: true, scale: 1.5 } as const;

interface Weights {
  router: Float32Array;
  /** [gate and up, experts, HIDDEN, COLUMNS]. */
  gateUp: Float32Array;
  /** [experts, COLUMNS, HIDDEN]. */
  down: Float32Array;
}

interface Shape {
  experts: number;
  topK: number;
  /** Whether products read int8 activations. */
  integer: boolean;
}

/** Values as int8 groups hold them. */
function quantized(values: Float32Array): Float32Array {
  const rounded = new Float32Array(values.length);
  for (let at = 0; at < values.length; at += GROUP) {
    const { codes, scale } = quantizeReference(values.subarray(at, at + GROUP));
    rounded.set(Float32Array.from(codes, (code) => code * scale), at);
  }
  return rounded;
}

/** The mixture of one token in plain numbers. */
function mixture(token: Float32Array, { experts, topK, integer }: Shape, weights: Weights) {
  const { router, gateUp, down } = weights;
  const logits = linearReference(router, token, { rows: experts, columns: COLUMNS, tokens: 1 });
  const x = integer ? quantized(token) : token;
  const routed = routeReference(logits, topK, ROUTE);
  const y = new Float32Array(COLUMNS);
  routed.ids.forEach((id, choice) => {
    const size = HIDDEN * COLUMNS;
    const [gate, up] = [id, experts + id].map((matrix) =>
      linearReference(gateUp.subarray(matrix * size, (matrix + 1) * size), x, {
        rows: HIDDEN,
        columns: COLUMNS,
        tokens: 1,
      })
    );
    const gated = gate.map((value, i) => gateReference("silu", value, up[i]));
    const hidden = integer ? quantized(gated) : gated;
    const out = linearReference(down.subarray(id * size, (id + 1) * size), hidden, {
      rows: COLUMNS,
      columns: HIDDEN,
      tokens: 1,
    });
    out.forEach((value, i) => y[i] += routed.weights[choice] * value);
  });
  return y;
}

/** Error of the mixture on the GPU for 33, 5 and 1 tokens, the worst. */
async function mixtureError(device: WebGpuDevice, name: string, shape: Shape): Promise<number> {
  const { experts, topK, integer } = shape;
  const format = formatNamed(name);
  const size = { columns: COLUMNS, rows: experts * HIDDEN, unit: HIDDEN };
  const router = randomMatrix(device, formatNamed("F32"), { rows: experts, columns: COLUMNS });
  const gateUp = randomMatrix(device, format, { ...size, sides: 2 });
  const down = randomMatrix(device, format, {
    rows: experts * COLUMNS,
    columns: HIDDEN,
    unit: COLUMNS,
  });
  const most = 33;
  const floats = floatRows(device, "x", most, COLUMNS);
  const x = integer ? quantizedRows(device, "x", most, COLUMNS) : floats;
  const logits = floatRows(device, "logits", most, experts);
  const allocate = integer ? quantizedRows : floatRows;
  const hidden = allocate(device, "hidden", most * topK, HIDDEN);
  const outputs = floatRows(device, "outputs", most * topK, COLUMNS);
  const y = floatRows(device, "y", most, COLUMNS);

  const routing = allocateRouting(device, most, { experts, topK });
  const chosen = new GpuExpertPairs(device, routing, most);
  const quantize = isQuantized(x) ? rowBinders.quantize(device, floats, x) : undefined;
  const operations = [
    new Linear(device, router.matrix, floats, logits),
    rowBinders.route(device, logits, routing, ROUTE),
    chosen,
    new ExpertLinear(device, gateUp.matrix, chosen, x, hidden, { share: topK }),
    new ExpertLinear(device, down.matrix, chosen, hidden, outputs, { share: 1 }),
    rowBinders.combine(device, routing, outputs, y, { accumulate: true }),
  ];
  let worst = 0;
  for (const tokens of [33, 5, 1]) {
    const values = randomFloats(tokens * COLUMNS, tokens).map((value) => value / 8);
    writeRows(device, floats, values);
    write(device, y.floats, new Float32Array(most * y.stride).fill(0.5));
    submit(device, (pass) => {
      quantize?.encode(pass, tokens);
      for (const operation of operations) operation.encode(pass, tokens);
    });
    const weights = { router: router.weights, gateUp: gateUp.weights, down: down.weights };
    const expected = new Float32Array(tokens * COLUMNS);
    for (let token = 0; token < tokens; token++) {
      const of = values.subarray(token * COLUMNS, (token + 1) * COLUMNS);
      const mixed = mixture(of, shape, weights);
      expected.set(mixed.map((value) => value + 0.5), token * COLUMNS);
    }
    worst = Math.max(worst, nmse(await readFloats(device, y.floats, expected.length), expected));
  }
  return worst;
}

gpuTest("a mixture of F16 experts is what a plain loop gives, but for rounding", async (device) => {
  const error = await mixtureError(device, "F16", { experts: 60, topK: 4, integer: false });
  assert(error < 1e-11, `an error of ${error}`);
}, { dawn: false });

gpuTest("a mixture of Q8_0 experts is what a plain loop over int8 gives", async (device) => {
  const integer = device.capabilities.packedDot;
  const error = await mixtureError(device, "Q8_0", { experts: 6, topK: 2, integer });
  // A hidden value between two codes may be rounded to the other: 1e-6 is some of them.
  assert(error < (integer ? 1e-6 : 1e-11), `an error of ${error}`);
});

gpuTest("Combine sums the outputs of each row, weighted or as they are", async (device) => {
  for (
    const { rows, topK, columns } of [
      { rows: 1, topK: 8, columns: 37 },
      { rows: 5, topK: 1, columns: 32 },
      { rows: 33, topK: 3, columns: 260 },
    ]
  ) {
    const values = randomFloats(rows * topK * columns, 1);
    const random = randomFloats(rows * topK, 2);
    const before = randomFloats(rows * columns, 3);
    const x = uploadRows(device, values, columns);
    const routing = allocateRouting(device, rows, { experts: 60, topK });
    write(device, routing.weights, random);
    const shape = { topK, columns };
    for (const weighted of [true, false]) {
      const weights = weighted ? random : random.map(() => 1);
      const sums = combineReference(values, weights, shape);
      const magnitudes = combineReference(values.map(Math.abs), weights.map(Math.abs), shape);
      for (const accumulate of [false, true]) {
        const y = floatRows(device, "y", rows, columns);
        writeRows(device, y, before);
        const combine = rowBinders.combine(device, routing, x, y, { accumulate, weighted });
        submit(device, (pass) => combine.encode(pass, rows));
        const expected = sums.map((sum, i) => accumulate ? before[i] + sum : sum);
        await assertRows(
          device,
          y,
          expected,
          (i) => ULP * ((topK + 1) * magnitudes[i] + Math.abs(expected[i])),
        );
      }
    }
  }
});
