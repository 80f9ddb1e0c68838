// Models on threads or in processes of their own, used by messages, so that a busy model does not
// block the program.

export { serveModelProcess } from "./model_process.ts";
export { openModelInProcess, openModelInWorker } from "./open_model.ts";
export type { ProcessOptions } from "./process_host.ts";
export { estimateAhead, startWorkerAhead } from "./thread_host.ts";
