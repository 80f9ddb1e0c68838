// Tensors that are streamed to a device: how soon an abort ends that.

import type { Device } from "../../../kernels/mod.ts";
import type { GgufFile, TensorBytes, TensorInfo } from "../../../engine/gguf/mod.ts";
import { wholeOn } from "../../../engine/weights/placement.ts";
import { TensorSource } from "../../../engine/weights/tensor_source.ts";
import { assert, assertRejects } from "@std/assert";

Deno.test("an abort by a timer ends a tensor in its midst, although nothing waits for the device", async () => {
  const [columns, rows] = [32, 100];
  const tensor: TensorInfo = {
    ...{ name: "w", shape: [columns, rows], type: 0, typeName: "F32", shard: 0, offset: 0 },
    byteLength: 4 * columns * rows,
  };
  const gguf = { path: "w.gguf", tensors: new Map([["w", tensor]]) } as unknown as GgufFile;
  let read = 0;
  const reader: TensorBytes = {
    *chunks() {
      for (; read < rows; read++) {
        const started = performance.now();
        while (performance.now() - started < 5);
        yield { offset: 4 * columns * read, bytes: new Uint8Array(4 * columns) };
      }
    },
    read() {},
    [Symbol.dispose]() {},
  };
  const device = { submit() {}, check() {} } as unknown as Device;
  const controller = new AbortController();
  const source = new TensorSource(wholeOn(device), gguf, reader, {
    signal: controller.signal,
  });
  const timer = setTimeout(() => controller.abort(new Error("enough")));
  const writer = { append() {}, finish() {} };
  await assertRejects(() => source.stream({ name: "w", rows }, columns, writer), Error, "enough");
  clearTimeout(timer);
  assert(read < rows / 2, `${read} of ${rows} chunks were read`);
});
