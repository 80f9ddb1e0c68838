// Walks the markers of a JPEG file, from its start to its end mark. Decoders fill what is missing
// with grey, so a file that lacks the end mark has to be found here. The format: ITU-T T.81, annex B.

import { ByteReader } from "../byte_reader.ts";
import { ImageError } from "../errors.ts";
import { checkSize } from "../image.ts";
import { PLAIN, type Traits } from "./traits.ts";

const END_OF_IMAGE = 0xd9;
const PREFIX = 0xff;

/** Fails unless the file is whole and of an allowed size. */
export function checkJpeg(bytes: Uint8Array): Traits {
  const reader = new ByteReader(bytes, "JPEG", "big-endian");
  reader.skip(2);
  let hasFrame = false;
  for (;;) {
    const marker = nextMarker(reader);
    if (marker === END_OF_IMAGE) break;
    if (isStandalone(marker)) continue;
    const length = reader.uint16();
    const start = reader.position;
    if (isFrame(marker)) {
      reader.skip(1);
      const height = reader.uint16();
      checkSize(reader.uint16(), height);
      hasFrame = true;
    }
    reader.position = start;
    reader.skip(length - 2);
  }
  if (!hasFrame) throw new ImageError("the JPEG file has no picture");
  return PLAIN;
}

/**
 * Goes on behind the next marker. In the compressed data a zero follows each byte that only looks
 * like one; before a marker the prefix may be repeated.
 */
function nextMarker(reader: ByteReader): number {
  let marker = 0;
  while (marker === 0) {
    reader.skipPast(PREFIX);
    do marker = reader.uint8(); while (marker === PREFIX);
  }
  return marker;
}

/** Whether nothing belongs to the marker: a restart within the compressed data, or none at all. */
function isStandalone(marker: number): boolean {
  return marker >= 0xd0 && marker <= 0xd8 || marker === 0x01;
}

/** Whether the marker starts a frame: all from 0xc0 on but those of tables in between. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}
