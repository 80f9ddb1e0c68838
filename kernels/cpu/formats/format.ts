// Weight formats on the CPU: how eight rows of a matrix are arranged side by side, so that the
// lanes of a vector are rows. Columns are in groups of 32, rows in bands of 8. A group of a band is
// eight steps of four columns; a step is two vectors: four columns of rows 0 to 3, and of rows 4 to
// 7.
//
//     vector:  row 0: c c c c | row 1: c c c c | row 2: c c c c | row 3: c c c c     (bytes)
//
// In memory codes are as narrow as in the file (codes.ts). A block of a band has as many columns
// as a block of the file: first the heads of the rows' blocks (what a block has once), then the groups.

import type { QuantFormat } from "../../quants/mod.ts";
import type { Expression, FunctionBuilder, Local, Memory, V128 } from "../wasm/mod.ts";

/** Rows that lie side by side. */
export const BAND = 8;
/** Columns in a group. */
export const GROUP = 32;
/** Steps of four columns in a group. */
export const STEPS = 8;

/** An address in a memory. */
export interface Pointer {
  readonly memory: Memory;
  readonly address: Expression<"i32">;
}

/**
 * Values of rows 0 to 3 and of rows 4 to 7 of a band, one row per lane; of several bands one after the other.
 */
export type Quads = readonly V128[];

/** Scales of a group as floats, for each half of 16 columns; one if the halves share it. */
export interface Scales {
  readonly scales: readonly Quads[];
  /** The minimum that is subtracted from scale * code, for each half. */
  readonly minimums?: readonly Quads[];
}

/** The layout of a format's scales in the file and in a band. */
export interface ScaleLayout {
  /** Bytes of a block's head and of a group's scales, for eight rows. */
  readonly headBytes: number;
  readonly groupBytes: number;
  /** Whether the two halves of a group have scales of their own. */
  readonly halves: boolean;
  readonly hasMinimum: boolean;
  /** Writes the head, from the blocks of the eight rows in the file. */
  packHead(f: FunctionBuilder, blocks: readonly Pointer[], head: Pointer): void;
  /** Writes the scales of all groups, each of which has them at its own offset from the head. */
  packGroups(
    f: FunctionBuilder,
    blocks: readonly Pointer[],
    head: Pointer,
    offsets: readonly number[],
  ): void;
  /** Reads the head of a block into variables. @param joins whether V8 is to join both quads */
  loadHead(f: FunctionBuilder, head: Pointer, joins: boolean): readonly Local<"v128">[];
  /** The scales of a group as floats. */
  load(f: FunctionBuilder, from: Pointer, head: readonly Local<"v128">[]): Scales;
}

/** A group of a row as bytes: the codes of its halves, and their scales, or one that they share. */
export interface DecodedRow {
  readonly codes: Quads;
  readonly scales: readonly Expression<"f32">[];
}

/** An integer format with blocks as in the file: of each row of a band in turn. */
export interface RowFormat {
  readonly source: QuantFormat;
  /** Subtracted from every code. */
  readonly offset: number;
  /** The greatest code. */
  readonly maximum: number;
  readonly scales: Pick<ScaleLayout, "halves" | "hasMinimum">;
  /** A table for `decode`, if it needs one. */
  readonly table?: Int8Array<ArrayBuffer>;
  /** Decodes a group of a row's block. */
  decode(f: FunctionBuilder, block: Pointer, group: Local<"i32">, table: Pointer): DecodedRow;
}

/** An integer format on the CPU. */
export type PackedFormat = BandFormat | RowFormat;

/** Whether a format keeps the blocks of the file. */
export function isRowFormat(format: PackedFormat): format is RowFormat {
  return "decode" in format;
}

/** The greatest code of a format. */
export function maximumCode(format: PackedFormat): number {
  if (isRowFormat(format)) return format.maximum;
  return format.table ? Math.max(...format.table) : 2 ** format.bits - 1;
}

/** An integer format whose codes are rearranged. */
export interface BandFormat {
  readonly source: QuantFormat;
  /** Bits of a code in memory. */
  readonly bits: number;
  /** Subtracted from every code. */
  readonly offset: number;
  /** The sixteen values of codes that are indexes (such as IQ4_NL's), with `offset` added. */
  readonly table?: readonly number[];
  readonly scales: ScaleLayout;
  /**
   * Whether a byte has codes of several steps of a row, not of several rows (codes.ts), so that
   * V8 can join the vectors of a group. Formats say whether that is faster; where V8 joins nothing, none
   * has it.
   */
  readonly inSteps?: boolean;
  /** Sixteen unsigned codes of a row from its block in the file: half of a group. */
  codes(f: FunctionBuilder, block: Pointer, group: number, half: number): V128;
}

/** Bytes of a band's group, codes and scales. */
export function groupBytes(format: BandFormat): number {
  return BAND * GROUP * format.bits / 8 + format.scales.groupBytes;
}

/** Where the scales of each group are in a band's block. */
export function scaleOffsets(format: BandFormat): number[] {
  const { headBytes, groupBytes: ownBytes } = format.scales;
  return Array.from(
    { length: format.source.blockSize / GROUP },
    (_, group) => headBytes + (group + 1) * groupBytes(format) - ownBytes,
  );
}

/** Bytes of a band's block. */
export function blockBytes(format: PackedFormat): number {
  if (isRowFormat(format)) return BAND * format.source.blockBytes;
  return format.scales.headBytes + groupBytes(format) * format.source.blockSize / GROUP;
}
