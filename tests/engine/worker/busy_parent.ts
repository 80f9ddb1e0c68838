// A program that isolates a model, gets it stuck, says the number of its process, and waits.

import { openModelIn } from "../../../engine/worker/open_model.ts";
import { ProcessHost } from "../../../engine/worker/process_host.ts";
import { until } from "../../until.ts";

const module = new URL("./busy_process.ts", import.meta.url).href;

const command = [Deno.execPath(), "run", "-A", "--no-lock", "--quiet", module];

const host = new ProcessHost({ command });

const model = await openModelIn(host, "any.gguf");

await model.embed(["quick"]);

const begun = await Deno.makeTempFile();

await Deno.remove(begun);

const stuck = model.embed(["stuck", begun]);

await until(() => Deno.stat(begun).then(() => true, () => false));

await Deno.remove(begun);

Deno.stdout.writeSync(new TextEncoder().encode(`${host.pid}\n`));

await stuck;
