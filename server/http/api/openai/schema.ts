// JSON Schemas of the bodies of OpenAI's chat completions, completions and responses. They fix
// types, and the words of a few members; null is "not given" everywhere.

import {
  type BodyOf,
  closed,
  flag,
  type Given,
  harmless,
  integer,
  list,
  only,
  optional,
  type Refused,
  text,
} from "../../body/schema.ts";
import { responseFormat } from "../formats.ts";
import { returnProgress } from "../options.ts";
import { choiceMembers } from "../tool_choice.ts";
import { callSchema, functionMembers, functionSchema } from "../tools.ts";
import { unreadInTools, unreadInTurns } from "../unread_members.ts";
import { wishes } from "../wishes.ts";

const streamOptions = optional(
  closed({
    include_usage: flag,
    include_obfuscation: harmless("streams are not padded"),
    continuous_usage_stats: only([], "a stream ends with the counts"),
  }),
);

/** Members that all requests share. */
const common = {
  ...wishes,
  model: text,
  stream: flag,
  stream_options: streamOptions,
  verbosity: {
    enum: ["low", "medium", "high", null],
    description:
      "Accepted with a warning, unless it is medium: models are not trained for it. Say " +
      "in the instructions how long an answer is to be.",
  },
} as const;

const request = closed(common);

/** Members of all requests. `options` and `keep_alive` are Ollama's. */
export type OpenAiBody = BodyOf<typeof request>;

/** Members of both kinds of completions. */
const completion = {
  n: integer,
  metadata: { description: "Accepted and without effect." },
  store: { description: "Accepted and without effect: completions are not kept." },
} as const;

const imageUrl = closed({ url: text, detail: unreadInTurns.detail });

const part = closed({
  ...unreadInTurns,
  type: { type: "string" },
  text,
  refusal: text,
  image_url: {
    ...imageUrl,
    type: ["string", "object", "null"],
    description: "A data URL, by itself or as url.",
  },
  input_audio: {
    ...closed({ data: text, format: text }),
    type: ["object", "null"],
    description: "A sound file as base64, for models with the capability `audio`.",
  },
}, "type");

/** A part of a message's content. */
export type ContentPart = BodyOf<typeof part>;

/** A text, or parts of one. */
const content = { type: ["string", "array", "null"], items: part } as const;

export type Content = Given<BodyOf<typeof content>>;

const toolCall = callSchema({ type: ["string", "object", "null"] });

const message = closed({
  ...unreadInTurns,
  role: { type: "string" },
  content,
  name: text,
  refusal: text,
  reasoning: text,
  reasoning_content: text,
  tool_calls: list(toolCall),
  tool_call_id: text,
}, "role");

/** One turn of a conversation. */
export type WireMessage = BodyOf<typeof message>;

/** A tool of a chat. Its type may be left out. */
const tool = closed({
  ...unreadInTools,
  type: text,
  function: functionSchema,
});

/** Body of POST /v1/chat/completions. */
export const openAiChatSchema = closed({
  ...common,
  ...completion,
  ...choiceMembers,
  messages: list(message),
  tools: list(tool),
  continue_final_message: {
    ...flag,
    description:
      "As vLLM has it: whether the answer continues the last message. Default: whether an " +
      "assistant said it and called no tools.",
  },
  add_generation_prompt: {
    ...flag,
    description: "As vLLM has it: true, another message of the assistant follows the last one.",
  },
  truncate: flag,
  return_progress: returnProgress,
  logprobs: flag,
  top_logprobs: integer,
  functions: { type: ["array", "null"] },
  function_call: only(["auto", "none"], "use tools and tool_choice"),
  modalities: { ...list({ enum: ["text"] }), description: "Only text comes." },
});

export type ChatBody =
  & BodyOf<typeof openAiChatSchema>
  & Refused<"audio" | "web_search_options">;

/** Body of POST /v1/completions. `prompt` is checked where it is read. */
export const openAiCompletionSchema = closed({
  ...common,
  ...completion,
  prompt: { description: "A text, an array of texts, token ids, or an array of those." },
  suffix: text,
  echo: { ...flag, description: "Give out the prompt before its continuation." },
  best_of: {
    ...integer,
    description:
      "Of how many answers the n best are given: those whose tokens are the likeliest on average.",
  },
  logprobs: {
    ...integer,
    description:
      "How many alternatives of each token are told, with echo of those of the prompt as well.",
  },
  prompt_logprobs: {
    ...integer,
    description: "As vLLM has it: how many alternatives of each token of the prompt are told.",
  },
  raw: {
    ...flag,
    description:
      "Whether the model continues the prompt as it is. Default true; false: it answers a user who says it, as with Ollama.",
  },
});

