// Pictures that cannot be used: cut off, damaged, too large, of another format, or none at all.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { RequestError } from "../../../engine/errors.ts";
import { decodeImage, ImageError, measureImage } from "../../../engine/vision/image/mod.ts";
import {
  bmpFile,
  exif,
  FILES,
  GIF,
  GRADIENT,
  jpegFile,
  pngFile,
  webpChunk,
} from "./image_files.ts";

const PNG = pngFile({ data: GRADIENT, chunks: [["eXIf", exif(6)]] });

const WHOLE: [name: string, bytes: Uint8Array][] = [
  ["PNG", PNG],
  ["baseline JPEG", jpegFile(3)],
  ["progressive JPEG", FILES.progressive],
  ["lossy WebP", FILES.webpLossy],
  ["lossless WebP", FILES.webpLossless],
  ["animated WebP", FILES.webpAnimated],
  ["GIF", GIF],
  ["BMP", bmpFile(false)],
];

for (const [name, bytes] of WHOLE) {
  Deno.test(`decodeImage() refuses a ${name} that is cut off anywhere`, async () => {
    const ends = Array.from({ length: Math.ceil(bytes.length / 10) }, (_, index) => index * 10);
    for (const end of [...ends, bytes.length - 1]) {
      await assertRejects(() => decodeImage(bytes.slice(0, end)), ImageError);
    }
  });
}

Deno.test("decodeImage() ignores bytes after the end", async () => {
  for (const [, bytes] of WHOLE) {
    const { pixels } = await decodeImage(bytes);
    const longer = await decodeImage(Uint8Array.from([...bytes, 1, 2, 3, 0]));
    assertEquals(longer.pixels, pixels);
  }
});

Deno.test("decodeImage() never fails but with an ImageError, whichever byte is wrong", async () => {
  for (const [name, bytes] of WHOLE) {
    for (let at = 0; at < bytes.length; at += 13) {
      const damaged = bytes.slice();
      damaged[at] ^= 0xff;
      await decodeImage(damaged).catch((error) => {
        assert(error instanceof ImageError, `${name}, byte ${at}: ${error}`);
      });
    }
  }
});

Deno.test("decodeImage() refuses a PNG whose data does not fit its checksum", async () => {
  const damaged = PNG.slice();
  damaged[damaged.length - 20] ^= 1;
  await assertRejects(() => decodeImage(damaged), ImageError, "damaged");
});

Deno.test("decodeImage() refuses a JPEG whose segment is shorter than its own length", async () => {
  const bytes = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xd9]);
  await assertRejects(() => decodeImage(bytes), ImageError, "cut off or damaged");
});

/** Writes numbers of some bytes over a file, at an offset. */
function patch(bytes: Uint8Array, offset: number, ...values: number[]): Uint8Array {
  const patched = bytes.slice();
  patched.set(values, offset);
  return patched;
}

/** The place of the frame's height in the baseline JPEG. */
const JPEG_FRAME =
  FILES.jpeg.findIndex((byte, at) => byte === 0xff && FILES.jpeg[at + 1] === 0xc0) + 5;

/** A WebP canvas of 2 to the power of 24 pixels per side. */
const WEBP_CANVAS = webpChunk(
  "RIFF",
  Uint8Array.from([
    ...new TextEncoder().encode("WEBP"),
    ...webpChunk("VP8X", Uint8Array.from([0, 0, 0, 0, 255, 255, 255, 255, 255, 255])),
  ]),
);

const BOMBS: [name: string, bytes: Uint8Array][] = [
  ["PNG", patch(PNG, 16, 0, 0, 0x40, 0, 0, 0, 0x40, 0)],
  ["JPEG", patch(FILES.jpeg, JPEG_FRAME, 0xff, 0xff, 0xff, 0xff)],
  ["lossy WebP", patch(FILES.webpLossy, 26, 0xff, 0x3f, 0xff, 0x3f)],
  ["lossless WebP", patch(FILES.webpLossless, 21, 0xff, 0xff, 0xff, 0x0f)],
  ["WebP canvas", WEBP_CANVAS],
  ["GIF", patch(GIF, 6, 0xff, 0xff, 0xff, 0xff)],
  ["BMP", patch(bmpFile(false), 18, 0, 0x40, 0, 0, 0, 0x40, 0, 0)],
  ["BMP from top to bottom", patch(bmpFile(false), 18, 0, 0x40, 0, 0, 0, 0xc0, 0xff, 0xff)],
];

for (const [name, bytes] of BOMBS) {
  Deno.test(`decodeImage() refuses a ${name} of over 100 megapixels by its header`, async () => {
    const { message } = await assertRejects(() => decodeImage(bytes), ImageError, "megapixels");
    assert(/it is \d{5,} x \d{5,} pixels/.test(message), message);
  });
}

// A picture of 6,001 x 6,000, which is more than the platform may decode; its decoder would fill 430 MB.
const LARGE: [name: string, bytes: Uint8Array][] = [
  ["lossy WebP", patch(FILES.webpLossy, 26, 0x71, 0x17, 0x70, 0x17)],
  ["GIF", patch(GIF, 6, 0x71, 0x17, 0x70, 0x17)],
  ["BMP", blackBmp(6001, 6000)],
];

