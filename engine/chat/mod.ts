// A conversation as a prompt, and its answer as thinking, text and tool calls, as the family of the
// model's template writes them.

export { detectAnswerFormat } from "./answers/answer_format.ts";
export {
  chat,
  type ChatContext,
  chatPrompt,
  countTokens,
  promptBeforeAnswer,
  renderChat,
  type SplitPrompt,
} from "./chat.ts";
export { continuesFinalMessage } from "./continuation.ts";
