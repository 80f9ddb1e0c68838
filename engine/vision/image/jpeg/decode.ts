// Decodes JPEG files of one or three components with 8 bits, sequential or progressive. The result
// equals that of stb_image byte for byte, because llama.cpp uses it, and differences between
// decoders are large enough for models to notice. The format: ITU-T T.81.

import { ByteReader } from "../byte_reader.ts";
import { type Image, ImageError } from "../image.ts";
import { ZIGZAG } from "./scan.ts";
import { greyImage, rgbImage, upsample, yccImage } from "./samples.ts";
import {
  BLOCK_LENGTH,
  type Frame,
  Marker,
  readFrame,
  readSegments,
  type Segment,
  startsWith,
} from "./frame.ts";
import { type HuffmanTable, readHuffmanTable } from "./scan.ts";
import { inverseTransform } from "./samples.ts";
import { readScan } from "./scan.ts";

/** Most scans of a file. Each goes through the whole picture, however short it is. */
const MAX_SCANS = 100;

/** The state of reading. */
interface State {
  frame?: Frame;
  readonly quantization: Uint16Array[];
  readonly dcTables: HuffmanTable[];
  readonly acTables: HuffmanTable[];
  restartInterval: number;
  scans: number;
  hasJfif: boolean;
  /** The colour transformation in Adobe's segment: 0 means none. */
  adobeTransform?: number;
}

/**
 * Decodes a whole file of an allowed size.
 *
 * @param bytes the whole file
 * @throws {ImageError} if its data is damaged
 */
export function decodeJpeg(bytes: Uint8Array): Image {
  const state: State = {
    quantization: [],
    dcTables: [],
    acTables: [],
    restartInterval: 0,
    scans: 0,
    hasJfif: false,
  };
  for (const segment of readSegments(bytes)) readSegment(bytes, segment, state);
  const { frame, quantization } = state;
  if (!frame || state.scans === 0) throw new ImageError("the JPEG file has no picture");
  const components = frame.components.map((component) => {
    const factors = quantization[component.quantization];
    if (!factors) throw new ImageError("the JPEG file is damaged: a table is missing");
    const samples = inverseTransform(component, factors);
    // Frees the coefficients, which are most of the memory of a large picture.
    component.coefficients = new Int16Array();
    return upsample(component, samples, frame);
  });
  if (components.length === 1) return greyImage(frame, components);
  return isRgb(frame, state) ? rgbImage(frame, components) : yccImage(frame, components);
}

function readSegment(bytes: Uint8Array, { marker, data, end }: Segment, state: State): void {
  const reader = new ByteReader(data, "JPEG", "big-endian");
  switch (marker) {
    case Marker.SOF0:
    case Marker.SOF1:
    case Marker.SOF2:
      if (state.frame) throw new ImageError("the JPEG file is damaged: it has two pictures");
      state.frame = readFrame(data, marker === Marker.SOF2);
      break;
    case Marker.DQT:
      while (reader.position < data.length) readQuantization(reader, state.quantization);
      break;
    case Marker.DHT:
      while (reader.position < data.length) {
        const kind = reader.uint8();
        const tables = kind >> 4 === 0 ? state.dcTables : state.acTables;
        tables[kind & 15] = readHuffmanTable(reader);
      }
      break;
    case Marker.DRI:
      state.restartInterval = reader.uint16();
      break;
    case Marker.SOS: {
      const { frame } = state;
      if (!frame || ++state.scans > MAX_SCANS) {
        throw new ImageError("the JPEG file is damaged: it has too many scans, or one too early");
      }
      readScan(bytes, data, end, { ...state, frame });
      break;
    }
    case Marker.APP0:
      state.hasJfif ||= startsWith(data, "JFIF\0");
      break;
    case Marker.APP14:
      if (startsWith(data, "Adobe") && data.length >= 12) state.adobeTransform = data[11];
      break;
  }
}

/** Reads tables of 64 factors of one or two bytes each. */
function readQuantization(reader: ByteReader, tables: Uint16Array[]): void {
  const kind = reader.uint8();
  const factors = new Uint16Array(BLOCK_LENGTH);
  for (const place of ZIGZAG) factors[place] = kind >> 4 === 0 ? reader.uint8() : reader.uint16();
  tables[kind & 15] = factors;
}

/** Whether the components are red, green and blue, according to their names or Adobe's segment. */
function isRgb({ components }: Frame, { hasJfif, adobeTransform }: State): boolean {
  const names = String.fromCharCode(...components.map(({ id }) => id));
  return names === "RGB" || adobeTransform === 0 && !hasJfif;
}
