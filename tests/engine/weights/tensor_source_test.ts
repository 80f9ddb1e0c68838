// Tensors that are streamed to a device: how soon an abort ends that, and how much is on the way.

import type { Device } from "../../../kernels/mod.ts";
import type { GgufFile, TensorBytes, TensorInfo } from "../../../engine/gguf/mod.ts";
import { TensorSource, wholeOn } from "../../../engine/weights/tensor_source.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";

/** A file with a tensor "w". */
function fileOf(columns: number, rows: number): GgufFile {
  const tensor: TensorInfo = {
    ...{ name: "w", shape: [columns, rows], type: 0, typeName: "F32", shard: 0, offset: 0 },
    byteLength: 4 * columns * rows,
  };
  return { path: "w.gguf", tensors: new Map([["w", tensor]]) } as unknown as GgufFile;
}

Deno.test("an abort by a timer ends a tensor in its midst, although nothing waits for the device", async () => {
  const [columns, rows] = [32, 100];
  const gguf = fileOf(columns, rows);
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

Deno.test("at most 64 MiB are on the way to a device, and what follows does not wait for all of them", async () => {
  const MIB = 2 ** 20;
  const [columns, rows] = [MIB / 4, 320];
  const bytes = new Uint8Array(MIB);
  const reader: TensorBytes = {
    *chunks() {
      for (let row = 0; row < rows; row++) yield { offset: row * MIB, bytes };
    },
    read() {},
    [Symbol.dispose]() {},
  };
  let [written, done, most, least] = [0, 0, 0, Infinity];
  const device = {
    submit() {},
    check() {},
    idle: () => {
      const until = written;
      return new Promise<void>((resolve) =>
        setTimeout(() => {
          done = until;
          least = Math.min(least, written - done);
          resolve();
        }, 2)
      );
    },
  } as unknown as Device;
  const writer = {
    append({ length }: Uint8Array) {
      written += length;
      most = Math.max(most, written - done);
    },
    finish() {},
  };
  const source = new TensorSource(wholeOn(device), fileOf(columns, rows), reader);
  await source.stream({ name: "w", rows }, columns, writer);
  assertEquals(written, rows * MIB);
  assert(most <= 64 * MIB, `${most / MIB} MiB were on the way`);
  assert(least > 0, "the device had nothing to do");
});

Deno.test("threads of a device read what they can of a tensor, and the rest is appended", async () => {
  const [columns, rows] = [2 ** 18, 100]; // rows of 1 MiB
  const rowBytes = 4 * columns;
  for (const most of [0, 32, 96, Infinity]) {
    const taken: [string, first: number, count: number][] = [];
    let done = 0;
    const take = (how: string, offset: number, bytes: number) => {
      taken.push([how, offset / rowBytes, bytes / rowBytes]);
      done += bytes / rowBytes;
    };
    const reader: TensorBytes = {
      *chunks(_, start = 0, end = 0) {
        if (start < end) yield { offset: start, bytes: new Uint8Array(end - start) };
      },
      fileOf: (_, start) => ({ path: "w.gguf", stamp: "", offset: start }),
      read() {},
      [Symbol.dispose]() {},
    };
    const writer = {
      append: ({ length }: Uint8Array) => take("append", done * rowBytes, length),
      read({ offset }: { offset: number }, count: number) {
        if (done + count > most) return false;
        take("read", offset, count * rowBytes);
        return true;
      },
      finish() {},
    };
    const device = { submit() {}, check() {}, idle: () => Promise.resolve() } as unknown as Device;
    const progress: number[] = [];
    const source = new TensorSource(wholeOn(device), fileOf(columns, rows), reader, {
      onProgress: ({ loaded }) => progress.push(loaded / rowBytes),
    });
    await source.stream({ name: "w", rows }, columns, writer);
    const pieces = [["read", 0, 32], ["read", 32, 32], ["read", 64, 32], ["read", 96, 4]];
    const read = pieces.filter(([, first, count]) => Number(first) + Number(count) <= most);
    const from = 32 * read.length;
    assertEquals(taken, from < rows ? [...read, ["append", from, rows - from]] : read);
    assertEquals(progress.at(-1), rows);
  }
});
