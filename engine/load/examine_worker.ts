// The thread that examines a device, once in its life: opening one and compiling its kernels takes half
// a second in one go, in which a server would not answer. Its client is worker_examination.ts.

import { packError } from "../error_record.ts";
import { examineDevice } from "./examine_device.ts";
import type { ExaminationAnswer, ExaminationRequest } from "./worker_examination.ts";

/**
 * The part of DedicatedWorkerGlobalScope that is used here. Its own type is missing in programs
 * that import the library without the types of workers.
 */
const thread = globalThis as unknown as EventTarget & { postMessage(message: unknown): void };

thread.addEventListener("message", async (event) => {
  const { options, proof } = (event as MessageEvent<ExaminationRequest>).data;
  const send = (answer: ExaminationAnswer) => thread.postMessage(answer);
  try {
    send({ examination: await examineDevice(options, proof) });
  } catch (error) {
    send({ error: packError(error) });
  }
});
