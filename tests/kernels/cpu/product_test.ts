// Products on the CPU against plain loops over the same int8 activations: every format, every kind of
// dot product that the machine can run, one token and many, rows and columns that fill no band.

import { assert, assertEquals } from "@std/assert";
import { quantFormats, quantizeReference } from "../../../kernels/mod.ts";
import { activationBytes } from "../../../kernels/cpu/quantize/kernel.ts";
import { type DotProduct, probeDotProduct } from "../../../kernels/cpu/dot_product.ts";
import {
  MOST_TOKENS,
  PLAIN_PRODUCT,
  PRODUCT_ARGUMENTS,
  productItems,
} from "../../../kernels/cpu/linear/bands.ts";
import {
  BAND,
  blockBytes,
  cpuFormat,
  type FloatFormat,
  floatFormats,
  floatGroupBytes,
  maximumCode,
  type PackedFormat,
  packedFormats,
} from "../../../kernels/cpu/formats/mod.ts";
import { commonModule, formatModule } from "../../../kernels/cpu/modules.ts";
import { panelMemory } from "../../../kernels/cpu/instances.ts";
import { floatProductKernel, isFloatFormat } from "../../../kernels/cpu/linear/float_kernel.ts";
import { inOrder, type Kernel } from "../../../kernels/cpu/kernel.ts";
import {
  panelsReadWide,
  type ProductKernel,
  productKernel,
  readsWide,
} from "../../../kernels/cpu/linear/kernel.ts";
import { IMPORTS } from "../../../kernels/cpu/wasm/mod.ts";
import { randomFloats } from "../../numbers.ts";
import { randomWeights } from "../weights.ts";

interface Case {
  format: PackedFormat;
  machine: DotProduct;
  /** Whether kernels are those for engines that join neighbouring vectors. */
  joins?: boolean;
  rows: number;
  blocks: number;
  tokens: number;
  /** Default: the one for this number of tokens. */
  kernel?: ProductKernel;
}

/** Modules by what they are made for: tests share them, since building one takes longer than its work. */
const modules = new Map<string, WebAssembly.Module>();

function moduleOf(key: string, build: () => Uint8Array<ArrayBuffer>): WebAssembly.Module {
  let module = modules.get(key);
  if (!module) modules.set(key, module = new WebAssembly.Module(build()));
  return module;
}

function open(module: WebAssembly.Module, memories: Record<string, WebAssembly.Memory>) {
  return new WebAssembly.Instance(module, { [IMPORTS]: memories }).exports as Record<
    string,
    Kernel
  >;
}

/** A memory whose parts are given out one after the other. */
class Arena {
  readonly memory = new WebAssembly.Memory({ initial: 256, maximum: 65536, shared: true });
  #end = 64;

  place(bytes: number): number {
    const start = this.#end;
    this.#end = Math.ceil((start + bytes) / 64) * 64;
    return start;
  }

  put(data: Uint8Array): number {
    const at = this.place(data.length);
    new Uint8Array(this.memory.buffer).set(data, at);
    return at;
  }

  words(...values: number[]): number {
    return this.put(new Uint8Array(Int32Array.from(values).buffer));
  }
}

/** The kernels of a format. */
function openFormat(
  format: PackedFormat | FloatFormat,
  machine: DotProduct,
  joins: boolean,
  memories: Record<string, WebAssembly.Memory>,
) {
  const build = () => formatModule(format, machine, joins);
  return open(moduleOf(`${format.source.name} ${machine} ${joins}`, build), memories);
}

