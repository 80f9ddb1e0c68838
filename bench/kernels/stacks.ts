// Queries and keys in one format and values in another, as in half of the layers of a Q4_K_M: side by
// side, and each product for itself.

import {
  floatRows,
  linearReference,
  type Operation,
  type QuantFormat,
  quantFormats,
} from "../../kernels/mod.ts";
import { decode, type Product, randomInput, randomMatrix } from "./products.ts";
import { MODELS, type ModelShape } from "./shapes.ts";
import {
  type BoundCase,
  counted,
  FLOAT_TOLERANCE,
  type KernelCase,
  oneSequence,
  ROWS,
  some,
  type Workbench,
} from "./workbench.ts";

/** Formats of queries and keys, and of values. */
const MIXES = [["Q4_K", "Q6_K"], ["Q5_K", "Q6_K"], ["Q4_K", "Q8_0"]] as const;

/** Rows and outputs of each product that are compared with the reference. */
const CHECKED_ROWS = 3;
const CHECKED_OUTPUTS = 12;

/** By formats, model and rows. */
export function stackCases(): KernelCase[] {
  return MIXES.flatMap((mix) => {
    const formats = mix.map((name) => quantFormats.find((format) => format.name === name)!);
    return Object.entries(MODELS).flatMap(([model, shape]) => {
      const { width, heads, kvHeads, headDim } = shape;
      if (formats.some(({ blockSize }) => width % blockSize !== 0)) return [];
      const size = `${(heads + 2 * kvHeads) * headDim}x${width}`;
      return ROWS.map((rows): KernelCase => ({
        words: ["stacked", ...mix, model, "qkv", size, counted(rows, "rows")],
        bind: (bench) => bindStack(bench, formats, shape, rows),
      }));
    });
  });
}

function bindStack(
  bench: Workbench,
  formats: readonly QuantFormat[],
  { width: columns, heads, kvHeads, headDim }: ModelShape,
  rows: number,
): BoundCase {
  const { device } = bench;
  const counts = [(heads + kvHeads) * headDim, kvHeads * headDim];
  const products = counts.map((outputs, i): Product => ({
    format: formats[i]!,
    outputs,
    columns,
    rows,
  }));
  const matrices = products.map((product) => randomMatrix(device, product));
  const parts = matrices.map(({ upload }, i) => ({ matrix: upload(), first: i * counts[0]! }));
  const { x, values } = randomInput(bench, formats[0]!, rows, columns);
  const outputs = counts[0]! + counts[1]!;
  const y = floatRows(device, "bench", rows, outputs);
  const stacked = device.stackedLinear(parts, x, y);
  const alone = parts.map(({ matrix, first }) => device.linear(matrix, x, y, { first }));
  const each: Operation = {
    ...stacked,
    prepare: (...most) => alone.forEach((one) => one.prepare?.(...most)),
    encode: (pass, ...counts) => alone.forEach((one) => one.encode(pass, ...counts)),
  };
  return {
    variants: [["", stacked] as const, ["each alone", each] as const].map(([name, operation]) => ({
      name,
      operations: [operation],
      encode: (own, pass) => own.encode(pass, rows),
    })),
    counts: oneSequence(rows),
    reset: () => bench.spoil(y, rows),
    async compare() {
      const tokens = some(rows, CHECKED_ROWS);
      const all = await bench.read(y, tokens);
      const compared = products.flatMap((product, i) => {
        const picked = some(product.outputs, CHECKED_OUTPUTS);
        const weights = decode(matrices[i]!.bytes, product, picked);
        return tokens.flatMap((token, at) => {
          const input = values.slice(token * columns, (token + 1) * columns);
          const shape = { rows: picked.length, columns, tokens: 1 };
          const expected = linearReference(weights, input, shape);
          return picked.map((output, j) => ({
            actual: all[at * outputs + parts[i]!.first + output]!,
            expected: expected[j]!,
          }));
        });
      });
      return {
        actual: compared.map(({ actual }) => actual),
        expected: compared.map(({ expected }) => expected),
        tolerance: FLOAT_TOLERANCE,
      };
    },
  };
}
