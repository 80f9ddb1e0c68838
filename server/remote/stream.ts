// Streams as servers of models send them: JSON values a line each (Ollama), and server-sent events
// (OpenAI; WHATWG HTML, section 9.2). Ending the iteration closes the connection.

import { reasonOf } from "./client.ts";
import type { RemoteCall } from "./dialect.ts";

/**
 * The values of a stream of JSON lines.
 *
 * @param read makes a value of a line
 * @throws {RemoteError} 502 if a line is no JSON, or the connection breaks
 */
export async function* readJsonLines<T>(
  call: RemoteCall,
  response: Response,
  read: (text: string) => T = JSON.parse,
): AsyncGenerator<T> {
  for await (const line of readLines(call, response)) {
    if (line.trim() !== "") yield parse<T>(call, line, read);
  }
}

/**
 * The values of a stream of server-sent events up to `[DONE]`; of a server that does not stream, the
 * one that it answers with.
 *
 * @throws {RemoteError} as of readJsonLines()
 */
export async function* readEvents<T>(call: RemoteCall, response: Response): AsyncGenerator<T> {
  const lines = readLines(call, response);
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    return yield parse<T>(call, (await Array.fromAsync(lines)).join("\n"));
  }
  let data: string[] = [];
  for await (const line of lines) {
    if (line.startsWith("data:")) data.push(line.slice("data:".length).replace(/^ /, ""));
    if (line !== "" || data.length === 0) continue;
    const text = data.join("\n");
    data = [];
    if (text === "[DONE]") return;
    yield parse<T>(call, text);
  }
}

async function* readLines(
  { client, signal }: RemoteCall,
  response: Response,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop()!;
      yield* lines;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw client.error(502, `the connection broke (${reasonOf(error)})`, { cause: error });
  }
  // The last line, and an empty one to end its event, if the server closed the connection without it.
  if (rest !== "") yield* [rest, ""];
}

function parse<T>(
  { client }: RemoteCall,
  text: string,
  read: (text: string) => T = JSON.parse,
): T {
  try {
    return read(text);
  } catch (error) {
    const state = "it sent something that is no JSON";
    const words = `${state}: ${text.slice(0, 100)}`;
    throw client.error(502, client.inItsWords(words, state), { cause: error });
  }
}
