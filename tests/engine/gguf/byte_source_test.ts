// Models read from somewhere else than this machine's files, as a browser reads them: from memory here,
// a few bytes at a time.

import { assertEquals, assertRejects } from "@std/assert";
import { GgufError } from "../../../engine/errors.ts";
import { type ByteSources, readGguf, TensorReader } from "../../../engine/gguf/mod.ts";
import { readBytes, soundFile } from "./bytes.ts";

/** Files in memory, of which a read gives seven bytes at most. Counts those that are open. */
class MemoryFiles implements ByteSources {
  opened = 0;

  constructor(readonly files: Readonly<Record<string, Uint8Array>>) {}

  open(path: string) {
    const bytes = this.files[path];
    if (!bytes) return Promise.reject(new GgufError(path, "file", "it is not there"));
    this.opened++;
    return Promise.resolve({
      size: bytes.length,
      read: (offset: number, target: Uint8Array) => {
        const part = bytes.subarray(offset, offset + Math.min(7, target.length));
        target.set(part);
        return part.length;
      },
      [Symbol.dispose]: () => void this.opened--,
    });
  }

  has(path: string) {
    return Promise.resolve(path in this.files);
  }
}

Deno.test("a model in memory has the header and the tensors that it has as a file", async () => {
  const bytes = soundFile();
  const files = new MemoryFiles({ "a.gguf": bytes });
  const { files: _, path, shards, ...read } = await readGguf("a.gguf", files);
  const { files: __, path: ___, shards: ____, ...expected } = await readBytes(bytes);
  assertEquals(read, expected);
  assertEquals([path, ...shards], ["a.gguf", "a.gguf"]);

  using reader = await TensorReader.open({ files, path, shards, ...read });
  const tensor = read.tensors.get("two")!;
  const target = new Uint8Array(tensor.byteLength);
  reader.read(tensor, 0, target);
  assertEquals(target, bytes.slice(tensor.offset, tensor.offset + tensor.byteLength));
  reader.close();
  assertEquals(files.opened, 0);
});

Deno.test("a file in memory that is not there is told of by its own error", async () => {
  const files = new MemoryFiles({});
  const error = await assertRejects(() => readGguf("b.gguf", files), GgufError);
  assertEquals(error.message.includes("it is not there"), true);
});
