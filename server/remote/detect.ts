// Which API a server speaks, found by asking it. Servers with both (Quern, and Ollama itself) are
// asked in Ollama's, which says more; an address that ends in /v1 is one of OpenAI's.

import type { RemoteClient } from "./client.ts";
import type { RemoteApi } from "./dialect.ts";

/** Statuses that do not tell whether a path exists; further requests would fail as well. */
const FAILURES = new Set([401, 403, 429, 502, 503, 504]);
/** Statuses of paths that do not exist; some servers answer 501 for a method that they do not know. */
const ABSENT = new Set([404, 405, 501]);

/**
 * The API of a server.
 *
 * @throws {RemoteError} if it cannot be asked
 */
export async function detectApi(client: RemoteClient, signal: AbortSignal): Promise<RemoteApi> {
  const version = await look(client, "/api/version", signal);
  if (typeof version?.version === "string") return "ollama";
  const models = await look(client, "/v1/models", signal);
  if (Array.isArray(models?.data)) return "openai";
  const chat = await client.send("/api/chat", { body: {}, signal });
  await chat.body?.cancel();
  return ABSENT.has(chat.status) ? "openai" : "ollama";
}

async function look(
  client: RemoteClient,
  path: string,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const response = await client.send(path, { signal });
  if (FAILURES.has(response.status)) throw await client.refusal(response);
  const text = await response.text();
  try {
    return response.ok ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
