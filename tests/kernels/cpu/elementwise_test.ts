// Norms and activation functions on the CPU against their plain references, at widths that fill no
// vector and at numbers where exponentials end.

import { assert, assertEquals } from "@std/assert";
import {
  activateReference,
  type ActivationFunction,
  gateReference,
  normReference,
} from "../../../kernels/mod.ts";
import { addActivate } from "../../../kernels/cpu/activate/kernel.ts";
import { inOrder } from "../../../kernels/cpu/kernel.ts";
import { addNorm, NORM_ARGUMENTS } from "../../../kernels/cpu/norm/kernel.ts";
import { IMPORTS, ModuleBuilder } from "../../../kernels/cpu/wasm/mod.ts";
import { randomFloats } from "../../numbers.ts";

const NAMES: ActivationFunction[] = [
  ...["silu", "gelu", "gelu_erf", "quick_gelu", "relu", "relu_squared", "clamped_swish"] as const,
];
const memory = new WebAssembly.Memory({ initial: 4, maximum: 65536, shared: true });
const module = new ModuleBuilder();
const work = module.importMemory("work");
addNorm(module, work);
for (const name of NAMES) addActivate(module, work, name);
const kernels = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), {
  [IMPORTS]: { work: memory },
}).exports as Record<string, (record: number, first: number, last: number) => void>;

const floats = new Float32Array(memory.buffer);
const words = new Int32Array(memory.buffer);
/** Places in bytes: arguments, two inputs, the result, weights. */
const [RECORD, X, UP, Y, WEIGHT, BIAS] = [64, 4096, 16384, 32768, 65536, 81920];

for (const name of NAMES) {
  Deno.test(`the CPU computes ${name} and gates by it`, () => {
    const special = [
      0,
      -0,
      1e-6,
      -1e-6,
      7,
      -7,
      20,
      -20,
      60,
      -60,
      100,
      -100,
      1e4,
      -1e4,
      3e38,
      -3e38,
    ];
    const x = Float32Array.of(...special, ...randomFloats(48, 5).map((value) => 8 * value));
    const up = randomFloats(x.length, 6).map((value) => 10 * value);
    floats.set(x, X / 4);
    floats.set(up, UP / 4);
    for (const gated of [false, true]) {
      const stride = 2 * x.length;
      words.set([X, gated ? UP : 0, stride, Y, stride, x.length / 2, 0], RECORD / 4);
      kernels[`activate_${name}`](RECORD, 0, 1);
      kernels[`activate_${name}`](RECORD, 1, 2);
      x.forEach((value, i) => {
        const wanted = Math.fround(
          gated ? gateReference(name, value, up[i]) : activateReference(name, value),
        );
        const found = floats[Y / 4 + i];
        // An exponent of up to 87 is rounded before it is taken: 87 * 2^-23 of the result.
        // The error function is approximated to 1.5e-7.
        const slack = name === "gelu_erf" ? 1.5e-7 * Math.abs(value * (gated ? up[i] : 1)) : 1e-30;
        const near = Math.abs(found - wanted) <= 1e-5 * Math.abs(wanted) + slack;
        assert(near || found === wanted, `${name}(${value}): ${found}, not ${wanted}`);
        // Denormal numbers would slow down the product that reads them a hundred times.
        const isSlow = found !== 0 && Math.abs(found) < 2 ** -126;
        assert(name !== "gelu_erf" || !isSlow, `${name}(${value}) is ${found}`);
      });
    }
    floats[X / 4] = NaN;
    kernels[`activate_${name}`](RECORD, 0, 1);
    assertEquals(floats[Y / 4], NaN);
  });
}

Deno.test("the CPU normalizes vectors by RMSNorm and LayerNorm", () => {
  const [rows, stride, epsilon] = [3, 64, 1e-5];
  for (const columns of [1, 30, 63, 64]) {
    for (const kind of ["rms", "layer"] as const) {
      for (const weighted of [false, true]) {
        const x = randomFloats(rows * columns, 7).map((value) => value + 2);
        const weight = randomFloats(columns, 8);
        const bias = randomFloats(columns, 9);
        floats.fill(0, X / 4, X / 4 + rows * stride);
        for (let row = 0; row < rows; row++) {
          floats.set(x.subarray(row * columns, (row + 1) * columns), X / 4 + row * stride);
        }
        floats.set(weight, WEIGHT / 4);
        floats.set(bias, BIAS / 4);
        const bits = new Int32Array(Float32Array.of(epsilon).buffer)[0];
        const values = {
          x: X,
          xStride: 4 * stride,
          sources: 0,
          y: Y,
          yStride: 4 * stride,
          count: 1,
          columns,
          padded: stride,
          weight: weighted ? WEIGHT : 0,
          weightStep: 0,
          bias: weighted ? BIAS : 0,
          epsilon: bits,
          mean: Number(kind === "layer"),
          adds: 0,
        };
        words.set(inOrder(NORM_ARGUMENTS, values), RECORD / 4);
        kernels.norm(RECORD, 0, 1);
        kernels.norm(RECORD, 1, rows);
        const norm = { kind, epsilon, ...(weighted ? { weight, bias } : {}) };
        normReference(x, columns, norm).forEach((wanted, i) => {
          const at = Math.floor(i / columns) * stride + i % columns;
          const found = floats[Y / 4 + at];
          // One column less its mean is nothing but what rounding leaves, enlarged by the epsilon.
          assert(
            Math.abs(found - wanted) <= 1e-5 * (1 + Math.abs(wanted)),
            `${kind}, ${columns} columns: y[${i}] ${found}, not ${wanted}`,
          );
        });
      }
    }
  }
});
