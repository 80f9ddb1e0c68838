// Rearranges a matrix for the CPU: rows of GGUF blocks become bands of eight rows
// (formats/format.ts). Sixteen columns of four rows are four vectors; transposed by words they are
// four steps.

import type { FunctionBuilder, Local, Memory, ModuleBuilder, V128 } from "./wasm/mod.ts";
import { i32, shuffleLanes, v128 } from "./wasm/mod.ts";
import {
  BAND,
  type BandFormat,
  blockBytes,
  GROUP,
  groupBytes,
  type Pointer,
  type RowFormat,
  scaleOffsets,
} from "./formats/format.ts";
import type { FloatFormat } from "./formats/floats.ts";
import { packCodes } from "./formats/codes.ts";
import { readHalf } from "./formats/scales.ts";
import { addKernel, forItems } from "./kernel.ts";

/** The arguments of packing, as words in memory: `zeros` is a row of zeros, `to` the first band. */
export const PACK_ARGUMENTS = ["source", "zeros", "to", "rows", "blocks"] as const;

/**
 * Adds `pack(record, first, last)`: bands `first` to `last` of a matrix whose `rows` rows
 * of `blocks` blocks lie at `source`. Rows that a last band lacks are zero.
 */
export function addPack(
  module: ModuleBuilder,
  work: Memory,
  weights: Memory,
  format: BandFormat,
): void {
  const { source } = format;
  const groups = source.blockSize / GROUP;
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("pack", parameters, (f, { record, first, last }) => {
    const [from, zeros, to, rows, blocks] = PACK_ARGUMENTS.map((_, i) =>
      f.let(work.i32.load(record, 4 * i))
    );
    const rowBytes = f.let(i32.mul(blocks, source.blockBytes));
    const band = f.let(first);
    const out = f.let(i32.add(to, i32.mul(i32.mul(first, blocks), blockBytes(format))));
    f.forUpTo(band, last, 1, () => {
      const pointers = rowPointers(f, { from, zeros, rows, rowBytes, band });
      const block = f.let(i32.const(0));
      f.forUpTo(block, blocks, 1, () => {
        const starts = pointers.map((address): Pointer => ({ memory: work, address }));
        const head = { memory: weights, address: out };
        format.scales.packHead(f, starts, head);
        format.scales.packGroups(f, starts, head, scaleOffsets(format));
        f.increase(out, format.scales.headBytes);
        for (let group = 0; group < groups; group++) {
          const codes = transposed(
            f,
            (row, half) => format.codes(f, starts[row]!, group, half),
          );
          packCodes(f, format, head, codes);
          f.increase(out, groupBytes(format));
        }
        for (const pointer of pointers) f.increase(pointer, source.blockBytes);
      });
    });
  });
}

/** Adds `pack` for a format that keeps the blocks of the file. */
export function addRowPack(
  module: ModuleBuilder,
  work: Memory,
  weights: Memory,
  { source: { blockBytes } }: RowFormat,
): void {
  addKernel(module, work, { name: "pack", takes: PACK_ARGUMENTS }, (f, given, first, last) => {
    const { source: from, zeros, to, rows, blocks } = given;
    const rowBytes = f.let(i32.mul(blocks, blockBytes));
    const out = f.let(i32.add(to, i32.mul(i32.mul(first, rowBytes), BAND)));
    forItems(f, first, last, (band) => {
      const pointers = rowPointers(f, { from, zeros, rows, rowBytes, band });
      const block = f.let(i32.const(0));
      f.forUpTo(block, blocks, 1, () => {
        for (const pointer of pointers) {
          // The last vector overlaps the one before.
          for (let at = 0; at < blockBytes; at += 16) {
            const offset = Math.min(at, blockBytes - 16);
            f.do(weights.v128.store(out, work.v128.load(pointer, offset), offset));
          }
          f.increase(pointer, blockBytes);
          f.increase(out, blockBytes);
        }
      });
    });
  });
}

