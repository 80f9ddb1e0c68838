// Anthropic's Messages API on the wire: requests to the engine's, its events to theirs. Pure but for new ids.

export { AnswerCollector, type AnswerOptions, AnswerWriter } from "./answer.ts";
export { type AnthropicError, anthropicError } from "./errors.ts";
export { newId } from "./ids.ts";
export { type MessagesPlan, planCount, planMessages } from "./request.ts";
export { instructionsAsUser, laterInstructions } from "./system_turns.ts";
export type { AnthropicAnswer, AnthropicEvent, AnthropicRequest } from "./types.ts";
