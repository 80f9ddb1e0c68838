// Loads of files that are not what they should be, on a device that only counts: what a load says of
// them, how long it takes to say so, and which tensors and keys it looks at.

import { assemble } from "../../engine/assemble.ts";
import { type GgufFile, noTensorBytes, type TensorBytes } from "../../engine/gguf/mod.ts";
import { EngineError } from "../../engine/mod.ts";
import { describeModel } from "../../engine/inspect.ts";
import { gpuProfile } from "../../engine/memory/mod.ts";
import { viewAsDecoder } from "../../engine/vision/mod.ts";
import { Device } from "../../kernels/mod.ts";

const profile = await gpuProfile();

/** How all models are loaded here. */
export const LOAD = { contextLength: 64, maxSequences: 1, exact: true } as const;

/** What came of a load. */
export interface Trial {
  /** What was wrong; undefined where it loads. */
  readonly error?: string;
  /** Whether the error is one that users are to see, and no defect. */
  readonly isOwn: boolean;
  readonly milliseconds: number;
  /** Names of the tensors whose bytes were read. */
  readonly tensors: ReadonlySet<string>;
}

/** Loads a model of this header, without its weights. */
export async function tryLoad(gguf: GgufFile): Promise<Trial> {
  const tensors = new Set<string>();
  const reader: TensorBytes = {
    ...noTensorBytes,
    chunks(tensor) {
      tensors.add(tensor.name);
      return noTensorBytes.chunks(tensor);
    },
    read(tensor, _start, target) {
      tensors.add(tensor.name);
      target.fill(0);
    },
  };
  using device = Device.dry(profile);
  const started = performance.now();
  const outcome = await load(gguf, device, reader);
  return { ...outcome, milliseconds: performance.now() - started, tensors };
}

async function load(
  file: GgufFile,
  device: Device,
  reader: TensorBytes,
): Promise<Pick<Trial, "error" | "isOwn">> {
  try {
    const gguf = viewAsDecoder(file);
    const openTensors = () => Promise.resolve(reader);
    await assemble(gguf, describeModel(gguf), device, { ...LOAD, openTensors });
    return { isOwn: true };
  } catch (error) {
    if (error instanceof EngineError) return { error: error.message, isOwn: true };
    return { error: error instanceof Error ? error.stack ?? "" : String(error), isOwn: false };
  }
}

/** The header with other metadata. Keys that are set to undefined are missing. */
export function withMetadata(
  gguf: GgufFile,
  changes: Record<string, GgufFile["metadata"][string] | undefined>,
): GgufFile {
  const pairs = Object.entries({ ...gguf.metadata, ...changes });
  const metadata = Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  return { ...gguf, metadata: metadata as GgufFile["metadata"] };
}

/** Keys of the metadata that a load asks for. */
export async function keysRead(gguf: GgufFile): Promise<string[]> {
  const read = new Set<string>();
  const metadata = new Proxy(gguf.metadata, {
    get(target, key) {
      if (typeof key === "string" && key in target) read.add(key);
      return Reflect.get(target, key);
    },
  });
  // A view of the decoder copies what it is given, and so reads everything.
  const device = Device.dry(profile);
  using _ = device;
  const file = { ...gguf, metadata };
  const openTensors = () => Promise.resolve(noTensorBytes);
  await assemble(file, describeModel(file), device, { ...LOAD, openTensors });
  return [...read];
}
