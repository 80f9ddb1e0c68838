// The segments of a JPEG file: markers with their data. The compressed data after the start of a
// scan is skipped. The format: ITU-T T.81, annex B.

import { ByteReader } from "../byte_reader.ts";
import { ImageError } from "../image.ts";

/** Markers by their names in the standard. */
export const Marker = {
  SOF0: 0xc0,
  SOF1: 0xc1,
  SOF2: 0xc2,
  DHT: 0xc4,
  RST0: 0xd0,
  SOI: 0xd8,
  EOI: 0xd9,
  SOS: 0xda,
  DQT: 0xdb,
  DRI: 0xdd,
  APP0: 0xe0,
  APP1: 0xe1,
  APP14: 0xee,
} as const;

const PREFIX = 0xff;

/** One segment of a file. */
export interface Segment {
  readonly marker: number;
  /** The data of the segment, without its length. */
  readonly data: Uint8Array;
  /** Offset of the end of the segment. Compressed data starts there. */
  readonly end: number;
}

/**
 * Reads the segments up to the end mark.
 *
 * @param bytes the whole file
 * @throws {ImageError} if the end mark is missing, or a segment is cut off
 */
export function* readSegments(bytes: Uint8Array): Generator<Segment> {
  const reader = new ByteReader(bytes, "JPEG", "big-endian");
  for (;;) {
    const marker = nextMarker(reader);
    if (marker === Marker.EOI) return;
    if (isStandalone(marker)) continue;
    const data = reader.take(reader.uint16() - 2);
    yield { marker, data, end: reader.position };
  }
}

/**
 * Skips to behind the next marker. In compressed data, a byte that looks like a marker is followed
 * by a zero. The prefix of a marker may be repeated.
 */
function nextMarker(reader: ByteReader): number {
  let marker = 0;
  while (marker === 0) {
    reader.skipPast(PREFIX);
    do marker = reader.uint8(); while (marker === PREFIX);
  }
  return marker;
}

/** Whether the marker has no data: the start of the file, a restart, or a reserved one. */
function isStandalone(marker: number): boolean {
  return marker >= Marker.RST0 && marker <= Marker.SOI || marker === 0x01;
}

/**
 * Whether the data begins with these letters, which tell the kinds of a marker's segments apart.
 */
export function startsWith(bytes: Uint8Array, letters: string): boolean {
  return String.fromCharCode(...bytes.subarray(0, letters.length)) === letters;
}

// The picture in a JPEG file: its components, and the places of their blocks of 8 x 8 coefficients.
// The format: ITU-T T.81, annexes A.1 and B.2.2.

/** Coefficients of a block. */
export const BLOCK_LENGTH = 64;
/** Samples along a side of a block. */
export const BLOCK_SIDE = 8;

/** A component: luminance or a chrominance, or a colour. */
export interface Component {
  readonly id: number;
  /** Blocks of this component in a unit (MCU): across and down. */
  readonly horizontal: number;
  readonly vertical: number;
  /** Index of its quantization table. */
  readonly quantization: number;
  /** Size in samples. */
  readonly width: number;
  readonly height: number;
  /** Size in blocks, including those that only fill up units. */
  readonly columns: number;
  readonly rows: number;
  /**
   * Before the multiplication with the quantization table: [rows, columns, 64]. Empty after the
   * samples were made.
   */
  coefficients: Int16Array;
}

/** All components of the picture. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly isProgressive: boolean;
  readonly components: readonly Component[];
  /** Size in units (MCUs). A unit is the same part of the picture in all components. */
  readonly unitColumns: number;
  readonly unitRows: number;
  /** Most blocks of a component in a unit: across and down. */
  readonly maxHorizontal: number;
  readonly maxVertical: number;
}

/** Reads the header of a frame and allocates its coefficients. */
export function readFrame(data: Uint8Array, isProgressive: boolean): Frame {
  const reader = new ByteReader(data, "JPEG", "big-endian");
  reader.skip(1);
  const height = reader.uint16();
  const width = reader.uint16();
  const layouts = Array.from({ length: reader.uint8() }, () => {
    const id = reader.uint8();
    const factors = reader.uint8();
    const [horizontal, vertical] = [factors >> 4, factors & 15];
    const isAllowed = [horizontal, vertical].every((factor) => factor >= 1 && factor <= 4);
    if (!isAllowed) throw new ImageError("the JPEG file is damaged: its sampling factors");
    return { id, horizontal, vertical, quantization: reader.uint8() };
  });
  const maxHorizontal = Math.max(...layouts.map(({ horizontal }) => horizontal));
  const maxVertical = Math.max(...layouts.map(({ vertical }) => vertical));
  const unitColumns = Math.ceil(width / (maxHorizontal * BLOCK_SIDE));
  const unitRows = Math.ceil(height / (maxVertical * BLOCK_SIDE));
  const components = layouts.map((layout) => {
    const [columns, rows] = [unitColumns * layout.horizontal, unitRows * layout.vertical];
    return {
      ...layout,
      width: Math.ceil(width * layout.horizontal / maxHorizontal),
      height: Math.ceil(height * layout.vertical / maxVertical),
      columns,
      rows,
      coefficients: new Int16Array(rows * columns * BLOCK_LENGTH),
    };
  });
  return {
    width,
    height,
    isProgressive,
    components,
    unitColumns,
    unitRows,
    maxHorizontal,
    maxVertical,
  };
}
