// From a conversation to a prompt by a Go template, as in Ollama: at once if the template uses the
// messages, or turn by turn if it only knows a prompt and its answer.

import {
  isJsonObject,
  joinTexts,
  plain,
  RenderBudget,
  taint,
  type Text,
} from "../../tokenizer/mod.ts";
import type { ChatMessage, ChatRequest, Tool, ToolCall } from "../types/mod.ts";
import { refusingLimits } from "./errors.ts";
import { writeJson } from "./json.ts";
import type { GoTemplate } from "./template.ts";
import { type Field, type GoValue, Stringer, Struct, toGoValue } from "./values.ts";

/** A conversation to render. */
export interface GoChat {
  /** The conversation so far, the oldest turn first. */
  messages: readonly ChatMessage[];
  /** Tools that the model may call. Default: none. */
  tools?: readonly Tool[] | undefined;
  /** Whether, and how hard, the model thinks. If missing, templates see that it was not set. */
  think?: ChatRequest["think"] | undefined;
}

/** Text around a gap that the model fills. */
export interface GoFillInMiddle {
  /** Text before the gap. */
  prompt: string;
  /** Text after the gap. */
  suffix: string;
  /** See GoChat. */
  think?: ChatRequest["think"] | undefined;
}

/** The prompt of a conversation. Errors: GoTemplateError. */
export function renderGoChat(template: GoTemplate, chat: GoChat): string {
  return plain(renderGoChatText(template, chat, new RenderBudget()));
}

/**
 * The prompt of a conversation, with the texts of messages and tools marked as data.
 *
 * @param budget shared with other renderings
 */
export function renderGoChatText(template: GoTemplate, chat: GoChat, budget: RenderBudget): Text {
  return budget.run(() => refusingLimits(() => renderConversation(template, chat)));
}

function renderConversation(template: GoTemplate, chat: GoChat): Text {
  const messages = mergeNeighbors(chat.messages);
  const thinking = thinkingValues(chat.think);
  if (!template.fields.has("Messages")) return renderTurns(template, messages, thinking);
  const system = chat.messages.filter(({ role }) => role === "system");
  return template.renderText({
    System: taint(system.map(({ content }) => content).join("\n\n")),
    Messages: toGoMessages(messages),
    Tools: chat.tools?.length ? toGoTools(chat.tools) : null,
    Response: "",
    ...thinking,
  });
}

/** The prompt for filling a gap, by a template that uses `.Suffix`. Errors: GoTemplateError. */
export function renderGoFillInMiddle(template: GoTemplate, fillInMiddle: GoFillInMiddle): string {
  return template.render({
    Prompt: taint(fillInMiddle.prompt),
    Suffix: taint(fillInMiddle.suffix),
    Response: "",
    ...thinkingValues(fillInMiddle.think),
  });
}

/** Renders each question with its answer separately, the last one up to the answer. */
function renderTurns(
  template: GoTemplate,
  messages: readonly ChatMessage[],
  thinking: Readonly<Record<string, GoValue>>,
): Text {
  const none = { System: "", Prompt: "", Response: "" };
  const texts: Text[] = [];
  let turn = none;
  const values = () => ({
    System: taint(turn.System),
    Prompt: taint(turn.Prompt),
    Response: taint(turn.Response),
    ...thinking,
  });
  const finish = () => {
    texts.push(template.renderText(values()));
    turn = none;
  };
  for (const { role, content } of messages) {
    if (role === "system") {
      if (turn.Prompt !== "" || turn.Response !== "") finish();
      turn = { ...turn, System: content };
    } else if (role === "user") {
      if (turn.Response !== "") finish();
      turn = { ...turn, Prompt: content };
    } else if (role === "assistant") {
      turn = { ...turn, Response: joinParagraphs(turn.Response, content) };
    }
  }
  return joinTexts([...texts, template.renderPrompt(values())]);
}

/**
 * The messages with neighbours of one role joined, as in Ollama, but without loss: results of tools
 * stay apart, and so do messages of an assistant whose parts would come in another order.
 */
function mergeNeighbors(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    const isJoined = last?.role === message.role && message.role !== "tool" &&
      (partsOf(last).at(-1) ?? 0) <= (partsOf(message)[0] ?? Infinity);
    if (isJoined) merged[merged.length - 1] = join(last, message);
    else merged.push(message);
  }
  return merged;
}

/** The parts that a message has, as numbers in the order in which templates show them. */
function partsOf({ thinking, content, toolCalls }: ChatMessage): number[] {
  return [thinking, content, toolCalls?.length].flatMap((part, place) => part ? [place] : []);
}

function join(first: ChatMessage, second: ChatMessage): ChatMessage {
  const thinking = joinParagraphs(first.thinking ?? "", second.thinking ?? "");
  const toolCalls = [...first.toolCalls ?? [], ...second.toolCalls ?? []];
  return {
    role: first.role,
    content: joinParagraphs(first.content, second.content),
    ...thinking !== "" && { thinking },
    ...toolCalls.length > 0 && { toolCalls },
  };
}

