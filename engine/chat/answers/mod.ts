// The parts of a model's answer: thinking, text and tool calls, split from a stream, and the
// grammars that enforce their form, for the model families that chat templates identify.

export { detectAnswerFormat, PLAIN_ANSWERS } from "./detect.ts";
export type {
  AnswerEvent,
  AnswerFormat,
  AnswerParser,
  AnswerRequest,
  CallableTool,
  CallSyntax,
  ReadCall,
  ThinkingMarks,
} from "./types.ts";
