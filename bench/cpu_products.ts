// Measures the matrix products of a model of 135 million weights on the CPU, products and the
// quantization of activations alone: [FORMAT...] [--threads 1,2] [--tokens 1,8,64,256] [--seconds 1].
// Times are of the clock and of the processors: where other programs run, only the latter mean much.
// Random weights; formats in blocks of 256 get a width that they divide.

import { cpuUsage } from "node:process";
import { parseArgs } from "node:util";
import { activationBytes } from "../kernels/cpu/quantize/kernel.ts";
import { PLAIN_PRODUCT, PRODUCT_ARGUMENTS, productItems } from "../kernels/cpu/linear/bands.ts";
import { inOrder } from "../kernels/cpu/kernel.ts";
import { joinsVectors } from "../kernels/cpu/engine_features.ts";
import { probeDotProduct } from "../kernels/cpu/dot_product.ts";
import { BAND, blockBytes, type PackedFormat, packedFormats } from "../kernels/cpu/formats/mod.ts";
import { commonModule, formatModule } from "../kernels/cpu/modules.ts";
import { ThreadPool } from "../kernels/cpu/pool.ts";
import { panelsReadWide, productKernel, readsWide } from "../kernels/cpu/linear/kernel.ts";
import { randomWeights } from "./random_weights.ts";
import { print } from "./report.ts";

const LAYERS = 30;
const VOCABULARY = 49152;
const MAXIMUM_TOKENS = 256;

/** Memory that is divided among parts one after the other. */
class Arena {
  readonly memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  #end = 64;

  place(bytes: number): number {
    const start = this.#end;
    this.#end = Math.ceil((start + bytes) / 64) * 64;
    const missing = this.#end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / 65536));
    return start;
  }

  words(...values: number[]): number {
    const at = this.place(4 * values.length);
    new Int32Array(this.memory.buffer, at, values.length).set(values);
    return at;
  }
}

interface Matrix {
  readonly address: number;
  readonly rows: number;
  readonly columns: number;
}

/** A kernel over items; see {@linkcode ThreadPool.add}. */
interface Operation {
  readonly kernel: number;
  readonly record: number;
  readonly items: number;
}

/** Operations of each phase. */
type Step = readonly (readonly Operation[])[];

/** Products of all layers, with their inputs and results. */
class Products {
  readonly weights: number;
  readonly bytes: number;
  packRate = 0;
  readonly #work = new Arena();
  readonly #matrices = new Arena();
  readonly #layers: { [name: string]: Matrix }[] = [];
  readonly #head: Matrix;
  readonly #rows: Map<number, { floats: number; narrow: number; wide: number }> = new Map();
  #pool!: ThreadPool;
  #kernels!: Record<string, number>;