function joinParagraphs(...texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** The values under Ollama's names. Thinking without a level has the level medium. */
function thinkingValues(think: ChatRequest["think"] | undefined): Record<string, GoValue> {
  return {
    Think: think !== undefined && think !== false,
    ThinkLevel: think === true ? "medium" : think || "",
    IsThinkSet: think !== undefined,
  };
}

// A conversation in the types that Ollama gives its templates: structs with Go's names, tools with
// their fields in Ollama's order and the properties of their parameters in alphabetical order.
// Defined by the types of Ollama's packages api and template.

/** A nil slice, which is null in JSON. */
const NO_ITEMS = new Stringer([], "[]", null);

/** The messages as `.Messages`. */
function toGoMessages(messages: readonly ChatMessage[]): GoValue {
  return messages.map((message) =>
    goStruct({
      // Roles count as the template's words, because templates make marks of them.
      Role: message.role,
      Content: taint(message.content),
      Thinking: taint(message.thinking ?? ""),
      Images: NO_ITEMS,
      ToolCalls: message.toolCalls?.map(callStruct) ?? NO_ITEMS,
      ToolName: taint(message.toolName ?? ""),
      ToolCallID: taint(message.toolCallId ?? ""),
    })
  );
}

function callStruct({ id, function: { name, arguments: given } }: ToolCall, index: number): Struct {
  const called = goStruct({
    Index: index,
    Name: taint(name),
    Arguments: withJson(toGoValue(given)),
  });
  return goStruct({ ID: taint(id ?? ""), Function: called });
}

/** The tools as `.Tools`: all together, each tool and its parts print as JSON. */
function toGoTools(tools: readonly Tool[]): GoValue {
  return withJson(tools.map((tool) => withJson(toolStruct(tool))));
}

function toolStruct(tool: Tool): Struct {
  const { type, function: offered, ...others } = tool;
  const { name, description, parameters, ...functionOthers } = offered;
  return new Struct([
    field("Type", "type", type),
    field(
      "Function",
      "function",
      withJson(
        new Struct([
          field("Name", "name", taint(name)),
          field("Description", "description", taint(description ?? "")),
          field("Parameters", "parameters", withJson(parametersStruct(parameters ?? {}))),
          ...otherFields(functionOthers),
        ]),
      ),
    ),
    ...otherFields(others),
  ]);
}

type Schema = Readonly<Record<string, unknown>>;

function parametersStruct(parameters: Schema): Struct {
  const { type, $defs, items, required, properties, ...others } = parameters;
  return new Struct([
    field("Type", "type", toGoValue(type ?? "")),
    optional("Defs", "$defs", toGoValue($defs)),
    optional("Items", "items", toGoValue(items)),
    optional("Required", "required", toGoValue(required) ?? NO_ITEMS),
    field(
      "Properties",
      "properties",
      withJson(isJsonObject(properties) ? sorted(properties) : null),
    ),
    ...otherFields(others),
  ]);
}

/** Properties in alphabetical order, like those of a function. */
function sorted(properties: Schema): GoValue {
  const entries = Object.entries(properties).sort(([a], [b]) => a < b ? -1 : 1);
  return new Map(entries.map(([name, property]) => [name, propertyStruct(property)]));
}

function propertyStruct(property: unknown): GoValue {
  if (!isJsonObject(property)) return toGoValue(property);
  const { anyOf, type, items, description, enum: values, properties, required, ...others } =
    property;
  return new Struct([
    optional("AnyOf", "anyOf", Array.isArray(anyOf) ? anyOf.map(propertyStruct) : NO_ITEMS),
    optional("Type", "type", propertyType(type)),
    optional("Items", "items", toGoValue(items)),
    optional("Description", "description", toGoValue(description ?? "")),
    optional("Enum", "enum", toGoValue(values) ?? NO_ITEMS),
    optional("Properties", "properties", isJsonObject(properties) ? inOrder(properties) : null),
    optional("Required", "required", toGoValue(required) ?? NO_ITEMS),
    ...otherFields(others),
  ]);
}

/** Properties in their own order, like those within others. */
function inOrder(properties: Schema): GoValue {
  return new Map(
    Object.entries(properties).map(([name, property]) => [name, propertyStruct(property)]),
  );
}

/** A list of types, which prints as the type if it has only one. */
function propertyType(type: unknown): GoValue {
  if (type === undefined) return new Stringer([], "", null);
  const types = (Array.isArray(type) ? type : [type]).map((one): Text => taint(String(one)));
  return types.length === 1
    ? new Stringer(types, types[0]!, types[0]!)
    : new Stringer(types, taint(`[${types.map(plain).join(" ")}]`));
}

/** Keywords that Ollama's types lack. JSON contains them, too, after the known ones. */
function otherFields(others: Schema): Field[] {
  return Object.entries(others).map(([key, value]) => field(key, taint(key), toGoValue(value)));
}

function withJson(value: GoValue): GoValue {
  return new Stringer(value, value === null ? "{}" : writeJson(value));
}

function goStruct(values: Readonly<Record<string, GoValue>>): Struct {
  return new Struct(Object.entries(values).map(([name, value]) => field(name, name, value)));
}

function field(name: string, key: Text, value: GoValue): Field {
  return { name, key, value };
}

function optional(name: string, key: string, value: GoValue): Field {
  return { name, key, value, omitsEmpty: true };
}
