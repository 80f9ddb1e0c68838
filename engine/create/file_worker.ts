// The thread that makes GGUF files, one piece of work in its life. file_work.ts is its client. It
// checks the flag that cancels it at every slice of a tensor.

import { nextTask } from "../async.ts";
import { CancelFlag, type Cancellation } from "../cancellation.ts";
import { packError } from "../error_record.ts";
import {
  readGguf,
  readRawMetadata,
  type TensorInfo,
  TensorReader,
  type WritableMetadata,
  writeGguf,
} from "../gguf/mod.ts";
import type { FileWork, FileWorkOrder, FileWorkReport } from "./file_work.ts";
import { quantizeModel } from "./quantize/mod.ts";
import { convertBin } from "./whisper_bin/mod.ts";
import { convertSafetensors } from "./safetensors/mod.ts";

const thread = globalThis as unknown as DedicatedWorkerGlobalScope;

thread.addEventListener("message", async ({ data }: MessageEvent<FileWorkOrder>) => {
  try {
    await run(data.work, new CancelFlag(data.cancelled));
    report({ kind: "ended" });
  } catch (error) {
    report({ kind: "ended", error: packError(error) });
  }
});

async function run(work: FileWork, signal: CancelFlag): Promise<void> {
  const onProgress = (done: number, total: number) => report({ kind: "progress", done, total });
  if (work.kind === "quantize") await quantizeModel({ ...work, onProgress, signal });
  else if (work.kind === "convert") await convertSafetensors({ ...work, onProgress, signal });
  else if (work.kind === "convert bin") await convertBin({ ...work, onProgress, signal });
  else await joinShards({ ...work, onProgress, signal });
}

function report(message: FileWorkReport): void {
  thread.postMessage(message);
}

// Joins the files of a split model into one GGUF file, because a model of the store is one blob.
// Tensors and metadata are copied byte by byte.

/** The options of joinShards(). */
export interface JoinOptions {
  /** Path of the first shard; the others are in the same folder. */
  readonly from: string;
  /** The file to write. */
  readonly to: string;
  /** Receives the number of bytes of tensors that are done, and of all. */
  onProgress?(done: number, total: number): void;
  /** Cancels the work. */
  readonly signal: Cancellation;
}

/** Keys of split models. */
const SPLIT_KEYS = ["split.no", "split.count", "split.tensors.count"];

/**
 * Joins the files of a split model.
 *
 * @throws {GgufError} if a file is invalid
 */
export async function joinShards({ from, to, onProgress, signal }: JoinOptions): Promise<void> {
  const gguf = await readGguf(from);
  const metadata: Record<string, WritableMetadata[string]> = {};
  for (const [key, value] of await readRawMetadata(gguf.shards[0]!)) {
    if (!SPLIT_KEYS.includes(key)) metadata[key] = value;
  }
  // The writer needs the alignment as a number.
  if ("general.alignment" in metadata) metadata["general.alignment"] = { uint32: gguf.alignment };
  const all = [...gguf.tensors.values()];
  const total = all.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let done = 0;
  using reader = await TensorReader.open(gguf);

  async function* bytesOf(tensor: TensorInfo): AsyncGenerator<Uint8Array> {
    for (const { bytes } of reader.chunks(tensor)) {
      signal.throwIfAborted();
      yield bytes;
      onProgress?.(done += bytes.length, total);
      await nextTask();
    }
  }

  const tensors = all.map((tensor) => {
    const { name, shape, typeName } = tensor;
    return { name, shape, type: typeName, data: () => bytesOf(tensor) };
  });
  await writeGguf(to, metadata, tensors);
}
