// Servers of models for the tests of remote models: what they answer is scripted, what they were asked
// is kept.

import { openRemoteModel, type RemoteOptions } from "../../../server/remote/mod.ts";
import type { ChatEvent, ChatModel } from "../../../engine/mod.ts";
import { parseExactJson } from "../../../tokenizer/mod.ts";

/** A request as a server saw it. */
export interface Seen {
  method: string;
  path: string;
  authorization: string | null;
  // deno-lint-ignore no-explicit-any
  body: any;
}

/** What a path answers with. */
export type Answer = (seen: Seen, request: Request) => Response | Promise<Response>;

/** A server that is open as long as the test. */
export interface Upstream extends AsyncDisposable {
  url: string;
  /** Requests in order. */
  seen: Seen[];
  /** The requests of a path. */
  of(path: string): Seen[];
}

/** Serves the paths; others get 404. */
export function serveUpstream(paths: Record<string, Answer>): Upstream {
  const seen: Seen[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { method, headers } = request;
      const path = new URL(request.url).pathname;
      const text = await request.text();
      const body = text === "" ? undefined : parseExactJson(text);
      seen.push({ method, path, authorization: headers.get("authorization"), body });
      return await paths[path]?.(seen.at(-1)!, request) ?? new Response("nothing", { status: 404 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    of: (path) => seen.filter((one) => one.path === path),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A server with Ollama's API whose chats are these records. */
export function serveOllama(records: unknown[], paths: Record<string, Answer> = {}): Upstream {
  const answer = () => streamOf(records.map((record) => `${JSON.stringify(record)}\n`));
  return serveUpstream({
    "/api/version": () => Response.json({ version: "0.1" }),
    "/api/chat": answer,
    "/api/generate": answer,
    ...paths,
  });
}

/** A server with OpenAI's API whose answers are these chunks. */
export function serveOpenAi(chunks: unknown[], paths: Record<string, Answer> = {}): Upstream {
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  const answer = () =>
    streamOf(events.map((data) => `data: ${data}\n\n`), { "content-type": "text/event-stream" });
  return serveUpstream({
    "/v1/models": () =>
      Response.json({
        object: "list",
        data: [{ id: "far/model", created: 1e9, owned_by: "vllm", max_model_len: 4096 }],
      }),
    "/v1/chat/completions": answer,
    "/v1/completions": answer,
    ...paths,
  });
}

/** A chunk with a piece of a message. */
export function delta(piece: Record<string, unknown>, finish: string | null = null) {
  return { choices: [{ index: 0, delta: piece, finish_reason: finish }] };
}

/** A body that comes in pieces which are cut without regard to lines and characters. */
export function streamOf(pieces: string[], headers?: Record<string, string>): Response {
  const bytes = new TextEncoder().encode(pieces.join(""));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
  return new Response(body, { ...(headers && { headers }) });
}

/** A body that says a piece every few milliseconds until nobody reads it any more. */
export function endless(piece: string, onCancel: () => void): Response {
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const say = () => controller.enqueue(new TextEncoder().encode(piece));
      say();
      timer = setInterval(say, 5);
    },
    cancel() {
      clearInterval(timer);
      onCancel();
    },
  });
  return new Response(body);
}

/** Opens a model of a server. */
export async function openAt(
  { url }: { url: string },
  options: RemoteOptions = {},
): Promise<ChatModel> {
  return await openRemoteModel({ host: url, model: "far/model" }, options);
}

/** All events; times, which no test can know, are 0. */
export async function eventsOf(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  return (await Array.fromAsync(events)).map((event) =>
    event.type === "done"
      ? { ...event, usage: { ...event.usage, promptMilliseconds: 0, completionMilliseconds: 0 } }
      : event
  );
}
