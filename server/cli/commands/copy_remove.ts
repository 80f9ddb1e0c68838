// `quern cp SOURCE DESTINATION` and `quern rm MODEL...`: names of the store given and taken away.

import { connect } from "../client/mod.ts";
import { messageOf } from "../../log.ts";
import type { CliDependencies } from "../dependencies.ts";

/** Gives a model a second name, which takes no second room. */
export async function copy(
  dependencies: CliDependencies,
  source: string,
  destination: string,
): Promise<number> {
  await using api = await connect(dependencies);
  await api.json("/api/copy", { source, destination });
  dependencies.terminal.write(`copied '${source}' to '${destination}'\n`);
  return 0;
}

/** Removes models; one that fails does not keep the others. */
export async function remove(dependencies: CliDependencies, models: string[]): Promise<number> {
  const { terminal } = dependencies;
  await using api = await connect(dependencies);
  let exitCode = 0;
  for (const model of models) {
    try {
      await api.json("/api/delete", { model }, { method: "DELETE" });
      terminal.write(`deleted '${model}'\n`);
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      terminal.writeError(`Error: ${messageOf(error)}\n`);
      exitCode = 1;
    }
  }
  return exitCode;
}
