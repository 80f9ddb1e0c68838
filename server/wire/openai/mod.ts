// OpenAI's dialect, as routes use it: bodies in, plans out; events in, answers out.

export type { AnswerHead, ChoiceEvent, OpenAiAnswer } from "./answer.ts";
export { planChat } from "./chat.ts";
export { ChatAnswer } from "./chat_answer.ts";
export { echoedPrompts, planCompletion } from "./completion.ts";
export { CompletionAnswer } from "./completion_answer.ts";
export { openAiError, refusal, withParam } from "./error.ts";
export type { Plan, Task } from "./plan.ts";
export type { ChatBody, CompletionBody, OpenAiBody } from "./request_types.ts";
export { planResponse } from "./responses.ts";
export { ResponsesAnswer } from "./responses_answer.ts";
export {
  fromResponseId,
  isReference,
  responseOfItem,
  toItemList,
  toKeptItems,
  toResponseId,
  withoutCutCalls,
} from "./responses_kept.ts";
export type {
  InputItem,
  KeptItem,
  KeptResponse,
  ResponsesBody,
  WholeResponse,
} from "./responses_types.ts";
