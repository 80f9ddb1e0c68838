// Images: bombs, files cut off and damaged, too many of them, and those that take a decoder
// longest. Each is refused with a sentence about the image, or the model answers; other requests
// continue meanwhile.

import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import { Draws } from "../../engine/grammar/fuzz/draws.ts";
import {
  bmpFile,
  FILES,
  GIF,
  GRADIENT,
  jpegFile,
  pngFile,
  webpChunk,
} from "../../engine/vision/image_files.ts";
import { VISION_MODEL } from "../../server/http/api/vision_app.ts";
import type { Area, Case, Trial } from "../trial.ts";
import { randomBytes } from "./texts.ts";

/** Damaged pictures that are drawn. */
const RANDOM = 120;

const WHOLE: [string, Uint8Array][] = [
  ["PNG", pngFile({ data: GRADIENT })],
  ["JPEG", jpegFile(3)],
  ["progressive JPEG", FILES.progressive],
  ["lossy WebP", FILES.webpLossy],
  ["lossless WebP", FILES.webpLossless],
  ["WebP with alpha", FILES.webpAlpha],
  ["animated WebP", FILES.webpAnimated],
  ["GIF", GIF],
  ["BMP", bmpFile(false)],
];

function pngChunk(name: string, data: Uint8Array): Uint8Array {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(name), data, Buffer.alloc(4)]);
  chunk.writeUint32BE(data.length, 0);
  chunk.writeUint32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

/** A PNG of zeros, whose file is small whatever its size. */
function blackPng(width: number, height: number, bitDepth: number, colorType: number): Uint8Array {
  const channels = { 0: 1, 2: 3, 4: 2, 6: 4 }[colorType]!;
  const header = Buffer.from([...new Uint8Array(8), bitDepth, colorType, 0, 0, 0]);
  header.writeUint32BE(width, 0);
  header.writeUint32BE(height, 4);
  const bytes = (1 + width * channels * bitDepth / 8) * height;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.alloc(bytes), { level: 1 })),
    pngChunk("IEND", new Uint8Array()),
  ]);
}

/** An animation whose frames are within each other. */
function nestedFrames(depth: number): Uint8Array {
  const sizes = Uint8Array.of(0, 0, 0, 0, 0, 0, 15, 0, 0, 7, 0, 0, 100, 0, 0, 0);
  let inner: Uint8Array = FILES.webpLossless.slice(12);
  for (let i = 0; i < depth; i++) inner = webpChunk("ANMF", Buffer.concat([sizes, inner]));
  const extended = Uint8Array.of(2, 0, 0, 0, 15, 0, 0, 7, 0, 0);
  return webpChunk(
    "RIFF",
    Buffer.concat([Buffer.from("WEBP"), webpChunk("VP8X", extended), inner]),
  );
}

/** The bytes of a file with others at an offset. */
function patch(bytes: Uint8Array, offset: number, ...values: number[]): Uint8Array {
  const patched = bytes.slice();
  patched.set(values, offset);
  return patched;
}

