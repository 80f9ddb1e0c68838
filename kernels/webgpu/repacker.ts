// Repacks GGUF blocks into planes as kernels/quants/repack.ts does, but by vectors of WebAssembly, because
// repacking would otherwise limit the speed of loading. A function is assembled for each format.

import type { Arrangement, QuantFormat } from "../quants/mod.ts";
import { fieldBytesOf, liesAsInFile } from "../quants/mod.ts";
import {
  type FunctionBuilder,
  i32,
  i32x4,
  IMPORTS,
  type Local,
  type Memory,
  ModuleBuilder,
  shuffleLanes,
  type V128,
  v128,
} from "../cpu/wasm/mod.ts";

/** Most bytes of blocks that are repacked at a time, so that they stay in a core's cache. */
const PIECE = 256 * 1024;

/** Bytes of a page of WebAssembly's memory. */
const PAGE = 64 * 1024;

/** Bytes after each plane that vectors may overwrite. */
const PADDING = 64;

const MEMORY = "memory";

/** Some blocks, repacked. */
export interface RepackedPiece {
  readonly blocks: number;
  /** Bytes of each plane, followed by zeros up to a multiple of 4; valid until the next piece. */
  readonly planes: readonly Uint8Array<ArrayBuffer>[];
}

/** Repacks the blocks of one format. */
export class Repacker {
  readonly #format: QuantFormat;
  readonly #memory: WebAssembly.Memory;
  readonly #run: (blocks: number) => void;
  /** Blocks of a piece. */
  readonly #most: number;
  /** Address of each plane. */
  readonly #planes: readonly number[];