  private constructor(
    readonly format: PackedFormat,
    readonly isWide: boolean,
    readonly panelsAreWide: boolean,
  ) {
    const whole = format.source.blockSize > 64;
    const [width, hidden] = whole ? [512, 1792] : [576, 1536];
    const narrow = width / 3 & ~31;
    const shapes = {
      ...{ q: [width, width], k: [narrow, width], v: [narrow, width], o: [width, width] },
      ...{ gate: [hidden, width], up: [hidden, width], down: [width, hidden] },
    };
    const matrix = ([rows, columns]: number[]): Matrix => {
      const bytes = Math.ceil(rows / BAND) * columns / format.source.blockSize * blockBytes(format);
      return { address: this.#matrices.place(bytes), rows, columns };
    };
    for (let layer = 0; layer < LAYERS; layer++) {
      const entries = Object.entries(shapes).map(([name, shape]) => [name, matrix(shape)] as const);
      this.#layers.push(Object.fromEntries(entries));
    }
    this.#head = matrix([VOCABULARY, width]);
    for (const columns of [width, hidden]) {
      const floats = this.#work.place(MAXIMUM_TOKENS * columns * 4);
      const x = new Float32Array(this.#work.memory.buffer, floats, MAXIMUM_TOKENS * columns);
      for (let i = 0; i < x.length; i++) x[i] = Math.sin(i);
      const [narrow, wide] = [false, true].map((isWide) =>
        this.#work.place(MAXIMUM_TOKENS * columns / 32 * activationBytes(isWide))
      );
      this.#rows.set(columns, { floats, narrow, wide });
    }
    const all = [...this.#layers.flatMap((layer) => Object.values(layer)), this.#head];
    this.weights = all.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
    this.bytes = this.weights * blockBytes(format) / (BAND * format.source.blockSize);
  }

  static async open(format: PackedFormat, threads: number): Promise<Products> {
    const machine = probeDotProduct();
    const products = new Products(
      format,
      readsWide(format, machine, joinsVectors()),
      panelsReadWide(format, machine, joinsVectors()),
    );
    const [work, matrices] = [products.#work, products.#matrices];
    const memories = { work: work.memory, weights: matrices.memory };
    products.#pool = await ThreadPool.open(threads);
    products.#kernels = {};
    for (
      const bytes of [
        commonModule(machine, joinsVectors()),
        formatModule(format, machine, joinsVectors()),
      ]
    ) {
      const module = await WebAssembly.compile(bytes);
      Object.assign(products.#kernels, products.#pool.load({ module, memories }));
    }
    products.#fill();
    return products;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** Packs random rows into every matrix, as a load does. */
  #fill(): void {
    const { blockSize, blockBytes: size, name } = this.format.source;
    const most = this.#head.rows * this.#head.columns;
    const source = this.#work.place(most / blockSize * size);
    let end = source;
    for (const piece of randomWeights(name, most, { mean: 0, deviation: 0.02, seed: 1 })) {
      new Uint8Array(this.#work.memory.buffer).set(piece, end);
      end += piece.length;
    }
    const pack = this.#kernels.pack;
    const steps: Operation[][] = [
      ...this.#layers.flatMap((layer) => Object.values(layer)),
      this.#head,
    ]
      .map(({ address, rows, columns }) => {
        const record = this.#work.words(source, source, address, rows, columns / blockSize);
        return [{ kernel: pack, record, items: Math.ceil(rows / BAND) }];
      });
    const start = performance.now();
    this.run(steps);
    this.packRate = this.weights / blockSize * size / (performance.now() - start) / 1e6;
  }

  /** The products of a number of tokens. Logits are computed of one token. */
  step(tokens: number): Step {
    const work = this.#work;
    const { quantize } = this.#kernels;
    const quantized = (columns: number, count = tokens): Operation => {
      const { floats, narrow, wide } = this.#rows.get(columns)!;
      return {
        kernel: quantize,
        record: work.words(floats, narrow, wide, columns / 32, count),
        items: count,
      };
    };
    const times = ({ address, rows, columns }: Matrix, count = tokens): Operation => {
      const stride = Math.ceil(rows / BAND) * BAND * 4;
      const y = work.place(count * stride);
      const { narrow, wide } = this.#rows.get(columns)!;
      const { isWide, panelsAreWide } = this;
      const blocks = columns / this.format.source.blockSize;
      const { name, bands } = productKernel(this.format, count, {
        machine: probeDotProduct(),
        joins: joinsVectors(),
      });
      return {
        kernel: this.#kernels[name],
        record: work.words(...inOrder(PRODUCT_ARGUMENTS, {
          ...{
            ...PLAIN_PRODUCT,
            weights: address,
            x: isWide ? wide : narrow,
            y,
            blocks,
            tokens: count,
            stride,
          },
          ...{ all: count, rows, tokenBytes: activationBytes(isWide) },
          panelX: panelsAreWide ? wide : narrow,
          panelTokenBytes: activationBytes(panelsAreWide),
        })),
        items: productItems(Math.ceil(rows / BAND), {
          ofItem: bands,
          tokens: count,
          atOnce: PLAIN_PRODUCT.atOnce,
        }),
      };
    };
    const phases: Operation[][] = [];
    for (const { q, k, v, o, gate, up, down } of this.#layers) {
      phases.push([quantized(q.columns)], [times(q), times(k), times(v)]);
      phases.push([quantized(o.columns)], [times(o)]);
      phases.push([quantized(gate.columns)], [times(gate), times(up)]);
      phases.push([quantized(down.columns)], [times(down)]);
    }
    phases.push([quantized(this.#head.columns, 1)], [times(this.#head, 1)]);
    return phases;
  }

  /** Multiply-accumulates of a step. */
  work(tokens: number): number {
    const head = this.#head.rows * this.#head.columns;
    return (this.weights - head) * tokens + head;
  }

  run(step: Step): void {
    for (const phase of step) {
      for (const operation of phase) this.#pool.add(operation);
      this.#pool.endPhase();
    }
    this.#pool.run();
  }
}

/** Least milliseconds of a step by the clock, and its mean processor time. */
function measure(run: () => void, seconds: number): { clock: number; processors: number } {
  for (let i = 0; i < 3; i++) run();
  const times: number[] = [];
  const before = cpuUsage();
  const start = performance.now();
  while (performance.now() - start < 1000 * seconds || times.length < 3) {
    const from = performance.now();
    run();
    times.push(performance.now() - from);
  }
  const { user, system } = cpuUsage(before);
  return { clock: Math.min(...times), processors: (user + system) / 1000 / times.length };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: "string", default: "1,2" },
    tokens: { type: "string", default: "1,8,64,256" },
    seconds: { type: "string", default: "1" },
  },
});
const numbers = (text: string) => text.split(",").map(Number);

print(`Dot product: ${probeDotProduct()}; load ${Deno.loadavg()[0].toFixed(1)}`);
print(
  "format  threads tokens | best: tok/s  GMAC/s   GB/s | per processor second: tok/s  GMAC | pack GB/s",
);
for (const format of packedFormats) {
  const { name } = format.source;
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  for (const threads of numbers(values.threads)) {
    const products = await Products.open(format, threads);
    for (const tokens of numbers(values.tokens)) {
      const step = products.step(tokens);
      const { clock, processors } = measure(() => products.run(step), Number(values.seconds));
      const gigamacs = products.work(tokens) / 1e6;
      const cells = [
        [name, -8],
        [threads, 6],
        [tokens, 6],
        ["|", 2],
        [(1000 * tokens / clock).toFixed(0), 11],
        [(gigamacs / clock).toFixed(1), 7],
        [(products.bytes / clock / 1e6).toFixed(1), 6],
        ["|", 2],
        [(1000 * tokens / processors).toFixed(0), 27],
        [(gigamacs / processors).toFixed(1), 5],
        ["|", 2],
        [products.packRate.toFixed(2), 9],
      ] as const;
      print(
        cells.map(([cell, width]) =>
          width < 0 ? String(cell).padEnd(-width) : String(cell).padStart(width)
        ).join(" "),
      );
    }
    await products.close();
  }
}
