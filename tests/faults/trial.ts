// Loads of files that are not what they should be, on a device that only counts: what a load says of
// them, how long it takes to say so, and which tensors and keys it looks at.

import { assemble } from "../../engine/load/assemble.ts";
import { type GgufFile, noTensorBytes, type TensorBytes } from "../../engine/gguf/mod.ts";
import { EngineError } from "../../engine/mod.ts";
import { describeModel } from "../../engine/load/inspect.ts";
import { gpuProfile } from "../../engine/memory/mod.ts";
import { wholeOn } from "../../engine/weights/mod.ts";
import { loadImageEncoder, readVision, viewAsDecoder } from "../../engine/vision/mod.ts";
import { type Device, openDryDevice } from "../../kernels/mod.ts";

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

/** Loads a file of this header on a device. */
type Load = (
  gguf: GgufFile,
  device: Device,
  openTensors: () => Promise<TensorBytes>,
) => Promise<void>;

/** Loads a model of this header, without its weights. */
export function tryLoad(gguf: GgufFile): Promise<Trial> {
  return tryWith(gguf, async (file, device, openTensors) => {
    const decoder = viewAsDecoder(file);
    await assemble(decoder, describeModel(decoder), wholeOn(device), { ...LOAD, openTensors });
  });
}

/** Loads the image encoder of a file of this header, without its weights. */
export function tryEncoder(gguf: GgufFile): Promise<Trial> {
  return tryWith(gguf, async (file, device, openTensors) => {
    readVision(file);
    using _ = await loadImageEncoder(file, device, { openTensors });
  });
}

async function tryWith(gguf: GgufFile, load: Load): Promise<Trial> {
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
  using device = openDryDevice(profile);
  const started = performance.now();
  const outcome = await outcomeOf(load(gguf, device, () => Promise.resolve(reader)));
  return { ...outcome, milliseconds: performance.now() - started, tensors };
}

async function outcomeOf(load: Promise<void>): Promise<Pick<Trial, "error" | "isOwn">> {
  try {
    await load;
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

/** Keys of the metadata that a load asks for. @param load of this header, or of one like it */
export async function keysRead(
  gguf: GgufFile,
  load: (gguf: GgufFile) => Promise<Trial> = tryLoad,
): Promise<string[]> {
  const read = new Set<string>();
  const metadata = new Proxy(gguf.metadata, {
    get(target, key) {
      if (typeof key === "string" && key in target) read.add(key);
      return Reflect.get(target, key);
    },
  });
  await load({ ...gguf, metadata });
  return [...read];
}