/** Multiplies with the kernels, and returns that beside what plain loops give. */
function multiply({ format, machine, joins = false, rows, blocks, tokens, ...other }: Case) {
  const { kernel = productKernel(format, tokens, { machine, joins }) } = other;
  const { source } = format;
  const columns = blocks * source.blockSize;
  const groups = columns / 32;
  const file = randomWeights(source, rows * blocks);
  const floats = randomFloats(tokens * columns, 3);
  const [work, weights] = [new Arena(), new Arena()];
  const memories = { work: work.memory, weights: weights.memory, panel: panelMemory() };
  const kernels = openFormat(format, machine, joins, memories);
  const { quantize } = open(
    moduleOf(`common ${machine} ${joins}`, () => commonModule(machine, joins)),
    memories,
  );

  const bands = Math.ceil(rows / BAND);
  const stride = 4 * BAND * bands;
  const zeros = work.place(blocks * source.blockBytes);
  const matrix = weights.place(bands * blocks * blockBytes(format));
  const isWide = readsWide(format, machine, joins);
  const panelsAreWide = panelsReadWide(format, machine, joins);
  const [narrow, wide] = [false, true].map((isWide) =>
    work.place(tokens * groups * activationBytes(isWide))
  );
  const y = work.place(tokens * stride);
  kernels.pack(work.words(work.put(file), zeros, matrix, rows, blocks), 0, bands);
  const input = work.put(new Uint8Array(floats.buffer));
  quantize(work.words(input, narrow, wide, groups, tokens), 0, tokens);
  const values = {
    ...PLAIN_PRODUCT,
    weights: matrix,
    x: isWide ? wide : narrow,
    panelX: panelsAreWide ? wide : narrow,
    y,
    blocks,
    tokens,
    stride,
    all: tokens,
    rows,
  };
  const tokenBytes = activationBytes(isWide);
  const panelTokenBytes = activationBytes(panelsAreWide);
  const arguments_ = work.words(
    ...inOrder(PRODUCT_ARGUMENTS, { ...values, tokenBytes, panelTokenBytes }),
  );
  // In two parts, as two threads would.
  const { atOnce } = values;
  const items = productItems(bands, { ofItem: kernel.bands, tokens, atOnce });
  for (const [first, last] of [[0, items >> 1], [items >> 1, items]]) {
    kernels[kernel.name](arguments_, first, last);
  }
  const result = new Float32Array(work.memory.buffer.slice(y, y + tokens * stride));

  const decoded = source.dequantize(file, rows * blocks);
  const codes = new Float64Array(tokens * columns);
  for (let start = 0; start < codes.length; start += 32) {
    const group = quantizeReference(floats.subarray(start, start + 32));
    group.codes.forEach((code, i) => codes[start + i] = code * group.scale);
  }
  const expected = new Float64Array(tokens * stride / 4);
  const magnitude = new Float64Array(tokens * stride / 4);
  for (let t = 0; t < tokens; t++) {
    for (let row = 0; row < rows; row++) {
      const at = t * stride / 4 + row;
      for (let k = 0; k < columns; k++) {
        const term = codes[t * columns + k] * decoded[row * columns + k];
        expected[at] += term;
        magnitude[at] += Math.abs(term);
      }
    }
  }
  return { result, expected, magnitude };
}

/** Products with float activations; integer formats can do that too. */
function multiplyFloats(
  format: PackedFormat | FloatFormat,
  tokens: number,
  width: number,
  joins = false,
) {
  const { source } = format;
  const isFloat = source.kind === "float";
  const rows = 21;
  const blocks = Math.ceil(width / (isFloat ? 32 : source.blockSize));
  const stored = isFloat ? width : blocks * source.blockSize;
  const columns = blocks * (isFloat ? 32 : source.blockSize);
  const file = randomWeights(source, rows * stored / source.blockSize);
  const x = new Float32Array(tokens * columns);
  for (let t = 0; t < tokens; t++) x.set(randomFloats(stored, t + 1), t * columns);
  const [work, weights] = [new Arena(), new Arena()];
  const memories = { work: work.memory, weights: weights.memory, panel: panelMemory() };
  const kernels = openFormat(format, machine, joins, memories);
  const bands = Math.ceil(rows / BAND);
  const size = isFloatFormat(format) ? floatGroupBytes(format) : blockBytes(format);
  const matrix = weights.place(bands * blocks * size);
  const [from, zeros] = [work.put(file), work.place(file.length / rows)];
  kernels.pack(work.words(from, zeros, matrix, rows, blocks, stored), 0, bands);
  const stride = 4 * BAND * bands;
  const y = work.put(new Uint8Array(new Float32Array(tokens * stride / 4).fill(0.5).buffer));
  const input = work.put(new Uint8Array(x.buffer));
  const tokenBytes = 4 * columns;
  const inputs = { x: input, panelX: input, tokenBytes, panelTokenBytes: tokenBytes };
  // As many at once as rows that are long have.
  const atOnce = tokens > 96 ? 96 : MOST_TOKENS;
  const values = { ...PLAIN_PRODUCT, atOnce, weights: matrix, y, blocks, tokens, stride, all: 0 };
  const others = { ...inputs, accumulate: 1, rows };
  const record = work.words(...inOrder(PRODUCT_ARGUMENTS, { ...values, ...others }));
  const kernel = floatProductKernel(format, tokens, { joins });
  const items = productItems(bands, { ofItem: kernel.bands, tokens, atOnce });
  kernels[kernel.name](record, 0, items);
  const result = new Float32Array(work.memory.buffer.slice(y, y + tokens * stride));
  const decoded = source.dequantize(file, rows * stored / source.blockSize);
  const expected = new Float64Array(result.length).fill(0.5);
  const magnitude = new Float64Array(result.length).fill(0.5);
  for (let t = 0; t < tokens; t++) {
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < stored; k++) {
        const term = x[t * columns + k] * decoded[row * stored + k];
        expected[t * stride / 4 + row] += term;
        magnitude[t * stride / 4 + row] += Math.abs(term);
      }
    }
  }
  return { result, expected, magnitude };
}

