// The process of a model whose worker is busy_worker.ts.

globalThis.Worker = class extends Worker {
  constructor(_: string | URL, options?: WorkerOptions) {
    super(new URL("./busy_worker.ts", import.meta.url), options);
  }
};

const { serveModelProcess } = await import("../../../engine/worker/model_process.ts");

await serveModelProcess();
