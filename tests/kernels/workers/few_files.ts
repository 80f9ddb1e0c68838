// Starts a worker where there are as many free files as the argument says, and prints what came of it.

import { ResourceError } from "../../../kernels/errors.ts";
import { startWorker } from "../../../kernels/workers/start_worker.ts";
import { countFreeFiles } from "../../../host/mod.ts";

const free = Number(Deno.args[0]);
const taken: Deno.FsFile[] = [];
while (countFreeFiles(free + 1) > free) taken.push(Deno.openSync("/dev/null"));
let result: string;
try {
  const worker = startWorker(new URL("one_word.ts", import.meta.url), "Cannot work");
  result = await new Promise<string>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(`failed: ${event.message}`);
    };
  });
} catch (error) {
  if (!(error instanceof ResourceError)) throw error;
  result = error.message;
}
for (const file of taken) file.close();
Deno.stdout.writeSync(new TextEncoder().encode(result));
Deno.exit();
