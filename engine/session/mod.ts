// Conversations for applications, over the chat API alone: history with branches, a loop of typed tools,
// structured answers.

export type { HistoryNode, SavedSession } from "./history.ts";
export type {
  ArgumentsOf,
  JsonObjectOf,
  JsonSchema,
  JsonValueOf,
  RequiredOf,
  Schema,
  StandardSchema,
  TypeNameOf,
  Validation,
  ValidationIssue,
  ValueOf,
} from "./schema.ts";
export {
  type GivenResult,
  type LoopOptions,
  type SendOptions,
  Session,
  type SessionModel,
  type SessionOptions,
  type SessionRequest,
} from "./session.ts";
export {
  type ApproveCall,
  type CallContext,
  type CallResult,
  type SessionCall,
  type SessionTool,
  type SessionTools,
  tool,
} from "./tools.ts";
export { type Answer, type SessionEvent, Turn, type TurnWork } from "./turn.ts";
