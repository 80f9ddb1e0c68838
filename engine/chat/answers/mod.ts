// What a model's answer is made of: thinking, text and tool calls, split from a stream, and the
// grammar that keeps them right, for the families of models that chat templates tell.

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
