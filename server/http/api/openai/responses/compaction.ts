// The compaction of a conversation: the model sums it up, and the summary, an item that clients keep
// without reading, stands for all that was answered before it. What the user said stays. Pure.
// Format: https://platform.openai.com/docs/guides/compaction

import type { ChatMessage, ChatRequest } from "../../../../../engine/mod.ts";
import { refusal } from "../errors.ts";
import type { InputItem, ResponsesBody } from "../schema.ts";
import type { Compacted, WholeResponse } from "./answer_schema.ts";
import { toKeptItems } from "./kept_items.ts";

/** What the model is asked to do. */
const REQUEST =
  "Sum up this conversation, so that you can go on with the summary alone: what is wanted, what was " +
  "done and found, which files, names, commands and values matter, what failed, and what remains " +
  "to be done. Write the summary and nothing else.";

/** What stands before a summary where the conversation goes on. */
const HEAD = "Summary of what was said and done before:\n\n";

/** The beginning of a summary that was sealed here: others are in a form of their own. */
const SEAL = "quern:";

/** The text of a summary as clients keep it. */
export function sealSummary(text: string): string {
  return SEAL + new TextEncoder().encode(text).toBase64();
}

/** Whether a request asks for a compaction: then its input ends with the trigger. */
export function isCompaction({ input }: ResponsesBody): boolean {
  return Array.isArray(input) && input.at(-1)?.type === "compaction_trigger";
}

/** The chat in which the model sums a conversation up. Its tools stay in the prompt, not called. */
export function compacting(request: ChatRequest): ChatRequest {
  const asks: ChatMessage = { role: "user", content: REQUEST };
  const messages = [...request.messages, asks];
  // A conversation that is too long already loses its oldest turns rather than all.
  return { ...request, messages, toolChoice: "none", truncate: true };
}

/**
 * The conversation up to a compaction: what the user and the developer said, and the summary.
 *
 * @throws {HttpError} 400 for one that was made elsewhere
 */
export function compacted(
  messages: readonly ChatMessage[],
  { encrypted_content: sealed }: InputItem,
  path: string,
): ChatMessage[] {
  const kept = messages.filter(({ role }) => role === "user" || role === "system");
  return [...kept, { role: "user", content: HEAD + openSummary(sealed ?? "", path) }];
}

function openSummary(sealed: string, path: string): string {
  try {
    if (!sealed.startsWith(SEAL)) throw new SyntaxError("made elsewhere");
    return new TextDecoder().decode(Uint8Array.fromBase64(sealed.slice(SEAL.length)));
  } catch {
    throw refusal(
      `${path}.encrypted_content is no compaction of this server: compact the conversation again`,
      `${path}.encrypted_content`,
    );
  }
}

/** The answer of POST /v1/responses/compact: what the user said, then the compaction. */
export function toCompacted(
  { id, created_at, output, usage, dropped_messages, warnings }: WholeResponse,
  input: ResponsesBody["input"],
): Compacted {
  const said = toKeptItems(input, id.replace(/^resp_/, ""), []);
  return {
    id,
    object: "response.compaction",
    created_at,
    output: [
      ...said.filter((item) => item.type === "message" && item.role === "user"),
      ...output.filter((item) => item.type === "compaction"),
    ] as Compacted["output"],
    usage,
    ...(dropped_messages && { dropped_messages }),
    ...(warnings && { warnings }),
  };
}
