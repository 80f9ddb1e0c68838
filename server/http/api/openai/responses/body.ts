// POST /v1/responses: the body, and what came before it, -> the engine's request. Pure.
// Format: https://platform.openai.com/docs/api-reference/responses/create

import {
  type ChatMessage,
  type ChatRequest,
  type ModelInfo,
  ValueBudget,
} from "../../../../../engine/mod.ts";
import type { ChatTranslation } from "../../count.ts";
import { type MediaReaders, mediaReaders } from "../../media.ts";
import { readTools } from "../../tool_choice.ts";
import { readArguments, readContent } from "../content.ts";
import { refusal } from "../errors.ts";
import type { InputItem, ResponsesBody } from "../schema.ts";
import { readAlternatives, readCommon } from "../translation.ts";
import { compacted, compacting, isCompaction } from "./compaction.ts";
import { conversationOf } from "./kept_items.ts";
import { engineName, functionsOf, unheldFormats } from "./tools.ts";

/** Members that need more than responses to be kept, and what to do instead. */
const NOT_KEPT = {
  prompt: "prompts are not stored; send their text as instructions",
} as const;

/**
 * Translates the body.
 *
 * @param earlier what was said before its input
 * @param skipped what was left out of the body, a sentence each
 * @throws {HttpError} 400 for what cannot be done
 */
