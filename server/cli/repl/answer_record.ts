// What a record of an answer adds to it, whichever endpoint it is from.

import type { OllamaRecord, OllamaToolCall } from "../client/mod.ts";

/** The parts of a record; absent ones are empty. */
export interface RecordParts {
  content: string;
  thinking: string;
  toolCalls: OllamaToolCall[];
}

/** The parts of a record of /api/chat or /api/generate. */
export function partsOf(record: OllamaRecord): RecordParts {
  const isChat = "message" in record;
  const { thinking = "", tool_calls: toolCalls = [] } = isChat ? record.message : record;
  return { content: isChat ? record.message.content : record.response, thinking, toolCalls };
}
