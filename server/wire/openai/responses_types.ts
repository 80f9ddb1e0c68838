// The body of POST /v1/responses and the items of its answers as TypeScript types. Members that are not
// listed here have no effect. Format: https://platform.openai.com/docs/api-reference/responses

import type { Given } from "../ollama_types.ts";
import type { Content, OpenAiBody, ResponseFormat, WireFunction } from "./request_types.ts";

/** Something that was said or done earlier; which members count is a matter of its type. */
export interface InputItem {
  /** Default "message". */
  type?: Given<string>;
  role?: Given<string>;
  /** Of a message, or of reasoning. */
  content?: Content;
  /** Of reasoning. */
  summary?: Content;
  call_id?: Given<string>;
  name?: Given<string>;
  /** Of a call: that of the function, if it is in one. */
  namespace?: Given<string>;
  arguments?: Given<string>;
  /** What a tool answered. */
  output?: Content;
}

/** A function, a namespace of some, or a tool of another kind, which is refused. */
export type ResponseTool = { type: string } & Partial<WireFunction> & {
  /** Of a namespace. */
  tools?: Given<ResponseTool[]>;
  /** Of "web_search": false for what was collected before alone. */
  external_web_access?: Given<boolean>;
};

/** Body of POST /v1/responses. */
export interface ResponsesBody extends OpenAiBody {
  input?: Given<string | InputItem[]>;
  instructions?: Given<string>;
  max_output_tokens?: Given<number>;
  tools?: Given<ResponseTool[]>;
  tool_choice?: unknown;
  parallel_tool_calls?: Given<boolean>;
  reasoning?: Given<{ effort?: Given<string>; summary?: Given<string> }>;
  text?: Given<{ format?: Given<{ type: ResponseFormat["type"]; schema?: unknown }> }>;
  /** "auto" drops the oldest turns that do not fit the window. Default "disabled". */
  truncation?: Given<"auto" | "disabled">;
  top_logprobs?: Given<number>;
  metadata?: Given<Record<string, unknown>>;
  previous_response_id?: Given<string>;
  conversation?: unknown;
  background?: Given<boolean>;
  prompt?: unknown;
}

/** How far an item, or the whole, has come. */
export type Status = "in_progress" | "completed" | "incomplete" | "failed";

/** One thing of an answer. */
export type OutputItem =
  | { type: "message"; id: string; status: Status; role: "assistant"; content: OutputText[] }
  | { type: "reasoning"; id: string; status: Status; summary: SummaryText[] }
  | {
    type: "function_call";
    id: string;
    status: Status;
    call_id: string;
    name: string;
    namespace?: string;
    arguments: string;
  };

/** The text of a message. */
export interface OutputText {
  type: "output_text";
  text: string;
  annotations: never[];
  logprobs: never[];
}

/** What was thought. */
export interface SummaryText {
  type: "summary_text";
  text: string;
}

/** An event of a stream before it has its number. */
export type ResponseEvent = { type: string } & Record<string, unknown>;
