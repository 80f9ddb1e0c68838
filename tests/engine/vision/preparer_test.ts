// Large images are prepared in another thread: this one goes on meanwhile, an abort ends the work, and
// nothing of it stays.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MetadataReader } from "../../../engine/gguf/mod.ts";
import { ImageError } from "../../../engine/vision/image/mod.ts";
import { ImagePreparer, prepareImage } from "../../../engine/vision/reader/preparer.ts";
import { readPreprocessing } from "../../../engine/vision/preprocess/mod.ts";
import { threadTime } from "../../cpu_time.ts";
import { pngFile } from "./image_files.ts";

const config = readPreprocessing(
  new MetadataReader({
    path: "projector.gguf",
    metadata: {
      "clip.vision.image_size": 56,
      "clip.vision.patch_size": 14,
      "clip.vision.image_mean": Float32Array.of(0.5, 0.5, 0.5),
      "clip.vision.image_std": Float32Array.of(0.5, 0.5, 0.5),
    },
  }),
  { method: "fixed", filter: "bilinear", merge: ["projector.scale_factor", 4] },
);

/** A grey picture; with one byte for each row of it, which is its filter, and one for each pixel. */
function picture(width: number, height: number): Uint8Array<ArrayBuffer> {
  const data = Array.from({ length: width * height }, (_, at) => at % 251);
  return new Uint8Array(pngFile({ width, height, colorType: 0, data }));
}

Deno.test("a large image is prepared as a small one is, while this thread goes on", async () => {
  const preparer = new ImagePreparer();
  const { signal } = new AbortController();
  const bytes = picture(1600, 1200);
  // How long this thread computed from one of its turns to the next.
  const turns: number[] = [];
  let before = threadTime();
  const take = () => {
    const now = threadTime();
    turns.push(now - before);
    before = now;
  };
  const timer = setInterval(take, 1);
  const prepared = await preparer.prepare(bytes, config, signal);
  take();
  clearInterval(timer);
  assertEquals(prepared, await prepareImage(bytes, config, []));
  assert(Math.max(...turns) < 40, `a turn took ${Math.max(...turns)} ms`);
  assertEquals(
    await preparer.prepare(picture(30, 20), config, signal),
    await prepareImage(picture(30, 20), config, []),
  );
});

Deno.test("several large images share the thread, and each has its fault", async () => {
  const preparer = new ImagePreparer();
  const { signal } = new AbortController();
  using _ = preparer.use();
  const whole = picture(800, 800);
  const broken = whole.slice();
  broken[60]! ^= 1;
  const results = await Promise.allSettled(
    [whole, broken, whole].map((bytes) => preparer.prepare(bytes, config, signal)),
  );
  assertEquals(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  const [, rejected] = results as [unknown, PromiseRejectedResult];
  assert(rejected.reason instanceof ImageError);
  assert(rejected.reason.state.startsWith("its data is damaged"));
});

Deno.test("an abort ends the wait at once, and the next image is prepared", async () => {
  const preparer = new ImagePreparer();
  using _ = preparer.use();
  const abort = new AbortController();
  const large = picture(2000, 1500);
  const given = preparer.prepare(large, config, abort.signal);
  const next = preparer.prepare(picture(800, 800), config, new AbortController().signal);
  abort.abort(new Error("gone"));
  await assertRejects(() => given, Error, "gone");
  assertEquals((await next).images.length, 1);
});
