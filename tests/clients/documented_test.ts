// docs/clients.md lists what is tried, with the versions.

import { ok as assert } from "node:assert";
import { PROJECT_ROOT } from "../source_files.ts";
import { agentClients } from "./agents.ts";
import { libraries } from "./libraries.ts";
import { promptfoo } from "./promptfoo.ts";
import { pythonLibraries } from "./python_libraries.ts";

Deno.test("the documents list every client that is tried, with its versions", async () => {
  const page = await Deno.readTextFile(new URL("docs/clients.md", PROJECT_ROOT));
  for (const { name, packages } of [...libraries, promptfoo, ...agentClients, ...pythonLibraries]) {
    for (const entry of packages) assert(page.includes(`\`${entry}\``), `${name}: ${entry}`);
  }
});