/** Pictures that take a decoder longest, with the seconds that their size explains. */
const COSTLY: [string, number, () => Uint8Array][] = [
  ["PNG of 100 megapixels with 16 bits", 30, () => blackPng(10_000, 10_000, 16, 6)],
  ["PNG of 100 megapixels", 30, () => blackPng(10_000, 10_000, 8, 2)],
  ["PNG of one row", 30, () => blackPng(4_000_000, 1, 8, 0)],
  ["PNG of one column", 30, () => blackPng(1, 1_000_000, 8, 0)],
  ["WebP of 20,000 frames in frames", 5, () => nestedFrames(20_000)],
  ["WebP of 300 frames in frames", 5, () => nestedFrames(300)],
  ["PNG bomb", 5, () => patch(WHOLE[0]![1], 16, 0, 0, 0x40, 0, 0, 0, 0x40, 0)],
  ["GIF bomb", 5, () => patch(GIF, 6, 0xff, 0xff, 0xff, 0xff)],
  ["GIF of many frames", 10, () => {
    const frame = GIF.subarray(GIF.indexOf(0x2c, 13), -1);
    const head = GIF.subarray(0, GIF.indexOf(0x2c, 13));
    return Buffer.concat([head, ...Array(5000).fill(frame), Uint8Array.of(0x3b)]);
  }],
  ["PNG of a hundred thousand chunks", 5, () => {
    const chunks = Array.from({ length: 100_000 }, (): [string, Uint8Array] => {
      return ["tEXt", new Uint8Array(4)];
    });
    return pngFile({ data: GRADIENT, chunks });
  }],
];

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Asks about pictures, in the words of one of the APIs. */
async function look(trial: Trial, images: string[], seconds = 5, api = 0): Promise<void> {
  const model = VISION_MODEL;
  const options = { num_predict: 2, temperature: 0 };
  const url = (data: string) => `data:image/png;base64,${data}`;
  const source = (data: string) => ({ type: "base64", media_type: "image/png", data });
  const requests = [
    { path: "/api/generate", body: { model, prompt: "x", images, stream: false, options } },
    {
      path: "/v1/chat/completions",
      body: {
        model,
        max_tokens: 2,
        messages: [{
          role: "user",
          content: images.map((data) => ({ type: "image_url", image_url: { url: url(data) } })),
        }],
      },
    },
    {
      path: "/v1/messages",
      body: {
        model,
        max_tokens: 2,
        messages: [{
          role: "user",
          content: images.map((data) => ({ type: "image", source: source(data) })),
        }],
      },
    },
  ];
  const request = requests[api % requests.length]!;
  const { status, text } = await trial.ask({ ...request, seconds });
  const isRight = status === 200 || (status >= 400 && status <= 500) || status === 503;
  trial.check(isRight || status === 0, () => `${request.path}: ${status} ${text.slice(0, 300)}`);
}

/** A picture with some wrong bytes, or without its end, or with another start. */
function damaged(bytes: Uint8Array, draws: Draws): Uint8Array {
  switch (draws.below(3)) {
    case 0:
      return bytes.slice(0, draws.below(bytes.length));
    case 1:
      return Buffer.concat([bytes.subarray(0, draws.below(40)), randomBytes(draws, 500)]);
    default: {
      const changed = bytes.slice();
      for (let i = draws.between(1, 5); i > 0; i--) {
        changed[draws.below(draws.oneIn(2) ? 40 : changed.length) % changed.length] = draws.below(
          256,
        );
      }
      return changed;
    }
  }
}

/** Images. */
export const images: Area = {
  name: "images",
  weight: 2,
  cases({ seed, count }) {
    const costly = COSTLY.map(([name, seconds, make]): Case => ({
      name,
      run: (trial) => look(trial, [base64(make())], seconds),
    }));
    const picture = base64(WHOLE[0]![1]);
    const many = [50, 1000].map((number): Case => ({
      name: `${number} pictures at once`,
      run: (trial) => look(trial, Array(number).fill(picture)),
    }));
    const noPictures: [string, string][] = [
      ["no base64", "%%%"],
      ["an address", "https://127.0.0.1/x.png"],
      ["a path", "/etc/passwd"],
      ["10 MB of nothing", base64(new Uint8Array(1e7))],
    ];
    const random = Array.from({ length: count(RANDOM) }, (_, index): Case => {
      const own = seed * 10_000 + index;
      const [kind, bytes] = WHOLE[index % WHOLE.length]!;
      return {
        name: `a damaged ${kind}, ${own}`,
        run: (trial) => look(trial, [base64(damaged(bytes, new Draws(own)))], 5, index),
      };
    });
    return [
      ...costly,
      ...many,
      ...noPictures.map(([name, data]): Case => ({ name, run: (trial) => look(trial, [data]) })),
      ...random,
    ];
  },
};
