// The thread of one model. In Deno the GPU blocks the thread that waits for it, for some 50 ms at a
// time; here it blocks nobody else, and calls are seen in between.

import { loadModel } from "../model/mod.ts";
import { serveModel } from "./service.ts";

serveModel(globalThis as unknown as DedicatedWorkerGlobalScope, loadModel);
