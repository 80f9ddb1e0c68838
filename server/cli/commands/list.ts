// `quern list`: the models of the store.

import { connect, type OllamaTag } from "../client/mod.ts";
import { formatBytes, formatRelative, formatTable } from "../terminal/mod.ts";
import type { CliDependencies } from "../dependencies.ts";

/** Prints a table of the models whose name begins with the filter, if there is one. */
export async function list(dependencies: CliDependencies, filter = ""): Promise<number> {
  await using api = await connect(dependencies);
  const { models } = await api.json<{ models: OllamaTag[] }>("/api/tags");
  const now = new Date();
  const rows = models
    .filter(({ name }) => name.toLowerCase().startsWith(filter.toLowerCase()))
    .map((model) => [
      model.name,
      model.digest.slice(0, 12),
      // A remote model takes no room here.
      model.size > 0 ? formatBytes(model.size) : "-",
      formatRelative(new Date(model.modified_at), now),
    ]);
  dependencies.terminal.write(formatTable([["NAME", "ID", "SIZE", "MODIFIED"], ...rows]));
  return 0;
}
