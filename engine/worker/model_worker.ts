// The thread of one model. In Deno, waiting for the GPU blocks the thread for some 50 ms at a time;
// here that blocks nobody else, and messages are received in between.

import { threadScope } from "../../host/mod.ts";
import { startCpuThreadsBy } from "../../kernels/mod.ts";
import "../memory/estimate_worker.ts";
import { loadModel } from "../model/mod.ts";
import { serveModel } from "./service.ts";
import type { ThreadRequest } from "./thread_host.ts";

const scope = threadScope();

startCpuThreadsBy(() => {
  const { port1, port2 } = new MessageChannel();
  const request: ThreadRequest = { kind: "thread", port: port2 };
  scope.postMessage(request, [port2]);
  return port1;
});
serveModel(scope, loadModel);