  constructor(format: QuantFormat) {
    this.#format = format;
    this.#most = Math.floor(PIECE / format.blockBytes / 32) * 32;
    const planes: number[] = [];
    let end = this.#most * format.blockBytes + PADDING;
    for (const { bytesPerBlock } of format.planes) {
      planes.push(end = Math.ceil(end / 64) * 64);
      end += this.#most * bytesPerBlock + PADDING;
    }
    this.#planes = planes;
    const pages = Math.ceil(end / PAGE);
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const module = new WebAssembly.Module(assemble(format, planes, pages));
    const { exports } = new WebAssembly.Instance(module, { [IMPORTS]: { [MEMORY]: this.#memory } });
    this.#run = exports.repack as (blocks: number) => void;
  }

  /** Repacks blocks piece by piece. Every piece but the last has a multiple of 32 blocks. */
  *pieces(source: Uint8Array, blocks: number): Generator<RepackedPiece> {
    const { blockBytes, planes } = this.#format;
    const buffer = this.#memory.buffer as ArrayBuffer;
    const memory = new Uint8Array(buffer);
    for (let first = 0; first < blocks; first += this.#most) {
      const count = Math.min(this.#most, blocks - first);
      memory.set(source.subarray(first * blockBytes, (first + count) * blockBytes));
      this.#run(count);
      yield {
        blocks: count,
        planes: planes.map(({ bytesPerBlock }, i) => {
          const [at, bytes] = [this.#planes[i]!, count * bytesPerBlock];
          const words = Math.ceil(bytes / 4) * 4;
          memory.fill(0, at + bytes, at + words);
          return new Uint8Array(buffer, at, words);
        }),
      };
    }
  }
}

/** By format, since they are the same for all matrices. */
const repackers = new Map<QuantFormat, Repacker>();

/** The repacker of a format; undefined if its blocks stay as they are. */
export function repackerOf(format: QuantFormat): Repacker | undefined {
  if (liesAsInFile(format)) return undefined;
  let repacker = repackers.get(format);
  if (!repacker) repackers.set(format, repacker = new Repacker(format));
  return repacker;
}

/** A module with `repack(blocks)`, of blocks from address 0 on. */
function assemble(
  { blockBytes, planes }: QuantFormat,
  addresses: readonly number[],
  pages: number,
): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const memory = module.importPrivateMemory(MEMORY, pages);
  module.function("repack", { blocks: "i32" }, (f, { blocks }) => {
    const from = f.local("i32");
    const end = f.let(i32.mul(blocks, blockBytes));
    const to = planes.map((_, i) => f.let(i32.const(addresses[i]!)));
    f.forUpTo(from, end, blockBytes, () => {
      let start = 0;
      planes.forEach((plane, i) => {
        const bytes = fieldBytesOf(plane);
        const memories = { memory, from, start, to: to[i]! };
        if (isWhole(plane)) arrangeField(f, memories, bytes, plane.arrangement!);
        else copyField(f, memories, bytes, plane.bytesPerBlock);
        f.increase(to[i]!, plane.bytesPerBlock);
        start += bytes;
      });
    });
    planes.forEach((plane, i) => {
      if (!plane.arrangement || isWhole(plane)) return;
      const at = f.let(i32.const(addresses[i]!));
      // The last vectors may reach beyond the plane, into its padding.
      f.forUpTo(at, to[i]!, 16, () => {
        const vector = f.let(memory.v128.load(at));
        f.do(memory.v128.store(at, arrangeWords(f, vector, plane.arrangement!)));
      });
    });
  });
  return module.bytes();
}

/** Whether a plane's bits move between the words of a block, so that they are rearranged while copied. */
function isWhole({ arrangement }: QuantFormat["planes"][number]): boolean {
  return arrangement !== undefined && arrangement !== "spread bits" && arrangement !== "quarters";
}

/** The addresses of a field: it is read at `from` + start, and written at `to`. */
interface Places {
  readonly memory: Memory;
  readonly from: Local<"i32">;
  readonly start: number;
  readonly to: Local<"i32">;
}

/** Copies a field, and fills the rest of its place in the plane with zeros. */
function copyField(
  f: FunctionBuilder,
  { memory, from, start, to }: Places,
  bytes: number,
  planeBytes: number,
): void {
  let at = 0;
  for (; at + 16 <= bytes; at += 16) {
    f.do(memory.v128.store(to, memory.v128.load(from, start + at), at));
  }
  for (; at + 8 <= bytes; at += 8) {
    f.do(memory.v128.store64_lane(to, memory.v128.load64_zero(from, start + at), 0, at));
  }
  for (; at + 4 <= bytes; at += 4) {
    f.do(memory.i32.store(to, memory.i32.load(from, start + at), at));
  }
  for (; at + 2 <= bytes; at += 2) {
    f.do(memory.i32.store16(to, memory.i32.load16_u(from, start + at), at));
  }
  for (; at < bytes; at++) f.do(memory.i32.store8(to, memory.i32.load8_u(from, start + at), at));
  for (; at < planeBytes; at++) f.do(memory.i32.store8(to, 0, at));
}

type Pair = readonly [low: V128, high: V128];

/** Rearranges a field of whole runs of eight words, as transposeFields() and orderGroups() do. */
function arrangeField(
  f: FunctionBuilder,
  { memory, from, start, to }: Places,
  bytes: number,
  arrangement: Arrangement,
): void {
  const width = Number(arrangement[0]);
  const byGroup = arrangement.endsWith("by group");
  for (let at = 0; at < bytes; at += 32) {
    let pair: Pair = [
      f.let(memory.v128.load(from, start + at)),
      f.let(memory.v128.load(from, start + at + 16)),
    ];
    for (let distance = width; distance < 8; distance *= 2) pair = exchange(f, pair, distance);
    pair.forEach((vector, i) => {
      const lane = at / 16 + i;
      // The two groups in the middle of each four are swapped.
      const swapped = lane % 4 === 1 ? lane + 1 : lane % 4 === 2 ? lane - 1 : lane;
      f.do(memory.v128.store(to, vector, 16 * (byGroup ? swapped : lane)));
    });
  }
}

/** Two vectors with the words of a run: those in the second are `distance` words after those in the first. */
const PAIRED: Record<number, { apart: number[][]; together: number[][] }> = {
  4: { apart: [[0, 1, 2, 3], [4, 5, 6, 7]], together: [[0, 1, 2, 3], [4, 5, 6, 7]] },
  2: { apart: [[0, 1, 4, 5], [2, 3, 6, 7]], together: [[0, 1, 4, 5], [2, 3, 6, 7]] },
  1: { apart: [[0, 2, 4, 6], [1, 3, 5, 7]], together: [[0, 4, 1, 5], [2, 6, 3, 7]] },
};

/** One step of a transposition: swaps tiles of `distance` bits between words `distance` apart. */
function exchange(f: FunctionBuilder, [low, high]: Pair, distance: number): Pair {
  const { apart, together } = PAIRED[distance]!;
  const arranged = (a: V128, b: V128, lanes: number[]) =>
    lanes.every((lane, i) => lane === i)
      ? a
      : lanes.every((lane, i) => lane === i + 4)
      ? b
      : shuffleLanes(a, b, lanes);
  const first = f.let(arranged(low, high, apart[0]!));
  const second = f.let(arranged(low, high, apart[1]!));
  const mask = wordConstant(f, 0xffffffff / (2 ** distance + 1));
  const difference = f.let(
    v128.and(v128.xor(i32x4.shr_u(first, distance), second), mask),
  );
  f.set(first, v128.xor(first, i32x4.shl(difference, distance)));
  f.set(second, v128.xor(second, difference));
  return [
    f.let(arranged(first, second, together[0]!)),
    f.let(arranged(first, second, together[1]!)),
  ];
}

/** Rearranges the bits of each word by itself, as spreadBits() and transposeQuarters() do. */
function arrangeWords(f: FunctionBuilder, word: Local<"v128">, arrangement: Arrangement): V128 {
  const swap = (distance: number, mask: number) => {
    const own = v128.and(v128.xor(word, i32x4.shr_u(word, distance)), wordConstant(f, mask));
    const difference = f.let(own);
    const both = v128.xor(difference, i32x4.shl(difference, distance));
    f.set(word, v128.xor(word, both));
  };
  if (arrangement === "quarters") {
    swap(6, 0x00cc00cc);
    swap(12, 0x0000f0f0);
    return word;
  }
  // The number of a bit, 4j + k, becomes 8k + j: the two binary digits of k move above the three of j.
  // Each swap lets two digits of the number trade places.
  const digits = [0, 1, 2, 3, 4]; // which digit of a bit's first number stands where
  const wanted = [2, 3, 4, 0, 1];
  for (let place = 0; place < 5; place++) {
    const other = digits.indexOf(wanted[place]!);
    if (other === place) continue;
    const [least, most] = [Math.min(place, other), Math.max(place, other)];
    let mask = 0;
    for (let bit = 0; bit < 32; bit++) {
      if ((bit >> least & 1) === 1 && (bit >> most & 1) === 0) mask += 2 ** bit;
    }
    swap(2 ** most - 2 ** least, mask);
    [digits[place], digits[other]] = [digits[other]!, digits[place]!];
  }
  return word;
}

/** A vector of four times the same word. */
function wordConstant(f: FunctionBuilder, word: number): Local<"v128"> {
  return f.constant(
    [0, 1, 2, 3].flatMap(() => [0, 8, 16, 24].map((bits) => word / 2 ** bits & 255)),
  );
}
