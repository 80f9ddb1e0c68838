// One scan of a JPEG file: its components, the part of their coefficients that it has, and the
// order of their blocks. The format: ITU-T T.81, annexes A.2, B.2.3 and G.1.1.1.

import { pollCancellation } from "../../../cancellation.ts";
import { ByteReader } from "../byte_reader.ts";
import { ImageError } from "../image.ts";
import { BitReader, type HuffmanTable } from "./bit_reader.ts";
import {
  type Band,
  type BlockDecoder,
  type BlockState,
  decodeAc,
  decodeDc,
  decodeSequential,
  refineAc,
  refineDc,
} from "./block_coding.ts";
import { BLOCK_LENGTH, BLOCK_SIDE, type Component, type Frame } from "./frame.ts";

/** The definitions before a scan. */
export interface ScanContext {
  readonly frame: Frame;
  readonly dcTables: readonly HuffmanTable[];
  readonly acTables: readonly HuffmanTable[];
  /** Units from one restart marker to the next; 0 if there are none. */
  readonly restartInterval: number;
}

interface ScanComponent {
  readonly component: Component;
  readonly state: BlockState;
}

/**
 * Reads a scan into the coefficients of its components.
 *
 * @param bytes the whole file
 * @param header the data of the segment that starts the scan
 * @param start offset of the compressed data in the file
 * @param context the definitions before the scan
 */
export function readScan(
  bytes: Uint8Array,
  header: Uint8Array,
  start: number,
  context: ScanContext,
): void {
  const { frame } = context;
  const fields = new ByteReader(header, "JPEG", "big-endian");
  const components = Array.from(
    { length: fields.uint8() },
    () => readComponent(fields, context),
  );
  const [first, last, bits] = [fields.uint8(), fields.uint8(), fields.uint8()];
  const band = { first, last, bit: frame.isProgressive ? bits & 15 : 0 };
  const isRefined = bits >> 4 !== 0;
  if (components.length === 0 || frame.isProgressive && !isAllowed(band, components.length)) {
    throw new ImageError("the JPEG file is damaged: a scan is of no known kind");
  }
  const decode = frame.isProgressive ? progressiveDecoder(band, isRefined) : decodeSequential;
  decodeUnits(new BitReader(bytes, start), components, context, decode, band);
}

/** A component that a scan names, with its tables. */
function readComponent(
  fields: ByteReader,
  { frame, dcTables, acTables }: ScanContext,
): ScanComponent {
  const id = fields.uint8();
  const tables = fields.uint8();
  const component = frame.components.find((one) => one.id === id);
  if (!component) throw new ImageError("the JPEG file is damaged: a scan has no known component");
  const [dcTable, acTable] = [dcTables[tables >> 4], acTables[tables & 15]];
  return { component, state: { dcTable, acTable, dc: 0, emptyBlocks: 0 } };
}

/**
 * Whether a progressive scan has either a range of one component, or the first coefficients of any.
 */
function isAllowed({ first, last }: Band, components: number): boolean {
  if (first === 0) return last === 0;
  return components === 1 && first <= last && last < BLOCK_LENGTH;
}

function progressiveDecoder({ first }: Band, isRefined: boolean): BlockDecoder {
  if (first === 0) return isRefined ? refineDc : decodeDc;
  return isRefined ? refineAc : decodeAc;
}

/**
 * Decodes the units of a scan. A scan of one component has its blocks as units, without the fill
 * blocks.
 */
function decodeUnits(
  reader: BitReader,
  components: readonly ScanComponent[],
  { frame, restartInterval }: ScanContext,
  decode: BlockDecoder,
  band: Band,
): void {
  const [{ component: only }] = components;
  const isSingle = components.length === 1;
  const columns = isSingle ? Math.ceil(only.width / BLOCK_SIDE) : frame.unitColumns;
  const rows = isSingle ? Math.ceil(only.height / BLOCK_SIDE) : frame.unitRows;
  for (let unit = 0; unit < columns * rows; unit++) {
    if (restartInterval > 0 && unit > 0 && unit % restartInterval === 0) {
      reader.restart();
      for (const { state } of components) Object.assign(state, { dc: 0, emptyBlocks: 0 });
    }
    const row = Math.floor(unit / columns);
    const column = unit - row * columns;
    if (column === 0) pollCancellation();
    for (const { component, state } of components) {
      const across = isSingle ? 1 : component.horizontal;
      const down = isSingle ? 1 : component.vertical;
      for (let y = row * down; y < (row + 1) * down; y++) {
        for (let x = column * across; x < (column + 1) * across; x++) {
          const offset = (y * component.columns + x) * BLOCK_LENGTH;
          decode(reader, state, band, component.coefficients, offset);
        }
      }
    }
  }
  reader.finish();
}
