// Answers on their way: one request of /api/chat each, whose text is shown once a frame and kept when
// it is whole, or as far as it came.

import { batch, computed, signal } from "@preact/signals";
import { isAbort, messageOf, stream } from "../api/client.ts";
import { parseExact } from "../api/exact_json.ts";
import { chosenModel, loadedOf, models, refreshLoaded } from "../api/models.ts";
import type { AnswerRecord, TokenLogprob, ToolCall } from "../api/types.ts";
import { text } from "../strings.ts";
import { chatInTab, isInTab } from "../tab/tab.ts";
import { current, update } from "./store.ts";
import {
  type AnswerFacts,
  type Attachment,
  type ChatSettings,
  type Conversation,
  type MessageNode,
  newId,
  pathOf,
  toWire,
  withNode,
} from "./tree.ts";

/** An answer that is being written. */
export interface LiveAnswer {
  id: string;
  content: string;
  thinking: string;
  toolCalls: ToolCall[];
  logprobs: TokenLogprob[];
  phase: "loading" | "queued" | "reading" | "writing";
  ahead: number;
  stop: () => void;
}

/** The answers on their way, by the conversation that they belong to. */
export const live = signal<Record<string, LiveAnswer>>({});

/** The one of the conversation that is shown. */
export const growing = computed(() => live.value[current.value.id]);
/** Whether there is one: it does not change with each frame. */
export const isAnswering = computed(() => growing.value !== undefined);
/** Whose they are, with spaces between: it changes where one begins or ends, and not at each frame. */
export const answeringIds = computed(() => Object.keys(live.value).sort().join(" "));

/** Asks a question, at the end of the path or in the place of another one. */
export async function ask(
  content: string,
  attachments: readonly Attachment[] = [],
  parent: string | null = current.value.leaf,
): Promise<void> {
  const node: MessageNode = {
    id: newId(),
    parent,
    role: "user",
    content,
    created: Date.now(),
    ...(attachments.length > 0 && { attachments: [...attachments] }),
  };
  update(withNode(current.value, node));
  await answer(current.value);
}

/** Gives the results of the calls of an answer. */
export async function giveResults(results: readonly [ToolCall, string][]): Promise<void> {
  let conversation = current.value;
  for (const [call, content] of results) {
    conversation = withNode(conversation, {
      id: newId(),
      parent: conversation.leaf,
      role: "tool",
      content,
      created: Date.now(),
      toolName: call.function.name,
      ...(call.id && { toolCallId: call.id }),
    });
  }
  update(conversation);
  await answer(conversation);
}

/** Answers a message again, beside the answer that there is. */
export async function answerAgain(node: MessageNode): Promise<void> {
  const conversation = { ...current.value, leaf: node.parent };
  update(conversation);
  await answer(conversation);
}

/** Ends the answer of a conversation where it is. */
export function stop(id: string = current.value.id): void {
  live.value[id]?.stop();
}

async function answer(conversation: Conversation): Promise<void> {
  const model = chosenModel.value?.name ?? "";
  const isHere = isInTab(model);
  const abort = new AbortController();
  const id = newId();
  const started = performance.now();
  let state: LiveAnswer = {
    id,
    content: "",
    thinking: "",
    toolCalls: [],
    logprobs: [],
    phase: isHere || loadedOf(model) ? "reading" : "loading",
    ahead: 0,
    stop: () => abort.abort(),
  };
  let firstToken: number | undefined;
  let last: AnswerRecord | undefined;
  let error = "";
  live.value = { ...live.value, [conversation.id]: state };
  try {
    const body = requestOf(conversation, model);
    const { signal } = abort;
    const records = isHere
      ? chatInTab(body, signal)
      : stream<AnswerRecord>("/api/chat", { body, signal });
    for await (const record of records) {
      if (record.done) last = record;
      state = withRecord(state, record);
      if (state.phase === "writing") firstToken ??= (performance.now() - started) / 1000;
      showSoon(conversation.id, state);
    }
  } catch (thrown) {
    if (!isAbort(thrown)) error = messageOf(thrown);
  }
  next.delete(conversation.id);
  const node: MessageNode = {
    id,
    parent: conversation.leaf,
    role: "assistant",
    content: state.content,
    created: Date.now(),
    ...(state.thinking && { thinking: state.thinking }),
    ...(state.toolCalls.length > 0 && { toolCalls: state.toolCalls }),
    ...(state.logprobs.length > 0 && { logprobs: state.logprobs }),
    ...(error && { error }),
    facts: {
      ...factsOf(isHere ? text.tab.named(model) : model, last, firstToken),
      ...droppedOf(conversation, last),
    },
  };
  finish(conversation, node);
  void refreshLoaded();
}

