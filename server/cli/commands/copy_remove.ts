// `quern cp SOURCE DESTINATION` and `quern rm MODEL...`: give models further names, and remove models.

import { connect } from "../client/mod.ts";
import { messageOf } from "../../log.ts";
import type { CliDependencies } from "../dependencies.ts";

/** Gives a model a second name; its files are not copied. */
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

/** Removes models; after an error the others are still removed. */
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
