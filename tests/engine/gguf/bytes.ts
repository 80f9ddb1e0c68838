// Headers built byte by byte for the tests of the GGUF reader, and files that hold them.
// Nothing here keeps a header sound: that is what the tests are about.

import { ByteBuilder } from "../../../engine/gguf/writer.ts";
import { type GgufFile, readGguf } from "../../../engine/gguf/mod.ts";

/** Everything before the first key. */
export function header(tensors: number | bigint, pairs: number | bigint, version = 3): ByteBuilder {
  return new ByteBuilder().append(new TextEncoder().encode("GGUF")).uint32(version)
    .uint64(tensors).uint64(pairs);
}

/** An entry of the tensor table. */
export interface Entry {
  name?: string;
  shape?: readonly (number | bigint)[];
  type?: number;
  offset?: number | bigint;
}

/** A header without metadata and with these tensors, then `dataBytes` of zeros at byte 32n. */
export function withTensors(entries: readonly Entry[], dataBytes: number): Uint8Array {
  const builder = header(entries.length, 0);
  for (const { name = "t", shape = [8], type = 0, offset = 0 } of entries) {
    builder.string(name).uint32(shape.length);
    for (const length of shape) builder.uint64(length);
    builder.uint32(type).uint64(offset);
  }
  return builder.align(32).append(new Uint8Array(dataBytes)).bytes;
}

/** Reads a header from a file with these bytes. */
export async function readBytes(bytes: Uint8Array): Promise<GgufFile> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await Deno.writeFile(path, bytes);
    return await readGguf(path);
  } finally {
    await Deno.remove(path);
  }
}

/** A sound file of under 700 bytes with a value of every type and three tensors. */
export function soundFile(): Uint8Array {
  const builder = header(3, 8)
    .string("general.architecture").uint32(8).string("llama")
    .string("general.alignment").uint32(4).uint32(64)
    .string("a.float").uint32(6).number("float32", 0.5)
    .string("a.long").uint32(10).uint64(2n ** 60n)
    .string("a.flag").uint32(7).number("uint8", 1)
    .string("a.numbers").uint32(9).uint32(5).uint64(3).numbers(Int32Array.of(-1, 0, 7))
    .string("a.strings").uint32(9).uint32(8).uint64(3).string("Ġa").string("").string("日本🙂")
    .string("a.nested").uint32(9).uint32(9).uint64(2)
    .uint32(7).uint64(2).append(Uint8Array.of(1, 0)).uint32(8).uint64(1).string("x");
  builder.string("one").uint32(1).uint64(8).uint32(0).uint64(0);
  builder.string("two").uint32(2).uint64(32).uint64(2).uint32(2).uint64(64);
  builder.string("three").uint32(0).uint32(1).uint64(128);
  return builder.align(64).append(new Uint8Array(64 + 64 + 2)).bytes;
}
