// Loops over the groups of a band in place. Codes are extracted step by step; rows with the
// blocks of the file are decoded one after the other and then transposed.

import { DECODED } from "./bands.ts";
import { type DotMethod, sumDots } from "../dot_product.ts";
import {
  BAND,
  type BandFormat,
  blockBytes,
  GROUP,
  groupBytes,
  isRowFormat,
  type Pointer,
  type Quads,
  type RowFormat,
} from "../formats/format.ts";
import { rowFormats } from "../formats/codebooks.ts";
import { bytes, codeReader, pairReader } from "../formats/codes.ts";
import { transposed } from "../pack.ts";
import type { GroupSource, Product } from "./tile.ts";
import { type FunctionBuilder, i16x8, i32, i8x16, type Local, type V128 } from "../wasm/mod.ts";

/** Address of the tables of formats in the memory of a thread: after the intermediate values. */
const TABLES = 4 * 65536;

/** The address of a format's table in the memory of each thread. */
export function tableAddress(format: RowFormat): number {
  const before = rowFormats.slice(0, rowFormats.indexOf(format));
  return before.reduce((sum, { table }) => sum + (table?.length ?? 0), TABLES);
}

/** Loops over the blocks of a band in place, group by group. */
export function walkBlocks(
  f: FunctionBuilder,
  product: Product,
  begin: Local<"i32">,
  end: Local<"i32">,
  body: (group: GroupSource) => void,
): void {
  const { format } = product;
  if (isRowFormat(format)) walkRows(f, product, format, { begin, end }, body);
  else walkBands(f, product, format, { begins: [begin], end }, body);
}

/** Loops over the blocks of some bands at once, up to the end of the first one. */
export function walkBands(
  f: FunctionBuilder,
  product: Product,
  format: BandFormat,
  { begins, end }: { begins: readonly Local<"i32">[]; end: Local<"i32"> },
  body: (group: GroupSource) => void,
): void {
  const { scales, source } = format;
  const addresses = begins.map((begin) => f.let(begin));
  const pointers = addresses.map((address): Pointer => ({
    memory: product.memories.weights,
    address,
  }));
  const increase = (bytes: number) => addresses.forEach((address) => f.increase(address, bytes));
  f.doWhile(() => {
    const heads = pointers.map((pointer) => scales.loadHead(f, pointer, format.inSteps === true));
    const groups = (offset: number) =>
      sideBySide(
        pointers.map((pointer, band) =>
          blockGroup(f, product, format, { pointer, offset, head: heads[band] })
        ),
      );
    if (source.blockSize === GROUP) {
      body(groups(scales.headBytes));
      return increase(blockBytes(format));
    }
    increase(scales.headBytes);
    const groupsEnd = f.let(i32.add(addresses[0], blockBytes(format) - scales.headBytes));
    f.doWhile(() => {
      body(groups(0));
      increase(groupBytes(format));
    }, i32.lt_u(addresses[0], groupsEnd));
  }, i32.lt_u(addresses[0], end));
}

/** A group of some bands at once, and code that goes on to the next one of the same bands. */
export function bandsCursor(
  f: FunctionBuilder,
  product: Product,
  format: BandFormat,
  begins: readonly Local<"i32">[],
): { group(): GroupSource; next(): void } {
  const { scales, source } = format;
  const groups = source.blockSize / GROUP;
  const pointers = begins.map((begin) => ({
    memory: product.memories.weights,
    address: f.let(begin),
  }));
  const increase = (bytes: number) => pointers.forEach(({ address }) => f.increase(address, bytes));
  const loadHeads = () =>
    pointers.map((pointer) => scales.loadHead(f, pointer, format.inSteps === true));
  const groupAt = (offset: number, heads: readonly (readonly Local<"v128">[])[]) =>
    sideBySide(
      pointers.map((pointer, band) =>
        blockGroup(f, product, format, { pointer, offset, head: heads[band]! })
      ),
    );
  if (groups === 1) {
    return {
      group: () => groupAt(scales.headBytes, loadHeads()),
      next: () => increase(blockBytes(format)),
    };
  }
  const heads = loadHeads();
  const left = f.let(i32.const(groups));
  increase(scales.headBytes);
  return {
    group: () => groupAt(0, heads),
    next: () => {
      increase(groupBytes(format));
      f.set(left, i32.sub(left, 1));
      f.if(i32.eqz(left), () => {
        loadHeads().forEach((of, band) => of.forEach((value, i) => f.set(heads[band]![i]!, value)));
        increase(scales.headBytes);
        f.set(left, groups);
      });
    },
  };
}