/** Keeps an answer in its conversation, which may have gone on meanwhile, and may not be shown. */
function finish(before: Conversation, node: MessageNode): void {
  const { [before.id]: _, ...others } = live.value;
  const latest = current.value.id === before.id ? current.value : before;
  const whole = withNode(latest, node);
  batch(() => {
    update(latest.leaf === node.parent ? whole : { ...whole, leaf: latest.leaf });
    live.value = others;
  });
}

function withRecord(state: LiveAnswer, record: AnswerRecord): LiveAnswer {
  const { message, logprobs = [], queued_ahead: ahead } = record;
  const content = message?.content ?? "";
  const thinking = message?.thinking ?? "";
  const calls = message?.tool_calls ?? [];
  const isText = content !== "" || thinking !== "" || calls.length > 0;
  return {
    ...state,
    content: state.content + content,
    thinking: state.thinking + thinking,
    toolCalls: calls.length > 0 ? [...state.toolCalls, ...calls] : state.toolCalls,
    logprobs: logprobs.length > 0 ? [...state.logprobs, ...logprobs] : state.logprobs,
    phase: isText || state.phase === "writing"
      ? "writing"
      : ahead !== undefined
      ? "queued"
      : state.phase === "loading"
      ? "loading"
      : "reading",
    ahead: ahead ?? 0,
  };
}

/** The body of the request that answers the path of a conversation. */
export function requestOf(conversation: Conversation, model: string): Record<string, unknown> {
  const { settings } = conversation;
  // A model that sees nothing refuses what has images, and with it all that is asked afterwards; one
  // that hears nothing, sounds.
  const able = models.value?.find(({ name }) => name === model)?.capabilities;
  const senses = {
    sees: able?.includes("vision") ?? true,
    hears: able?.includes("audio") ?? true,
  };
  const system = settings.system ? [{ role: "system", content: settings.system }] : [];
  return {
    model,
    messages: [...system, ...pathOf(conversation).map((node) => toWire(node, senses))],
    stream: true,
    ...askedOf(settings),
  };
}

function askedOf({ think, tools, format, logprobs, options }: ChatSettings) {
  return {
    ...(think && { think: think === "true" ? true : think === "false" ? false : think }),
    ...(tools.trim() && { tools: parseExact(tools) }),
    ...(format.trim() && { format: format.trim() === "json" ? "json" : parseExact(format) }),
    ...(logprobs && { logprobs: true, top_logprobs: 8 }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

/** Which messages were left out: the request has the path of the conversation, after a system prompt. */
function droppedOf(
  conversation: Conversation,
  record: AnswerRecord | undefined,
): Pick<AnswerFacts, "droppedIds"> {
  const first = conversation.settings.system ? 1 : 0;
  const path = pathOf(conversation);
  const droppedIds = (record?.dropped_indexes ?? []).flatMap((index) =>
    path[index - first]?.id ?? []
  );
  return droppedIds.length > 0 ? { droppedIds } : {};
}

function factsOf(
  model: string,
  record: AnswerRecord | undefined,
  firstToken: number | undefined,
): AnswerFacts {
  const { eval_count: tokens = 0, eval_duration: duration = 0 } = record ?? {};
  return {
    model,
    promptTokens: record?.prompt_eval_count ?? 0,
    cachedTokens: record?.prompt_cached_count ?? 0,
    tokens,
    ...(tokens > 1 && duration > 0 && { tokensPerSecond: (tokens - 1) / (duration / 1e9) }),
    ...(firstToken !== undefined && { firstToken }),
    load: (record?.load_duration ?? 0) / 1e9,
    drafted: record?.draft_n ?? 0,
    accepted: record?.draft_accepted ?? 0,
    dropped: record?.dropped_messages ?? 0,
    reason: record?.done_reason ?? "stopped",
  };
}

/** What the next frame shows, by conversation. */
const next = new Map<string, LiveAnswer>();
let isFrameAsked = false;

/** Shows answers at most once a frame; a page in the background draws none, and is served now and then. */
function showSoon(id: string, state: LiveAnswer): void {
  next.set(id, state);
  if (isFrameAsked) return;
  isFrameAsked = true;
  if (document.hidden) setTimeout(showNext, 250);
  else requestAnimationFrame(showNext);
}

function showNext(): void {
  isFrameAsked = false;
  live.value = { ...live.value, ...Object.fromEntries(next) };
  next.clear();
}
