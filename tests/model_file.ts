// Model files that tests write: metadata as plain values, which find their GGUF types here.

import { type WritableTensor, type WritableValue, writeGguf } from "../engine/gguf/mod.ts";

/** A value of metadata as tests have it. */
export type PlainValue = WritableValue | number | bigint;

/** Metadata by its keys. */
export type PlainMetadata = Readonly<Record<string, PlainValue>>;

/** Whole numbers become uint32 or int32, others float32. */
function writableValue(value: PlainValue): WritableValue {
  if (typeof value === "bigint") return { uint64: value };
  if (typeof value !== "number") return value;
  if (!Number.isInteger(value)) return { float32: value };
  return value < 0 ? { int32: value } : { uint32: value };
}

/** Writes a file that goes when the process does. */
export async function writeModelFile(
  metadata: PlainMetadata,
  tensors: readonly WritableTensor[],
): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  globalThis.addEventListener("unload", () => Deno.removeSync(path));
  const pairs = Object.entries(metadata).map(([key, value]) => [key, writableValue(value)]);
  await writeGguf(path, Object.fromEntries(pairs), tensors);
  return path;
}
