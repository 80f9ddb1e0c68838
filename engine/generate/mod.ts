// From a prompt to events: sampling options, constraints on tokens, stop strings,
// log-probabilities. It works with sequences and text, and knows no chats.

export { type AnswerEnding, compileFormat } from "./constraint.ts";
export { EventQueue } from "./event_queue.ts";
export { answer, generate, type GenerateContext, historyOf } from "./generate.ts";
export { checkLogprobs, likeliest, textToken, TokenQueue } from "./logprobs.ts";
export { StopStrings } from "./stop_strings.ts";
export type { AnswerEnd, AnswerReader, DecodedText } from "./text_reader.ts";
export type { ThinkingSyntax } from "./thinking_limit.ts";
