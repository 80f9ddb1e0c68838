// The items of answers of POST /v1/responses, and what is kept of them, as TypeScript types. Format: https://platform.openai.com/docs/api-reference/responses

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
