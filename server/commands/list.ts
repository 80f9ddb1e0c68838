// `quern list`: the models of the store, read without a server.

import { ModelStore } from "../../engine/mod.ts";
import { messageOf } from "../errors.ts";
import { readSettings } from "../settings.ts";
import { formatBytes, formatRelative, formatTable } from "../terminal/format.ts";
import type { CliDependencies } from "./dependencies.ts";

/** Prints a table of the models whose name begins with the filter, if there is one. */
export async function list(dependencies: CliDependencies, filter = ""): Promise<number> {
  const { inspect, terminal, environment } = dependencies;
  const store = new ModelStore({
    folder: readSettings(environment).models,
    inspect,
    onBroken: (path, error) => terminal.writeError(`Left out: ${path}: ${messageOf(error)}\n`),
  });
  const now = new Date();
  const rows = [["NAME", "ID", "SIZE", "MODIFIED"]];
  for (const entry of await store.list()) {
    if (!entry.name.toLowerCase().startsWith(filter.toLowerCase())) continue;
    const id = (await store.digest(entry)).slice(0, 12);
    rows.push([entry.name, id, formatBytes(entry.size), formatRelative(entry.modified, now)]);
  }
  terminal.write(formatTable(rows));
  return 0;
}
