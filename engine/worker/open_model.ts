// Opens a model in a worker or in a process of its own, so that the program goes on while the
// device is busy. The result is the model of hosted_model.ts.

import { withWorkerFiles } from "../../kernels/mod.ts";
import { CancelFlag } from "../cancellation.ts";
import { unpackError } from "../error_record.ts";
import { crashOfWorker } from "../errors.ts";
import type { SessionModel } from "../session/mod.ts";
import type { ChatModel, LoadOptions } from "../types/mod.ts";
import { sendableSources } from "../web_files/mod.ts";
import { BlockHost } from "./block_host.ts";
import { closeHost, HostedModel, type Patience } from "./hosted_model.ts";
import { ProcessHost, type ProcessOptions } from "./process_host.ts";
import type { LoadedModel, ModelHost } from "./protocol.ts";
import { takeThread } from "./thread_host.ts";

const PATIENCE: Patience = { close: 3000, cancel: 10_000, step: 60_000 };

/**
 * Loads a GGUF model in a worker. If a call fails, reading its stream throws the error.
 *
 * @param path a file path
 * @throws the errors of loadModel(); EngineError if a file cannot be opened
 */
export async function openModelInWorker(
  path: string,
  options: LoadOptions = {},
): Promise<ChatModel & SessionModel> {
  return await withWorkerFiles(async () => {
    options.signal?.throwIfAborted();
    return await openModelIn(await takeThread(), path, options);
  });
}

/**
 * Loads a GGUF model in a process of its own. That takes some 100 MB and a fraction of a second
 * more than a worker, but closing the model always ends its work and frees its core.
 *
 * @param path a file path
 * @throws the errors of openModelInWorker(); EngineError if the process cannot be started
 */
export async function openModelInProcess(
  path: string,
  { command, ...options }: LoadOptions & ProcessOptions = {},
): Promise<ChatModel & SessionModel> {
  options.signal?.throwIfAborted();
  return await openModelIn(new ProcessHost(command && { command }), path, options);
}

/** Loads a GGUF model in a host that was just started. Errors: those of openModelInWorker(). */
export async function openModelIn(
  host: ModelHost,
  path: string,
  {
    onProgress,
    onBusy = () => {},
    onCrash = () => {},
    signal,
    blockStore,
    tuning,
    proof,
    sources,
    ...plain
  }: LoadOptions = {},
  patience = PATIENCE,
): Promise<HostedModel> {
  const warn = tuning?.warn ?? proof?.warn;
  const options = {
    ...plain,
    ...(tuning && { tuning: withoutWarn(tuning) }),
    ...(proof && { proof: withoutWarn(proof) }),
    ...(sources && { sources: sendableSources(sources) }),
  };
  // Warnings of the worker arrive as one kind of message, whatever they are about.
  const blocks = new BlockHost(host, { ...(warn && { warn }), ...blockStore });
  const closing = new CancelFlag();
  const { promise: loaded, resolve, reject } = Promise.withResolvers<LoadedModel>();
  const gone = Promise.withResolvers<void>();
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  host.listen({
    receive(message) {
      if (message.kind === "progress") onProgress?.(message.progress);
      if (message.kind === "loaded") resolve(message.model);
      if (message.kind === "failed") reject(unpackError(message.error));
      if (message.kind === "closed") gone.resolve();
      blocks.receive(message);
    },
    crash(state) {
      reject(crashOfWorker("Cannot load the model", state));
      gone.resolve();
    },
  });
  try {
    const flags = closing.sent && { closing: closing.sent };
    host.send({ kind: "load", path, options, blocks: blocks.keeping, ...flags });
    return new HostedModel(host, { closing, onBusy, onCrash, patience, blocks }, await loaded);
  } catch (error) {
    blocks[Symbol.dispose]();
    // The worker frees what it has on the GPU by itself, if it is given the time.
    if (signal?.aborted) await closeHost(host, { closing, gone, patience }).catch(onBusy);
    else host.end();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** Options that can be sent. */
function withoutWarn<Options extends { warn?: unknown }>({ warn: _, ...sent }: Options) {
  return sent;
}