export function translateResponse(
  body: ResponsesBody,
  earlier: readonly InputItem[],
  info: ModelInfo,
  skipped: readonly string[] = [],
): ChatTranslation {
  refuse(body, info);
  const { engine, think, around } = readCommon(body, info, { "text.format": body.text?.format });
  const request: ChatRequest = {
    messages: readInput(body, earlier, info),
    ...engine,
    ...think,
    ...readTools(functionsOf(body), body, info),
    ...readAlternatives(tellsLogprobs(body), body.top_logprobs, "top_logprobs"),
    truncate: body.truncation === "auto",
  };
  const warnings = [...around.warnings ?? [], ...skipped, ...unheldFormats(body)];
  return {
    ...around,
    request: isCompaction(body) ? compacting(request) : request,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Whether the answer tells log-probabilities: where that is asked for, or how many. */
function tellsLogprobs({ include, top_logprobs: count }: ResponsesBody): boolean {
  return (count ?? 0) > 0 || (include ?? []).includes("message.output_text.logprobs");
}

function refuse(body: ResponsesBody, { isEmbeddingModel }: ModelInfo): void {
  if (isEmbeddingModel) throw refusal(`"${body.model}" does not support chat`, "model");
  for (const [name, text] of Object.entries(NOT_KEPT)) {
    if (body[name as keyof typeof NOT_KEPT] != null) throw refusal(`${name}: ${text}`, name);
  }
}

// The input of POST /v1/responses as a conversation. Thinking, text and calls of one answer are
// separate items on the wire, and one turn in the engine. Pure.

const ROLES: Record<string, ChatMessage["role"]> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
};

/**
 * The conversation: the instructions, what came earlier, then the input.
 *
 * @throws {HttpError} 400 if there is no input, or an item cannot be taken
 */
function readInput(
  body: ResponsesBody,
  earlier: readonly InputItem[],
  info: ModelInfo,
): ChatMessage[] {
  const { input, instructions } = body;
  const conversation = conversationOf(body);
  const isAsked = conversation !== undefined && earlier.length > 0 && input !== "";
  if (!input?.length && !isAsked) throw refusal("input is required", "input");
  const reader = new InputReader(mediaReaders(body, info));
  if (instructions) reader.messages.push({ role: "system", content: instructions });
  const origin = conversation === undefined ? "previous_response_id" : "conversation";
  for (const item of earlier) reader.add(item, origin);
  if (typeof input === "string") reader.messages.push({ role: "user", content: input });
  else if (input) {
    const items = isCompaction(body) ? input.slice(0, -1) : input;
    for (const [index, item] of items.entries()) reader.add(item, `input[${index}]`);
    const isEmpty = reader.messages.every(({ role }) => role === "system");
    if (isCompaction(body) && isEmpty) throw refusal("input is required", "input");
  }
  return reader.messages;
}

/**
 * Checks items that are to be kept, as far as that needs no model.
 *
 * @param member the name of the member that has them
 * @throws {HttpError} 400 if one cannot be taken
 */
export function checkItems(items: readonly InputItem[], member: string): void {
  const reader = new InputReader(mediaReaders({}, { readsImages: true, hears: true }));
  for (const [index, item] of items.entries()) reader.add(item, `${member}[${index}]`);
}

class InputReader {
  messages: ChatMessage[] = [];
  readonly #read: MediaReaders;
  readonly #budget = new ValueBudget();
  /** Names of the tools that were called, by the call's id. */
  readonly #names = new Map<string, string>();

  constructor(read: MediaReaders) {
    this.#read = read;
  }

  add(item: InputItem, path: string): void {
    const { type = "message" } = item;
    switch (type) {
      case null:
      case "message":
        return this.#addMessage(item, path);
      case "reasoning":
        return this.#addReasoning(item, path);
      case "function_call":
        return this.#addCall(item, path);
      case "custom_tool_call":
        return this.#addCall(
          { ...item, arguments: JSON.stringify({ input: item.input ?? "" }) },
          path,
        );
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#addOutput(item, path);
      case "compaction":
        this.messages = compacted(this.messages, item, path);
        return;
      case "compaction_trigger":
        throw refusal(`${path}: a compaction_trigger is the last item of the input`, path);
      default:
        throw refusal(`${path}: items of type "${type}" are not supported`, path);
    }
  }

  #addMessage({ role, content }: InputItem, path: string): void {
    const known = Object.hasOwn(ROLES, role ?? "") ? ROLES[role!]! : undefined;
    if (!known) {
      throw refusal(`${path}.role must be one of ${Object.keys(ROLES).join(", ")}`, path);
    }
    const said = readContent(content, `${path}.content`, this.#read);
    if (known !== "assistant") this.messages.push({ role: known, ...said });
    else Object.assign(this.#turn(({ content, toolCalls }) => content === "" && !toolCalls), said);
  }

  #addReasoning({ content, summary }: InputItem, path: string): void {
    const text = readContent(content, `${path}.content`, this.#read).content ||
      readContent(summary, `${path}.summary`, this.#read).content;
    if (text === "") return;
    const turn = this.#turn(({ content, toolCalls }) => content === "" && !toolCalls);
    turn.thinking = (turn.thinking ?? "") + text;
  }

  #addCall(item: InputItem, path: string): void {
    const { call_id: id, arguments: text } = item;
    if (!item.name) throw refusal(`${path} lacks "name"`, path);
    const name = engineName(item.name, item.namespace);
    if (id) this.#names.set(id, name);
    const turn = this.#turn(() => true);
    const values = readArguments(text, `${path}.arguments`, this.#budget);
    turn.toolCalls ??= [];
    turn.toolCalls.push({ ...(id && { id }), function: { name, arguments: values } });
  }

  #addOutput({ call_id: id, output }: InputItem, path: string): void {
    const name = this.#names.get(id ?? "");
    this.messages.push({
      role: "tool",
      ...readContent(output, `${path}.output`, this.#read),
      ...(name && { toolName: name }),
      ...(id && { toolCallId: id }),
    });
  }

  /** The assistant's turn that an item belongs to: the last one if it takes it, else a new one. */
  #turn(takes: (turn: ChatMessage) => boolean): ChatMessage {
    const last = this.messages.at(-1);
    if (last?.role === "assistant" && takes(last)) return last;
    const turn: ChatMessage = { role: "assistant", content: "" };
    this.messages.push(turn);
    return turn;
  }
}
