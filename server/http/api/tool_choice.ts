// The functions of a request and the choice among them, for Ollama's chats and OpenAI's chats and
// responses, of which some wrap a function in "function" and others do not. Pure.

import type { ChatRequest, ModelInfo } from "../../../engine/mod.ts";
import { closed, flag, type Given, list, optional, text } from "../body/schema.ts";
import { HttpError } from "../errors.ts";
import { toTool, type WireFunction } from "./tools.ts";

const named = { type: text, name: text, function: optional(closed({ name: text })) } as const;
const allowed = { mode: text, tools: list(closed(named)) } as const;

/** The members of requests about the choice among tools. */
export const choiceMembers = {
  tool_choice: {
    ...closed({ ...named, ...allowed, allowed_tools: optional(closed(allowed)) }),
    type: ["string", "object", "null"],
  },
  parallel_tool_calls: flag,
} as const;

/** The part of the engine's request that is about tools. */
export type ToolOptions = Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls">;

/** The members of a request about tools. */
export interface ToolsBody {
  model?: Given<string>;
  tool_choice?: unknown;
  parallel_tool_calls?: Given<boolean>;
}

/** A choice that is an object: a tool, or tools that are allowed. */
interface ChoiceObject {
  type?: unknown;
  name?: unknown;
  function?: { name?: unknown };
  allowed_tools?: AllowedTools;
}

interface AllowedTools {
  mode?: unknown;
  tools?: ChoiceObject[];
}

/**
 * Translates the tools and the choice among them.
 *
 * @throws {HttpError} 400 if the model knows no tools, or the choice is none
 */
export function readTools(
  functions: WireFunction[],
  body: ToolsBody,
  { callsTools }: ModelInfo,
): ToolOptions {
  if (functions.length > 0 && !callsTools) {
    throw refusal(`"${body.model}" does not support tools`, "tools");
  }
  const { choice, allowed } = readChoice(body.tool_choice);
  const tools = functions.map(toTool).filter(({ function: { name } }) =>
    allowed?.includes(name) ?? true
  );
  const isNamed = typeof choice === "object";
  if (isNamed && !tools.some((tool) => tool.function.name === choice.name)) {
    throw refusal(`tool_choice: no tool is named "${choice.name}"`, "tool_choice");
  }
  if (tools.length === 0 && choice === "required") {
    throw refusal("tool_choice: required, but there are no tools", "tool_choice");
  }
  if (tools.length === 0) return {};
  return {
    tools,
    ...(choice !== "auto" && { toolChoice: choice }),
    ...(body.parallel_tool_calls === false && { parallelToolCalls: false }),
  };
}

/**
 * Refuses tools that are not functions: others run on OpenAI's servers, or are called with text that is
 * not JSON.
 *
 * @throws {HttpError} 400
 */
export function refuseOtherTools(type: Given<string>, path: string): void {
  if ((type ?? "function") === "function") return;
  throw refusal(
    `${path} is of type "${type}": only tools of type "function" are supported; leave it out`,
    "tools",
  );
}

function readChoice(
  value: unknown,
): { choice: NonNullable<ChatRequest["toolChoice"]>; allowed?: unknown[] } {
  if (value === undefined || value === null) return { choice: "auto" };
  if (value === "auto" || value === "none" || value === "required") return { choice: value };
  const choice: ChoiceObject = typeof value === "object" ? value : {};
  if (choice.type === "allowed_tools") {
    const { mode, tools } = choice.allowed_tools ?? choice as AllowedTools;
    if ((mode === "auto" || mode === "required") && Array.isArray(tools)) {
      return { choice: mode, allowed: tools.map(nameOf) };
    }
  }
  const name = nameOf(choice);
  if (choice.type === "function" && typeof name === "string") return { choice: { name } };
  throw refusal(
    'tool_choice must be "auto", "none", "required", a function or allowed_tools',
    "tool_choice",
  );
}

function refusal(message: string, param: string): HttpError {
  return new HttpError(400, message, param);
}

function nameOf(choice: ChoiceObject): unknown {
  return choice.function?.name ?? choice.name;
}
