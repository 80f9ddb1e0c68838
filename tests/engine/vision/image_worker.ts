// A worker that decodes the picture it is sent, for the test of decoding in workers.

import { decodeImage } from "../../../engine/vision/image/mod.ts";

addEventListener("message", async ({ data }: MessageEvent<Uint8Array>) => {
  postMessage(await decodeImage(data));
});
