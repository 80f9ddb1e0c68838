// What `quern run` may use of the conversation at a terminal.

export { Conversation, type NamedModel, type RequestSettings } from "./conversation.ts";
export { History } from "./line_editor.ts";
export { type Keyboard, systemKeyboard } from "./keys.ts";
export { can, findModel, type ModelFacts, similarModel } from "./model_facts.ts";
export { runRepl } from "./repl.ts";
export { Session } from "./session.ts";
