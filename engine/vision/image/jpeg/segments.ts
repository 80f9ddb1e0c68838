// The segments of a JPEG file: markers with their data. The compressed data after the start of a
// scan is skipped. The format: ITU-T T.81, annex B.

import { ByteReader } from "../byte_reader.ts";

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
