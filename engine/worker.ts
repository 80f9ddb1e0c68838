// The thread of one model: loads it on a device of its own and answers the calls of its client
// (worker_client.ts) in the words of worker_protocol.ts. In Deno the GPU blocks the thread that
// waits for it, for some 50 ms at a time; here it blocks nobody else, and calls are seen in between.

import { packError } from "./error_record.ts";
import { loadModel, type Model } from "./model.ts";
import type { ChatRequest, GenerateRequest } from "./types.ts";
import type { Method, ToClient, ToWorker } from "./worker_protocol.ts";

type LoadMessage = Extract<ToWorker, { kind: "load" }>;
type CallMessage = Extract<ToWorker, { kind: "call" }>;

const thread = globalThis as unknown as DedicatedWorkerGlobalScope;
const running = new Map<number, AbortController>();
let model: Model;

thread.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => receive(data));

async function receive(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case "load":
      return await load(message);
    case "call":
      return await answer(message);
    case "cancel":
      return running.get(message.id)?.abort();
    case "close":
      await model.close();
      return send({ kind: "closed" });
  }
}

async function load({ path, options }: LoadMessage): Promise<void> {
  try {
    model = await loadModel(path, {
      ...options,
      onProgress: (progress) => send({ kind: "progress", progress }),
    });
    const { info, contextLength, memory } = model;
    send({ kind: "loaded", model: { info, contextLength, memory } });
  } catch (error) {
    send({ kind: "failed", error: packError(error) });
  }
}

async function answer({ id, method, request }: CallMessage): Promise<void> {
  const abort = new AbortController();
  running.set(id, abort);
  try {
    for await (const event of run(method, request, abort.signal)) {
      send({ kind: "event", id, event });
    }
    send({ kind: "end", id });
  } catch (error) {
    send({ kind: "end", id, error: packError(error) });
  } finally {
    running.delete(id);
  }
}

async function* run(method: Method, request: unknown, signal: AbortSignal) {
  if (method === "generate") yield* model.generate({ ...request as GenerateRequest, signal });
  else if (method === "chat") yield* model.chat({ ...request as ChatRequest, signal });
  else yield await model.renderChat(request as ChatRequest);
}

function send(message: ToClient): void {
  thread.postMessage(message);
}
