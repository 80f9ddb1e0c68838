// The thread that makes GGUF files, one piece of work in its life. file_work.ts is its client. It
// checks the flag that cancels it at every slice of a tensor.

import { CancelFlag } from "../cancellation.ts";
import { packError } from "../error_record.ts";
import type { FileWork, FileWorkOrder, FileWorkReport } from "./file_work.ts";
import { joinShards } from "./join_shards.ts";
import { quantizeModel } from "./quantize/mod.ts";
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
  else await joinShards({ ...work, onProgress, signal });
}

function report(message: FileWorkReport): void {
  thread.postMessage(message);
}
