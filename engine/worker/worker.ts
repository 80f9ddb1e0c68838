// The thread of one model. In Deno, waiting for the GPU blocks the thread for some 50 ms at a time;
// here that blocks nobody else, and messages are received in between.

import { loadModel } from "../model/mod.ts";
import { serveModel } from "./service.ts";

serveModel(globalThis as unknown as DedicatedWorkerGlobalScope, loadModel);
