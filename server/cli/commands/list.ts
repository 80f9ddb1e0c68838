// `quern list`: the models of the store. `quern ps` and `quern stop MODEL`: those that the server at
// OLLAMA_HOST has in memory; without a server there are none, so neither starts one.

import type { CliDependencies } from "../dependencies.ts";
import { ApiError, connect, type OllamaProcess } from "../client/mod.ts";
import { formatBytes, formatRelative, formatTable } from "../terminal/mod.ts";

/** Prints a table of the loaded models. */
export async function ps(dependencies: CliDependencies): Promise<number> {
  await using api = await connect(dependencies, { mayStart: false });
  const { models } = await api.json("/api/ps");
  const now = new Date();
  const rows = models.map((model) => [
    model.name,
    model.digest.slice(0, 12),
    formatBytes(model.size),
    processorOf(model),
    String(model.context_length),
    untilWhen(new Date(model.expires_at), now),
  ]);
  const head = ["NAME", "ID", "SIZE", "PROCESSOR", "CONTEXT", "UNTIL"];
  dependencies.terminal.write(formatTable([head, ...rows]));
  return 0;
}

/** Unloads a model as soon as no request uses it. */
export async function stop(dependencies: CliDependencies, model: string): Promise<number> {
  await using api = await connect(dependencies, { mayStart: false });
  try {
    await api.json("/api/generate", { model, prompt: "", keep_alive: 0, stream: false });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    throw new ApiError(404, `couldn't find model "${model}" to stop`);
  }
  return 0;
}

/** The place of the model: the GPU, or how it is split. */
function processorOf({ size, size_vram }: OllamaProcess): string {
  if (size_vram >= size) return "100% GPU";
  const onCpu = Math.round(100 * (size - size_vram) / size);
  return size_vram === 0 ? "100% CPU" : `${onCpu}%/${100 - onCpu}% CPU/GPU`;
}

function untilWhen(expiry: Date, now: Date): string {
  return expiry <= now ? "Stopping..." : formatRelative(expiry, now);
}

/** Prints a table of the models whose name begins with the filter, if there is one. */
export async function list(dependencies: CliDependencies, filter = ""): Promise<number> {
  await using api = await connect(dependencies);
  const { models } = await api.json("/api/tags");
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
