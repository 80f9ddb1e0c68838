// Image encoders against embeddings computed elsewhere, from the given preprocessed pixels: every
// projector type of the conformance data.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { nextTask } from "../../../engine/async.ts";
import { attachFlags, CancelFlag, CancelledError } from "../../../engine/cancellation.ts";
import { loadImageEncoder } from "../../../engine/vision/mod.ts";
import { openDevice } from "../../../kernels/mod.ts";
import { conformanceTest, readFloats } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { encodeParts, FIXTURES, readFixture } from "./fixtures.ts";

for (const [name, projectorType] of FIXTURES) {
  conformanceTest(`${name} encodes images to the known embeddings`, async () => {
    using device = await openDevice();
    // Room for less than any of these images, so that it has to grow.
    using encoder = await loadImageEncoder(await readFixture(name), device, { patches: 16 });
    assertEquals(encoder.family.projector, projectorType);
    for (const image of ["cat", "diagram"]) {
      const actual = await encodeParts(encoder, name, image);
      const error = nmse(actual, await readFloats(`vision/${name}/${image}.embd.f32`));
      assert(error <= 1e-10, `${image}: NMSE ${error}`);
    }
  });
}

conformanceTest("a LLaVA that names no blocks to read runs all but the last", async () => {
  const gguf = await readFixture("llava");
  const { "clip.vision.feature_layer": _, ...metadata } = gguf.metadata;
  using device = await openDevice();
  using encoder = await loadImageEncoder({ ...gguf, metadata }, device);
  const actual = await encodeParts(encoder, "llava", "cat");
  const error = nmse(actual, await readFloats("vision/llava/cat.embd.legacy-first.f32"));
  assert(error <= 1e-10, `NMSE ${error}`);
});

conformanceTest("a Qwen2.5-VL with f16 keys and values is close", async () => {
  using device = await openDevice();
  using encoder = await loadImageEncoder(await readFixture("qwen25vl"), device, { exact: false });
  const actual = await encodeParts(encoder, "qwen25vl", "cat");
  const error = nmse(actual, await readFloats("vision/qwen25vl/cat.embd.f32"));
  assert(error > 1e-9 && error <= 1e-5, `NMSE ${error}`);
});

conformanceTest("images of sizes that an encoder cannot take are refused", async () => {
  using device = await openDevice();
  const blank = (width: number, height: number) => new Float32Array(3 * width * height);
  using gemma = await loadImageEncoder(await readFixture("gemma3"), device);
  const fixed = gemma.encode(blank(56, 56), { width: 56, height: 56 });
  await assertRejects(() => fixed, RangeError, "of 4 x 4 patches: this encoder takes 144");
  const odd = gemma.encode(blank(60, 56), { width: 60, height: 56 });
  await assertRejects(() => odd, RangeError, "multiples of 56");
  const short = gemma.encode(blank(1, 1), { width: 168, height: 168 });
  await assertRejects(() => short, RangeError, "the image has 84672");
  // A refused image leaves the encoder as it was.
  const [width, height] = [168, 168];
  assertEquals((await gemma.encode(blank(width, height), { width, height })).length, 9 * 64);
});

conformanceTest("an encoder that was told to stop does the next image as it should", async () => {
  using device = await openDevice();
  using encoder = await loadImageEncoder(await readFixture("gemma3"), device);
  const size = { width: 168, height: 168 };
  const blank = new Float32Array(3 * 168 * 168);
  const stopped = encoder.encode(blank, size, AbortSignal.abort(new Error("stopped")));
  await assertRejects(() => stopped, Error, "stopped");
  // Where the driver runs on the CPU, the work itself ends, between two blocks.
  const abort = new AbortController();
  const ended = encoder.encode(blank, size, abort.signal).then(() => "done", () => "stopped");
  void nextTask().then(() => abort.abort());
  assertEquals(await ended, device.profile.capabilities.software ? "stopped" : "done");
  const actual = await encodeParts(encoder, "gemma3", "cat");
  const error = nmse(actual, await readFloats("vision/gemma3/cat.embd.f32"));
  assert(error <= 1e-10, `NMSE ${error}`);
});

conformanceTest("an encoder gives its memory back", async () => {
  using device = await openDevice();
  const before = [...device.allocated.values()];
  const encoder = await loadImageEncoder(await readFixture("idefics3"), device);
  assert(encoder.memory > 400_000, `${encoder.memory} bytes`);
  encoder[Symbol.dispose]();
  assertEquals(encoder.memory, 0);
  assertEquals([...device.allocated.values()], before);
});

conformanceTest(
  "a picture is given up within a block on the CPU where its flag is set",
  async () => {
    using device = await openDevice({ kind: "cpu", threads: 1 });
    using encoder = await loadImageEncoder(await readFixture("qwen25vl"), device);
    const { signal } = new AbortController();
    let looks = 0;
    const flag = new CancelFlag();
    // Set when it is looked at for the sixth time, which no end of a block is.
    Object.defineProperty(flag, "isSet", { get: () => ++looks > 5 });
    attachFlags(signal, [flag]);
    const [width, height] = [112, 112];
    const pixels = new Float32Array(3 * width * height).fill(0.1);
    const expected = await encoder.encode(pixels, { width, height });
    const given = encoder.encode(pixels, { width, height }, signal);
    await assertRejects(() => given, CancelledError);
    assert(looks < 12, `${looks} looks`);
    assertEquals(await encoder.encode(pixels, { width, height }), expected);
  },
);