/** The groups of some bands as one. */
function sideBySide(groups: readonly GroupSource[]): GroupSource {
  if (groups.length === 1) return groups[0];
  return {
    quads: 2 * groups.length,
    load: (step) => groups.flatMap((group) => group.load(step)),
    sum: sumDots,
    scales: (half) => groups.flatMap((group) => group.scales(half)),
    minimums: (half) => groups.flatMap((group) => group.minimums(half)),
  };
}

/** A group in place, at an offset from an address. */
function blockGroup(
  f: FunctionBuilder,
  { method }: Product,
  format: BandFormat,
  { pointer: { memory, address }, offset, head }: {
    pointer: Pointer;
    offset: number;
    head: readonly Local<"v128">[];
  },
): GroupSource {
  const pointer = { memory: memory.behind(offset), address };
  const scales = {
    memory: memory.behind(offset + groupBytes(format) - format.scales.groupBytes),
    address,
  };
  const loaded = format.scales.load(f, scales, head);
  return {
    load: method.kind === "words"
      ? wordReader(f, format, pointer)
      : stepReader(f, format, method, pointer),
    sum: sumDots,
    scales: (half) => loaded.scales[half],
    minimums: (half) => loaded.minimums![half],
  };
}

/** Reads the codes of each step as operands of dot products. */
function stepReader(
  f: FunctionBuilder,
  format: BandFormat,
  method: DotMethod,
  pointer: Pointer,
): (step: number) => Quads {
  const { table, offset } = format;
  const read = codeReader(f, format, pointer);
  if (!table && !method.isSigned) return read;
  const subtracted = method.isSigned ? offset : 0;
  const values = f.constant(table?.map((value) => value - subtracted) ?? new Uint8Array(16));
  return (step) =>
    read(step).map((quad) =>
      f.let(table ? lookedUp(method, values, quad) : i8x16.sub(quad, bytes(f, subtracted)))
    );
}

/** Values of codes from a table, whose numbers are below sixteen: of others "relaxed" is not defined. */
function lookedUp({ isRelaxed }: DotMethod, table: V128, codes: V128): V128 {
  return isRelaxed ? i8x16.relaxed_swizzle(table, codes) : i8x16.swizzle(table, codes);
}

/**
 * Reads the codes of each pair of columns as 16-bit integers, of which V8 joins both quads. Tables are
 * looked up in before.
 */
function wordReader(
  f: FunctionBuilder,
  { bits, table }: BandFormat,
  pointer: Pointer,
): (pair: number) => Quads {
  const read = pairReader(f, bits, pointer);
  return (pair) => {
    const codes = f.let(
      table ? i8x16.relaxed_swizzle(f.constant(table), read(pair)) : read(pair),
    );
    return [f.let(i16x8.extend_low_i8x16_u(codes)), f.let(i16x8.extend_high_i8x16_u(codes))];
  };
}

/** Loops over rows with the blocks of the file. */
function walkRows(
  f: FunctionBuilder,
  { memories: { weights, panel } }: Product,
  format: RowFormat,
  { begin, end }: { begin: Local<"i32">; end: Local<"i32"> },
  body: (group: GroupSource) => void,
): void {
  const { source, scales: { halves } } = format;
  const table = { memory: panel.behind(tableAddress(format)), address: i32.const(0) };
  const block = f.let(begin);
  f.doWhile(() => {
    const group = f.let(i32.const(0));
    f.forUpTo(group, source.blockSize / GROUP, 1, () => {
      const row = f.let(block);
      const to = f.let(i32.const(DECODED));
      f.forUpTo(to, DECODED + BAND * GROUP, GROUP, () => {
        const decoded = format.decode(f, { memory: weights, address: row }, group, table);
        decoded.codes.forEach((codes, half) => f.do(panel.v128.store(to, codes, 16 * half)));
        const scales = i32.shr_u(i32.sub(to, DECODED), 3);
        decoded.scales.forEach((scale, half) =>
          f.do(panel.f32.store(scales, scale, SCALES + 4 * BAND * half))
        );
        f.increase(row, source.blockBytes);
      });
      const load = (at: number) => panel.v128.load(i32.const(0), at);
      const codes = transposed(f, (row, half) => load(DECODED + GROUP * row + 16 * half));
      body({
        load: (step) => [codes[2 * step]!, codes[2 * step + 1]!],
        sum: sumDots,
        scales: (half) => {
          const at = SCALES + (halves ? 4 * BAND * half : 0);
          return [load(at), load(at + 16)];
        },
        minimums: () => {
          throw new RangeError(`Cannot read minimums: ${source.name} has none`);
        },
      });
    });
    f.increase(block, blockBytes(format));
  }, i32.lt_u(block, end));
}

/** The address of the scales of decoded rows. */
const SCALES = DECODED + BAND * GROUP;
