// A process that keeps responses until it is killed: FOLDER. Prints the id of each that is kept.

import { ResponseStore } from "../../../server/http/response_store.ts";

const [folder = ""] = Deno.args;
const store = new ResponseStore({ folder, count: 20, bytes: 1e9, age: Infinity, warn() {} });
const content = new TextEncoder().encode("x".repeat(300_000));
for (;;) {
  const id = ResponseStore.newId();
  if (await store.put(id, "", content)) Deno.stdout.writeSync(new TextEncoder().encode(`${id}\n`));
}
