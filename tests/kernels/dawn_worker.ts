// The worker of dawn_test.ts: opens Dawn in its own thread, tries it, and says what came out.

import { checkProduct, openDevice } from "../../kernels/mod.ts";

const { postMessage, close } = self as unknown as DedicatedWorkerGlobalScope;

using device = await openDevice({ kind: "dawn" });
const { values, wrong } = await checkProduct(device);
postMessage({ platform: device.profile.platform.name, values, wrong });
close();
