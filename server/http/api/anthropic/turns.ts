// The conversation of a request -> the engine's turns. Each message becomes the tool results in it,
// then its text. Consecutive turns of one role are combined, as Anthropic does. Instructions in the
// middle of a conversation become a user's turn for the many templates that refuse them there or
// drop them.

import type { ChatMessage, ModelInfo, ToolCall } from "../../../../engine/mod.ts";
import { HttpError } from "../../errors.ts";
import { toEngineId } from "./tools.ts";
import { composeContent, type ContentPiece } from "../../../text/image_mark.ts";
import { mediaReaders, type ReadFile } from "../media.ts";
import { joinTexts, readBlock, readContent } from "./text.ts";
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest } from "./schema.ts";

/**
 * A line that Claude Code puts first and changes with every request, so that no prefix would be
 * cached.
 */
const BILLING_LINE = /^x-anthropic-billing-header:.*\n?/;

/**
 * Reads `system` and `messages`.
 *
 * @throws {HttpError} 400 for what cannot be shown to the model
 */
export function toTurns(body: AnthropicRequest, info: ModelInfo): ChatMessage[] {
  const { system, messages } = body;
  const { image: readImage } = mediaReaders(body, info);
  const reader = new TurnReader(readImage);
  const turns = (messages ?? []).flatMap((message, index) => {
    return reader.read(message, `messages[${index}]`);
  });
  const instructions = readContent(withoutBilling(system), "system", readImage);
  if (instructions.content !== "") turns.unshift({ role: "system", ...instructions });
  refuseTrailingSpace(turns.at(-1));
  return combineTurns(turns);
}

/**
 * Refuses a beginning of the answer that ends with white space, in Anthropic's words: the token that
 * would have followed has the space at its beginning.
 */
function refuseTrailingSpace(last: ChatMessage | undefined): void {
  if (last?.role !== "assistant" || last.toolCalls || !/\s$/.test(last.content)) return;
  throw new HttpError(
    400,
    "messages: final assistant content cannot end with trailing whitespace",
    "messages",
  );
}

/** Combines consecutive turns of one role; results of tools stay apart. */
function combineTurns(turns: readonly ChatMessage[]): ChatMessage[] {
  const combined: ChatMessage[] = [];
  for (const turn of turns) {
    const last = combined.at(-1);
    if (last?.role !== turn.role || turn.role === "tool") combined.push(turn);
    else combined[combined.length - 1] = combine(last, turn);
  }
  return combined;
}

function combine(first: ChatMessage, second: ChatMessage): ChatMessage {
  const thinking = joinTexts([first.thinking ?? "", second.thinking ?? ""]);
  const toolCalls = [...first.toolCalls ?? [], ...second.toolCalls ?? []];
  const images = [...first.images ?? [], ...second.images ?? []];
  return {
    role: first.role,
    content: joinTexts([first.content, second.content]),
    ...(images.length > 0 && { images }),
    ...(thinking !== "" && { thinking }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

function withoutBilling(system: AnthropicRequest["system"]): AnthropicRequest["system"] {
  if (typeof system === "string") return system.replace(BILLING_LINE, "");
  return system?.map((block) => {
    return typeof block.text === "string"
      ? { ...block, text: block.text.replace(BILLING_LINE, "") }
      : block;
  });
}

/** Reads messages in order, and remembers which calls there were. */
class TurnReader {
  readonly #readImage: ReadFile;
  /** Names of the tools that were called, by the ids of the calls. */
  readonly #called = new Map<string, string>();

  constructor(readImage: ReadFile) {
    this.#readImage = readImage;
  }

  read({ role, content }: AnthropicMessage, path: string): ChatMessage[] {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    switch (role) {
      case "user":
        return this.#readUser(blocks, `${path}.content`);
      case "assistant":
        return [this.#readAssistant(blocks, `${path}.content`)];
      case "system":
        return [{ role, ...readContent(content, `${path}.content`, this.#readImage) }];
      default:
        throw new HttpError(400, `${path}.role must be one of user, assistant, system`);
    }
  }

  #readUser(blocks: readonly AnthropicBlock[], path: string): ChatMessage[] {
    const results: ChatMessage[] = [];
    const pieces: ContentPiece[] = [];
    for (const [index, block] of blocks.entries()) {
      const at = `${path}[${index}]`;
      if (block.type === "tool_result") results.push(this.#readResult(block, at));
      else pieces.push(...readBlock(block, at, this.#readImage));
    }
    const shown = composeContent(pieces, joinTexts);
    const isAnswer = shown.content === "" && results.length > 0;
    return isAnswer ? results : [...results, { role: "user", ...shown }];
  }

  #readResult(block: AnthropicBlock, path: string): ChatMessage {
    if (!block.tool_use_id) throw new HttpError(400, `${path} lacks "tool_use_id"`);
    const shown = readContent(block.content, `${path}.content`, this.#readImage);
    const { content } = shown;
    const toolName = this.#called.get(block.tool_use_id);
    return {
      role: "tool",
      ...shown,
      // Templates cannot show the flag, and the model has to see that its call failed.
      content: block.is_error && !/^\s*error/i.test(content) ? `Error: ${content}` : content,
      toolCallId: toEngineId(block.tool_use_id),
      ...(toolName !== undefined && { toolName }),
    };
  }

  /**
   * The words and calls of an assistant. Blocks that only Anthropic's own servers make are left
   * out.
   */
  #readAssistant(blocks: readonly AnthropicBlock[], path: string): ChatMessage {
    const pieces: ContentPiece[] = [];
    let thinking = "";
    const toolCalls: ToolCall[] = [];
    for (const [index, block] of blocks.entries()) {
      if (block.type === "text" || block.type === "image") {
        pieces.push(...readBlock(block, `${path}[${index}]`, this.#readImage));
      }
      if (block.type === "thinking") thinking += block.thinking ?? "";
      if (block.type === "tool_use") toolCalls.push(this.#readCall(block));
    }
    return {
      role: "assistant",
      ...composeContent(pieces, (texts) => texts.join("")),
      ...(thinking !== "" && { thinking }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
  }

  #readCall({ id, name, input }: AnthropicBlock): ToolCall {
    if (!id) throw new HttpError(400, "tool_use block missing required 'id' field");
    if (!name) throw new HttpError(400, "tool_use block missing required 'name' field");
    this.#called.set(id, name);
    return { id: toEngineId(id), function: { name, arguments: input ?? {} } };
  }
}

/** The trimmed texts of all system turns but one at the beginning, to look for in a prompt. */
export function laterInstructions(turns: readonly ChatMessage[]): string[] {
  return turns.slice(1).filter(({ role }) => role === "system").map(({ content }) =>
    content.trim()
  );
}

/**
 * The conversation with those turns as the user's, in the same places, so that prefixes stay
 * cached.
 */
export function instructionsAsUser(turns: readonly ChatMessage[]): ChatMessage[] {
  return combineTurns(turns.map((turn, index) => {
    return index > 0 && turn.role === "system" ? { ...turn, role: "user" } : turn;
  }));
}
