// Examinations of the device in a worker: the client of examine_worker.ts.

import { type DeviceOptions, startWorker, untilRoomForWorker } from "../../kernels/mod.ts";
import { type ErrorRecord, unpackError } from "../error_record.ts";
import { crashOfWorker } from "../errors.ts";
import type { ProofOptions } from "../tuning/mod.ts";
import type { DeviceExamination } from "./examine_device.ts";

const ATTEMPT = "Cannot examine the device";

/** The message to the worker. */
export interface ExaminationRequest {
  options: DeviceOptions;
  proof: ProofOptions | undefined;
}

/** The message from the worker. */
export type ExaminationAnswer = { examination: DeviceExamination } | { error: ErrorRecord };

/**
 * Examines the device that models would be loaded on, while this thread goes on.
 *
 * @throws the errors of examineDevice(); ResourceError if the system has no room for the worker
 */
export async function examineInWorker(
  options: DeviceOptions = {},
  proof?: ProofOptions,
): Promise<DeviceExamination> {
  await untilRoomForWorker();
  const worker = startWorker(new URL("./examine_worker.ts", import.meta.url), ATTEMPT);
  const { promise, resolve, reject } = Promise.withResolvers<DeviceExamination>();
  worker.onmessage = ({ data }: MessageEvent<ExaminationAnswer>) => {
    if ("error" in data) reject(unpackError(data.error));
    else resolve(data.examination);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(crashOfWorker(ATTEMPT, event.message));
  };
  try {
    worker.postMessage({ options, proof } satisfies ExaminationRequest);
    return await promise;
  } finally {
    worker.terminate();
  }
}
