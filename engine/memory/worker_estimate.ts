// Estimates in a worker: the client of estimate_worker.ts. There is one worker for each model whose
// load is planned.

import { startWorker, untilRoomForWorker } from "../../kernels/mod.ts";
import { unpackError } from "../error_record.ts";
import { crashOfWorker, EngineError } from "../errors.ts";
import type { Estimate, FileSource, MemoryEstimate } from "./estimate.ts";
import type { EstimateAnswer, EstimateRequest } from "./estimate_worker.ts";
import { deviceProfiles } from "./devices.ts";

/** Longest that an estimate may take, in milliseconds. The largest models take a second. */
const LONGEST = 30_000;

const ATTEMPT = "Cannot plan the load of the model";

/** Estimates of one model. Disposing of it ends the worker. */
export type DisposableEstimate = Estimate & Disposable;

/** Estimates of one model, whose files are read in a worker. Errors: those of createEstimate(). */
export async function estimateInWorker(source: FileSource): Promise<DisposableEstimate> {
  const profiles = await deviceProfiles();
  await untilRoomForWorker();
  const worker = startWorker(
    new URL("./estimate_worker.ts", import.meta.url),
    ATTEMPT,
  );
  const waiting = new Map<number, PromiseWithResolvers<MemoryEstimate>>();
  const fail = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
  };
  worker.onmessage = ({ data }: MessageEvent<EstimateAnswer>) => {
    const answer = waiting.get(data.id);
    if ("error" in data) answer?.reject(unpackError(data.error));
    else answer?.resolve(data.estimate);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    fail(crashOfWorker(ATTEMPT, event.message));
  };
  let id = 0;
  const estimate: Estimate = async ({ onProgress: _, signal: __, ...options }) => {
    const answer = Promise.withResolvers<MemoryEstimate>();
    const request: EstimateRequest = { id: ++id, source, profiles, options };
    waiting.set(request.id, answer);
    const late = new EngineError(`${ATTEMPT}: no answer within ${LONGEST / 1000} seconds`);
    const timer = setTimeout(fail, LONGEST, late);
    try {
      worker.postMessage(request);
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(request.id);
    }
  };
  return Object.assign(estimate, { [Symbol.dispose]: () => worker.terminate() });
}
