// The body of POST /v1/responses and the items of its answers as TypeScript types. Members that are not
// listed here have no effect. Format: https://platform.openai.com/docs/api-reference/responses

import type { Given } from "../../options.ts";
import type { Content, OpenAiBody, ResponseFormat, WireFunction } from "../types.ts";

/** Something that was said or done earlier; which members count is a matter of its type. */
export interface InputItem {
  /** Default "message", or "item_reference" of what has nothing but an id. */
  type?: Given<string>;
  id?: Given<string>;
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
  /** A kept response, whose conversation this one continues. */
  previous_response_id?: Given<string>;
  /** Whether the response is kept. Default true. */
  store?: Given<boolean>;
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

/** A part of a kept item's content. */
export interface KeptPart {
  type: string;
  text?: string;
  refusal?: string;
  /** A data URL. */
  image_url?: string;
  detail?: "auto";
  annotations?: never[];
  logprobs?: never[];
}

/** An item as it is kept and listed: an input item whose members are all there, or an output item. */
export type KeptItem =
  | { type: "message"; id: string; status: Status; role: string; content: KeptPart[] }
  | { type: "reasoning"; id: string; summary: KeptPart[]; content?: KeptPart[] }
  | {
    type: "function_call_output";
    id: string;
    status: Status;
    call_id: string;
    output: string | KeptPart[];
  }
  | OutputItem;

/** A whole response; the members that are not listed here are told and never read. */
export interface WholeResponse {
  id: string;
  output: OutputItem[];
  store: boolean;
  [told: string]: unknown;
}

/** A response as it is kept, with all that went into it. */
export interface KeptResponse {
  response: WholeResponse;
  input: KeptItem[];
}

/** An event of a stream before it has its number. */
export type ResponseEvent = { type: string } & Record<string, unknown>;
