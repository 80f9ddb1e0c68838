// A model of the server that runs in this tab: the library, which the server gives if it has its npm
// package, loads the model's files by their digests and answers here. It knows nothing of conversations.

import { signal } from "@preact/signals";
import { ask, currentKey, messageOf } from "../api/client.ts";
import { writeExact } from "../api/exact_json.ts";
import { show } from "../api/models.ts";
import type { AnswerRecord, Model, ShownModel, ToolCall } from "../api/types.ts";

const LIBRARY = "/web/library";

/** What of the library is used here. */
interface Library {
  openModelInWorker(path: string, options: Record<string, unknown>): Promise<TabModel>;
  readonly OPTIONS: Readonly<Record<string, { name: string }>>;
}

/** A model of the library. */
interface TabModel {
  readonly device?: string;
  chat(request: Record<string, unknown>): AsyncIterable<ChatEvent>;
  close(): Promise<void>;
}

type ChatEvent =
  | { type: "text" | "thinking"; text: string }
  | { type: "callEnd"; id: string; name: string; arguments: Record<string, unknown> }
  | {
    type: "done";
    reason: string;
    usage: Record<"promptTokens" | "cachedTokens" | "completionTokens", number> & {
      promptMilliseconds: number;
      completionMilliseconds: number;
    };
  }
  | { type: "queued" | "start" | "progress" | "callStart" | "callArguments" };

/** What the tab has, or is about to have. */
export interface TabState {
  /** The name of the model. */
  name: string;
  /** What computes it; missing while it is being loaded. */
  device?: string;
  /** The part that is loaded, from 0 to 1, while it is being loaded. */
  part: number;
  fault?: string;
}

/** The model of this tab; undefined for none. */
export const tab = signal<TabState | undefined>(undefined);

let library: Promise<Library> | undefined;
let running: { model: TabModel; shown: ShownModel } | undefined;

/** Whether a model could run in this tab. `unbuilt`: were the library for pages built on the server. */
export async function offerOf(model: Model): Promise<"run" | "unbuilt" | undefined> {
  const { files = [] } = await show(model);
  const kinds = files.map(({ kind }) => kind);
  // Nothing steers answers in the tab: they would be others than the server's.
  if (!kinds.includes("model") || kinds.includes("control_vector")) return undefined;
  return (await ask<{ built: boolean }>(LIBRARY)).built ? "run" : "unbuilt";
}

/** Loads a model into this tab, in the place of the one before. */
export async function runInTab(model: Model): Promise<void> {
  await leaveTab();
  const { name } = model;
  tab.value = { name, part: 0 };
  try {
    const shown = await show(model);
    const { openModelInWorker } = await (library ??= import(`${LIBRARY}/index.js`));
    const key = currentKey();
    const files = (shown.files ?? []).map(({ kind, digest }, index) => ({
      name: `${index}-${kind}.gguf`,
      kind,
      source: {
        url: new URL(`/api/blobs/${digest}`, location.href).href,
        sha256: digest.replace("sha256:", ""),
        ...(key && { headers: { authorization: `Bearer ${key}` } }),
      },
    }));
    const named = (kind: string) => files.filter((file) => file.kind === kind);
    const [projector] = named("projector");
    const loaded = await openModelInWorker(named("model")[0]!.name, {
      sources: Object.fromEntries(files.map(({ name, source }) => [name, source])),
      adapters: named("adapter").map(({ name: path }) => ({ path })),
      ...(projector && { projector: projector.name }),
      contextLength: Math.min(4096, shown.details.context_length),
      maxSequences: 2,
      onProgress: ({ loaded, total }: { loaded: number; total: number }) => {
        if (tab.value?.name === name) tab.value = { name, part: total > 0 ? loaded / total : 0 };
      },
    });
    running = { model: loaded, shown };
    tab.value = { name, part: 1, device: loaded.device ?? "" };
  } catch (error) {
    library = undefined;
    tab.value = { name, part: 0, fault: messageOf(error) };
  }
}