/** The arguments of packing floats: rows of `columns` floats are padded to `groups` groups. */
export const FLOAT_PACK_ARGUMENTS = [
  "source",
  "zeros",
  "to",
  "rows",
  "groups",
  "columns",
] as const;

/** Adds `pack` for a float format: like addPack(), but rows may end within a group. */
export function addFloatPack(
  module: ModuleBuilder,
  work: Memory,
  weights: Memory,
  { source }: FloatFormat,
): void {
  const size = source.blockBytes;
  const isHalf = source.name === "F16";
  const parameters = { record: "i32", first: "i32", last: "i32" } as const;
  module.function("pack", parameters, (f, { record, first, last }) => {
    const [from, zeros, to, rows, groups, columns] = FLOAT_PACK_ARGUMENTS.map((_, i) =>
      f.let(work.i32.load(record, 4 * i))
    );
    const rowBytes = f.let(i32.mul(columns, size));
    const bandBytes = f.let(i32.mul(groups, GROUP * BAND * size));
    const readWeight = (address: Local<"i32">) =>
      isHalf ? readHalf(f, { memory: work, address }, 0) : work.i32.load16_u(address);
    const band = f.let(first);
    f.forUpTo(band, last, 1, () => {
      const pointers = rowPointers(f, { from, zeros, rows, rowBytes, band });
      const out = f.let(i32.add(to, i32.mul(band, bandBytes)));
      const end = f.let(i32.add(out, bandBytes));
      const written = f.let(i32.add(out, i32.mul(rowBytes, BAND)));
      f.while(i32.lt_u(out, written), () => {
        pointers.forEach((pointer, row) => {
          f.do(
            size === 2
              ? weights.i32.store16(out, readWeight(pointer), size * row)
              : weights.i32.store(out, work.i32.load(pointer), size * row),
          );
          f.increase(pointer, size);
        });
        f.increase(out, size * BAND);
      });
      f.forUpTo(out, end, 16, () => f.do(weights.v128.store(out, v128.const(new Uint8Array(16)))));
    });
  });
}

/** The addresses of a band's rows in the file; rows past the last one begin at `zeros`. */
function rowPointers(
  f: FunctionBuilder,
  rows: Record<"from" | "zeros" | "rows" | "rowBytes" | "band", Local<"i32">>,
): Local<"i32">[] {
  return Array.from({ length: BAND }, (_, r) => {
    const row = f.let(i32.add(i32.mul(rows.band, BAND), r));
    const pointer = f.let(rows.zeros);
    const place = i32.add(rows.from, i32.mul(row, rows.rowBytes));
    f.if(i32.lt_u(row, rows.rows), () => f.set(pointer, place));
    return pointer;
  });
}

/** The vectors of a group, [2 * step + quad], from the sixteen codes of each half of each row. */
export function transposed(
  f: FunctionBuilder,
  codes: (row: number, half: number) => V128,
): V128[] {
  const vectors: V128[] = [];
  for (const quad of [0, 1]) {
    for (const half of [0, 1]) {
      const [a, b, c, d] = [0, 1, 2, 3].map((row) => f.let(codes(4 * quad + row, half)));
      const low = [
        f.let(shuffleLanes(a, b, [0, 4, 1, 5])),
        f.let(shuffleLanes(c, d, [0, 4, 1, 5])),
      ];
      const high = [
        f.let(shuffleLanes(a, b, [2, 6, 3, 7])),
        f.let(shuffleLanes(c, d, [2, 6, 3, 7])),
      ];
      [low, high].forEach(([top, bottom], i) => {
        const step = 4 * half + 2 * i;
        vectors[2 * step + quad] = f.let(shuffleLanes(top, bottom, [0, 1, 4, 5]));
        vectors[2 * step + 2 + quad] = f.let(shuffleLanes(top, bottom, [2, 3, 6, 7]));
      });
    }
  }
  return vectors;
}