for (const [name, bytes] of LARGE) {
  Deno.test(`decodeImage() refuses a ${name} of over 36 megapixels, with the limit of its format`, async () => {
    const { message } = await assertRejects(() => decodeImage(bytes), ImageError);
    assert(message.includes("it is 6001 x 6000 pixels, 36.1 megapixels in all"), message);
    assert(message.includes("the limit of its format is 36 megapixels"), message);
    assert(message.endsWith("so send it smaller, or as PNG or JPEG"), message);
  });
}

/** A BMP file of one bit per pixel. */
function blackBmp(width: number, height: number): Uint8Array {
  const start = 62;
  const bytes = new Uint8Array(start + Math.ceil(width / 32) * 4 * height);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  view.setUint32(10, start, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  view.setInt32(22, height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 1, true);
  return bytes;
}

Deno.test("decodeImage() says the size and the limit of a picture that is just too large", async () => {
  // 10,001 x 10,000
  const file = patch(PNG, 16, 0, 0, 0x27, 0x11, 0, 0, 0x27, 0x10);
  const { message } = await assertRejects(() => decodeImage(file));
  assertEquals(
    message,
    "Cannot read the image: invalid image input: it is 10001 x 10000 pixels, 100.1 megapixels in all; " +
      "the limit is 100 megapixels, so send it smaller",
  );
});

Deno.test("decodeImage() refuses a WebP whose frames are within frames, however deep", async () => {
  const depth = 20_000;
  // From the innermost outwards, each frame is 24 bytes longer than what is in it.
  const bytes = new Uint8Array(12 + 24 * depth);
  const view = new DataView(bytes.buffer);
  const write = (text: string, at: number) =>
    bytes.set(Uint8Array.from(text, (letter) => letter.charCodeAt(0)), at);
  write("RIFF", 0);
  view.setUint32(4, bytes.length - 8, true);
  write("WEBP", 8);
  for (let at = 12; at < bytes.length; at += 24) {
    write("ANMF", at);
    view.setUint32(at + 4, bytes.length - at - 8, true);
  }
  await assertRejects(() => decodeImage(bytes), ImageError, "a frame is within a frame");
});

Deno.test("measureImage() tells the upright size of pictures of every format", async () => {
  const turned = pngFile({ data: GRADIENT, chunks: [["eXIf", exif(6)]] });
  for (const [, bytes] of [...WHOLE, ["turned", turned] as const]) {
    const { width, height } = await decodeImage(bytes);
    assertEquals(measureImage(bytes), { width, height });
  }
});

const EMPTY: [name: string, bytes: Uint8Array][] = [
  ["PNG", patch(PNG, 16, 0, 0, 0, 0)],
  ["JPEG", patch(FILES.jpeg, JPEG_FRAME, 0, 0)],
  ["GIF", patch(GIF, 6, 0, 0)],
  ["BMP", patch(bmpFile(false), 22, 0, 0, 0, 0)],
];

for (const [name, bytes] of EMPTY) {
  Deno.test(`decodeImage() refuses a ${name} with a side of zero`, async () => {
    await assertRejects(() => decodeImage(bytes), ImageError, "both sides");
  });
}

const OTHERS: [name: string, start: string][] = [
  ["AVIF", "\0\0\0\x1cftypavif\0\0\0\0"],
  ["HEIC", "\0\0\0\x24ftypheic\0\0\0\0"],
  ["TIFF", "II*\0\x08\0\0\0"],
  ["TIFF", "MM\0*\0\0\0\x08"],
  ["SVG", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ["SVG", '\xef\xbb\xbf<?xml version="1.0"?>\n<!-- a drawing -->\n<svg>'],
  ["JPEG XL", "\xff\n\xfa\x1f"],
  ["ICO", "\0\0\x01\0\x01\0"],
  ["PDF", "%PDF-1.7"],
];

for (const [name, start] of OTHERS) {
  Deno.test(`decodeImage() names ${name} and what is read instead: ${start.length} bytes`, async () => {
    const bytes = Uint8Array.from(start, (letter) => letter.charCodeAt(0));
    const { message } = await assertRejects(() => decodeImage(bytes), ImageError, `it is ${name};`);
    assertStringIncludes(message, "PNG, JPEG, WebP, GIF and BMP");
  });
}

Deno.test("decodeImage() refuses no bytes, and bytes of no format", async () => {
  await assertRejects(() => decodeImage(new Uint8Array()), ImageError, "it is empty");
  const text = new TextEncoder().encode("https://example.com/cat.png");
  await assertRejects(() => decodeImage(text), ImageError, "no known format");
  await assertRejects(() => decodeImage(new Uint8Array(5000)), ImageError, "no known format");
});

Deno.test("ImageError is a fault of the request", () => {
  const error = new ImageError("it is empty");
  assert(error instanceof RequestError);
  assertEquals(error.name, "ImageError");
  assertEquals(error.message, "Cannot read the image: invalid image input: it is empty");
});
