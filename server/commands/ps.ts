// `quern ps`: the models that the server at OLLAMA_HOST has in memory.

import { clientUrl } from "../host.ts";
import { readSettings } from "../settings.ts";
import { formatBytes, formatRelative, formatTable } from "../terminal/format.ts";
import type { OllamaProcess } from "../wire/ollama_types.ts";
import type { CliDependencies } from "./dependencies.ts";

/** Prints a table of the loaded models. */
export async function ps(dependencies: CliDependencies): Promise<number> {
  const { terminal, environment } = dependencies;
  const { host, apiKey } = readSettings(environment);
  const models = await ask(dependencies, clientUrl(host), apiKey);
  const now = new Date();
  const rows = models.map((model) => [
    model.name,
    model.digest.slice(0, 12),
    formatBytes(model.size),
    "100% GPU",
    String(model.context_length),
    formatRelative(new Date(model.expires_at), now),
  ]);
  terminal.write(formatTable([["NAME", "ID", "SIZE", "PROCESSOR", "CONTEXT", "UNTIL"], ...rows]));
  return 0;
}

async function ask(
  { fetch }: CliDependencies,
  url: string,
  apiKey: string | undefined,
): Promise<OllamaProcess[]> {
  const headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  let response: Response;
  try {
    response = await fetch(`${url}/api/ps`, { headers });
  } catch {
    throw new Error(`Cannot reach a server at ${url}: start one with \`quern serve\``);
  }
  if (!response.ok) throw new Error(`Cannot list models: ${url} answered ${response.status}`);
  return (await response.json()).models;
}