/** Frees what the tab has. */
export async function leaveTab(): Promise<void> {
  const before = running;
  running = undefined;
  tab.value = undefined;
  await before?.model.close();
}

/** Whether a model answers in this tab. */
export function isInTab(name: string): boolean {
  return running !== undefined && tab.value?.name === name;
}

/** The records that the server would send for a body of /api/chat, from the model of this tab. */
export async function* chatInTab(
  body: Record<string, unknown>,
  signal: AbortSignal,
): AsyncGenerator<AnswerRecord, void> {
  const { model, shown } = running!;
  const { OPTIONS } = await library!;
  const calls: ToolCall[] = [];
  for await (const event of model.chat({ ...requestOf(body, shown, OPTIONS), signal })) {
    if (event.type === "text") yield record({ content: event.text });
    if (event.type === "thinking") yield record({ content: "", thinking: event.text });
    if (event.type === "callEnd") {
      calls.push({ id: event.id, function: { name: event.name, arguments: event.arguments } });
    }
    if (event.type !== "done") continue;
    const { usage, reason } = event;
    yield {
      ...record({ content: "", ...(calls.length > 0 && { tool_calls: calls }) }),
      done: true,
      done_reason: reason,
      prompt_eval_count: usage.promptTokens,
      prompt_cached_count: usage.cachedTokens,
      prompt_eval_duration: usage.promptMilliseconds * 1e6,
      eval_count: usage.completionTokens,
      eval_duration: usage.completionMilliseconds * 1e6,
    };
  }
  signal.throwIfAborted();
}

function record(message: NonNullable<AnswerRecord["message"]>): AnswerRecord {
  return { message, done: false };
}

interface WireMessage {
  role: string;
  content: string;
  images?: string[];
  thinking?: string;
  tool_calls?: ToolCall[];
  tool_name?: string;
  tool_call_id?: string;
}

/** A body of /api/chat as the library has it, with the defaults of the model's Modelfile. */
function requestOf(
  body: Record<string, unknown>,
  { system, messages: turns = [], template, template_language: language, parameters = "" }:
    ShownModel,
  table: Library["OPTIONS"],
): Record<string, unknown> {
  const messages = (body.messages as WireMessage[]).map((message) => {
    const { tool_calls: calls, tool_name: toolName, tool_call_id: toolCallId, ...rest } = message;
    return {
      ...rest,
      ...(calls && { toolCalls: plain(calls) }),
      ...(toolName && { toolName }),
      ...(toolCallId && { toolCallId }),
    };
  });
  if (system && !messages.some(({ role }) => role === "system")) {
    messages.unshift({ role: "system", content: system });
  }
  // The model's own turns follow the system prompt.
  const split = messages.findIndex(({ role }) => role !== "system");
  messages.splice(split < 0 ? messages.length : split, 0, ...turns);
  const asked = { ...defaultsOf(parameters), ...body.options as Record<string, unknown> };
  const keys = new Map(Object.entries(table).map(([key, { name }]) => [name, key]));
  const options = Object.entries(asked).filter(([name]) => keys.has(name))
    .map(([name, value]) => [keys.get(name)!, value]);
  const { format, tools, think } = body;
  return {
    messages,
    ...(language === "go" && { template }),
    ...Object.fromEntries(options),
    ...(tools !== undefined && { tools: plain(tools) }),
    ...(think !== undefined && { think }),
    ...(format !== undefined && {
      format: format === "json" ? format : { schema: plain(format) },
    }),
  };
}

/** Values with JavaScript's numbers, which can be sent to a thread. */
function plain(value: unknown): unknown {
  return JSON.parse(writeExact(value));
}

/** The parameters of a Modelfile, a line each. */
function defaultsOf(parameters: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const line of parameters.split("\n")) {
    const [, name, text] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) continue;
    const value = valueOf(text);
    found[name] = name === "stop" ? [...found.stop as string[] ?? [], value] : value;
  }
  return found;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
