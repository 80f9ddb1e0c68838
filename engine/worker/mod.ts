// A model on a thread or in a process of its own, behind messages, so that what keeps it busy keeps
// nobody else.

export { serveModelProcess } from "./model_process.ts";
export { openModelInProcess, openModelInWorker } from "./open_model.ts";
export type { ProcessOptions } from "./process_host.ts";
export { startWorkerAhead } from "./thread_host.ts";
