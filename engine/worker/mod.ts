// A model on a thread or in a process of its own, behind messages, so that what keeps it busy keeps
// nobody else.

export { openModelInProcess, openModelInWorker, startWorkerAhead } from "./client.ts";
export { serveModelProcess } from "./model_process.ts";
export type { ProcessOptions } from "./process_host.ts";
