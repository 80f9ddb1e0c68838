// Checks a JPEG file: its header, and whether it is complete, because decoders fill missing data
// with grey. The format: ITU-T T.81, annex B; EXIF data in it: CIPA DC-008, section 4.7.2.

import { checkSize, ImageError, type Size } from "../image.ts";
import { Marker, readSegments, startsWith } from "../jpeg/mod.ts";
import { readOrientation, UPRIGHT, uprightSize } from "../orientation.ts";
import { plain, type Traits } from "./traits.ts";

const EXIF = "Exif\0\0";

/** Frames that decodeJpeg supports: baseline, extended sequential, and progressive. */
const DECODABLE: readonly number[] = [Marker.SOF0, Marker.SOF1, Marker.SOF2];

/** Fails unless the file is complete and of an allowed size. */
export function checkJpeg(bytes: Uint8Array): Traits {
  let orientation = UPRIGHT;
  let stored: Size | undefined;
  let isDecodable = false;
  for (const { marker, data } of readSegments(bytes)) {
    if (isFrame(marker)) {
      const [precision, upperHeight, height, upperWidth, width, components] = data;
      stored = checkSize(upperWidth << 8 | width, upperHeight << 8 | height);
      isDecodable = DECODABLE.includes(marker) && precision === 8 && [1, 3].includes(components);
    }
    if (marker === Marker.APP1 && startsWith(data, EXIF)) {
      orientation = readOrientation(data.subarray(EXIF.length));
    }
  }
  if (!stored) throw new ImageError("the JPEG file has no picture");
  // The platform turns pictures upright itself.
  const size = uprightSize(stored, orientation);
  return isDecodable ? { size, decoder: "jpeg", orientation } : plain(size);
}

/** Whether the marker starts a frame: all from SOF0 on, except those of tables in between. */
function isFrame(marker: number): boolean {
  return marker >= Marker.SOF0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}