/** Sums of a group are exact; what is rounded is their scaling and the sum over groups. */
function assertProduct(options: Case) {
  assertNear(multiply(options), `${options.machine}, ${options.tokens} tokens`);
}

function assertNear(
  { result, expected, magnitude }: ReturnType<typeof multiply>,
  name: string,
): void {
  result.forEach((value, i) => {
    const allowed = magnitude[i] * 1e-5 + 1e-6;
    if (Math.abs(value - expected[i]) <= allowed) return;
    throw new Error(`${name}: y[${i}] ${value}, not ${expected[i]}`);
  });
}

const machine = probeDotProduct();

/** Dot products that give the same here as on the machines that they are for. */
function machinesFor(format: PackedFormat): DotProduct[] {
  const isNarrow = maximumCode(format) <= 127;
  const all: DotProduct[] = machine === "widened" ? [] : ["pairs"];
  if (isNarrow && machine !== "widened") all.push("unsigned", "signed");
  return [...new Set<DotProduct>([machine, "widened", ...all])];
}

for (const format of packedFormats) {
  const { name, blockSize } = format.source;
  Deno.test(`the CPU multiplies ${name} as plain loops do`, () => {
    for (const machine of machinesFor(format)) {
      for (const tokens of [1, 4, 11]) {
        // Blocks that are fewer and more than a panel's for engines that join vectors.
        const blocks = Math.max(1, Math.round(96 / blockSize));
        assertProduct({ format, machine, rows: 21, blocks, tokens });
      }
      const more = Math.max(1, Math.round(480 / blockSize));
      for (const tokens of [1, 3, 6, 11, 16, 29, 40, 260]) {
        assertProduct({ format, machine, joins: true, rows: 21, blocks: more, tokens });
      }
    }
  });

  Deno.test(`a lone token has the same product by ${name} as one among few`, () => {
    for (const machine of machinesFor(format)) {
      for (const joins of [false, true]) {
        const lone = { format, machine, joins, rows: 37, blocks: 2, tokens: 1 };
        const few = multiply({ ...lone, kernel: { name: "product_few", bands: 1 } });
        assertEquals(multiply(lone).result, few.result);
      }
    }
  });

  Deno.test(`${name} has at most 110 % of its size in the file`, () => {
    assert(blockBytes(format) <= 1.1 * BAND * format.source.blockBytes);
  });
}

for (const format of [...floatFormats, ...packedFormats]) {
  Deno.test(`the CPU adds products of ${format.source.name} with float activations`, () => {
    for (const joins of [false, true]) {
      for (const tokens of [1, 7]) {
        assertNear(multiplyFloats(format, tokens, 77, joins), `${tokens} tokens, ${joins}`);
      }
    }
  });
}

Deno.test("float products of many columns go through several panels", () => {
  const [float, half] = floatFormats;
  for (const format of [float, half]) {
    const { result: few } = multiplyFloats(format, 1, 1100);
    for (const joins of [false, true]) {
      for (const tokens of [6, 300]) {
        const { result: many, ...rest } = multiplyFloats(format, tokens, 1100, joins);
        assertNear({ result: many, ...rest }, `${format.source.name}, ${tokens} tokens`);
        assertEquals([...many.subarray(0, 21)], [...few.subarray(0, 21)]);
      }
    }
  }
});

Deno.test("a token has the same bits alone and among others, in one panel and in several", () => {
  for (const name of ["Q8_0", "Q4_0", "Q6_K", "Q2_K", "IQ4_XS"]) {
    const format = packedFormats.find(({ source }) => source.name === name)!;
    const blocks = 768 / format.source.blockSize;
    for (const machine of machinesFor(format)) {
      const options = { format, machine, rows: 8, blocks };
      const { result: alone } = multiply({ ...options, tokens: 1 });
      for (const joins of [false, true]) {
        for (const tokens of [1, 2, 3, 6, 8, 9, 17, 33]) {
          const { result: many } = multiply({ ...options, joins, tokens });
          assertEquals([...many.subarray(0, 8)], [...alone]);
        }
      }
    }
  }
});

Deno.test("every weight format has kernels on the CPU", () => {
  const missing = quantFormats.filter(({ name }) => !cpuFormat(name)).map(({ name }) => name);
  assertEquals(missing, []);
});