export type CompletionBody = BodyOf<typeof openAiCompletionSchema>;

/** An item of the input. Which members are read depends on its type. */
const inputItem = closed({
  ...unreadInTurns,
  type: { ...text, description: 'Default "message"; "item_reference" of an id alone.' },
  id: text,
  role: text,
  content,
  summary: content,
  call_id: text,
  name: text,
  namespace: text,
  arguments: text,
  input: { ...text, description: "What a custom tool was called with." },
  output: content,
  encrypted_content: {
    ...text,
    description: "Of a compaction, the summary that replaces what was answered before it.",
  },
});

export type InputItem = BodyOf<typeof inputItem>;

const responseToolMembers = {
  ...unreadInTools,
  type: { type: "string" },
  ...functionMembers,
  format: optional(closed({
    type: { ...text, description: '"text", or "grammar" for a custom tool whose input has one.' },
    syntax: { ...text, description: '"regex" or "lark".' },
    definition: { ...text, description: "The expression or the grammar." },
  })),
  external_web_access: flag,
  search_context_size: harmless("nothing is searched"),
  search_content_types: harmless("nothing is searched"),
  user_location: harmless("nothing is searched"),
  filters: harmless("nothing is searched"),
} as const;

/** A tool: a function, or with `tools` a namespace of functions. */
const responseTool = closed(responseToolMembers, "type");

/** A function, a namespace of some in `tools`, or a tool of another kind, which is refused. */
export type ResponseTool = BodyOf<typeof responseTool> & { tools?: Given<ResponseTool[]> };

/** What a response may tell besides the answer; of tools that are not available there is nothing. */
const included = {
  enum: [
    "message.output_text.logprobs",
    "reasoning.encrypted_content",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "web_search_call.action.sources",
    "web_search_call.results",
  ],
} as const;

/** Body of POST /v1/responses. */
export const openAiResponsesSchema = closed({
  ...common,
  input: { type: ["string", "array", "null"], items: inputItem },
  instructions: text,
  max_tool_calls: harmless("it is about tools that run at the server"),
  tools: list(closed({ ...responseToolMembers, tools: list(responseTool) }, "type")),
  ...choiceMembers,
  text: optional(closed({ format: responseFormat, verbosity: common.verbosity })),
  truncation: { enum: ["auto", "disabled", null] },
  top_logprobs: integer,
  metadata: { type: ["object", "null"] },
  previous_response_id: {
    ...text,
    description: "A kept response, whose conversation goes on; its instructions do not.",
  },
  conversation: {
    ...closed({ id: { type: "string", description: "Its id." } }, "id"),
    type: ["string", "object", "null"],
    description: "A conversation of /v1/conversations, by its id or as an object with the id: it " +
      "comes before the input, and input and answer are added to it.",
  },
  store: {
    ...flag,
    description: "Whether the response is kept. Default true. One that is made in the background " +
      "can be asked for until some minutes after its end in any case.",
  },
  background: {
    ...flag,
    description:
      "Answer at once that the response is queued, and make it whether or not a client " +
      "waits: GET /v1/responses/{response_id} tells how far it is.",
  },
  include: {
    ...list(included),
    description:
      "message.output_text.logprobs: tell the log-probabilities of the text. The others " +
      "are without effect: thinking is told as it is, and nothing is searched.",
  },
});

export type ResponsesBody =
  & BodyOf<typeof openAiResponsesSchema>
  & Refused<"prompt">;

const metadata = {
  type: ["object", "null"],
  description: "Whatever the client wants to be kept with the conversation.",
} as const;

const newItems = {
  ...list(inputItem),
  description: "What is said in it, as in the input of /v1/responses.",
} as const;

/** Body of POST /v1/conversations. */
export const conversationSchema = closed({ items: newItems, metadata });

/** Body of POST /v1/conversations/{conversation_id}. */
export const conversationUpdateSchema = closed({ metadata });

/** Body of POST /v1/conversations/{conversation_id}/items. */
export const conversationItemsSchema = closed({ items: newItems });
