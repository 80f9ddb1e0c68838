// A process that pulls a model and is made to be killed: FOLDER NAME. Prints "done" at the end.

import { pullModel } from "../../../server/registry/mod.ts";
import { openStore, QUICK } from "./fixtures.ts";

const [folder = "", name = ""] = Deno.args;
const signal = new AbortController().signal;
for await (
  const _ of pullModel(openStore(folder), name, { insecure: true, signal, tuning: QUICK })
) {
  // The records are of no use here.
}
await Deno.stdout.write(new TextEncoder().encode("done"));
