// JSON Schema of the body of a request for decisions: OpenAI's members, and Ollama's for the load.

import { type BodyOf, closed, harmless, keepAlive, list, text } from "../../body/schema.ts";
import { loraMembers } from "../lora.ts";
import { options } from "../options.ts";
import { streamOfOne, unreadInRequests, unreadInTurns } from "../unread_members.ts";

/** Where a prefix that is kept ends: all are. */
const breakpoint = harmless("prompts that begin like earlier ones are read once");

const part = closed({
  type: { enum: ["input_text", "output_text", "text", "refusal", "input_json", "input_image"] },
  text,
  refusal: text,
  data: { type: ["object", "array", "null"] },
  image_url: { type: ["string", "object", "null"] },
  detail: text,
  prompt_cache_breakpoint: breakpoint,
}, "type");

const content = { type: ["string", "array", "null"], items: part } as const;

/** A text, or parts of one. */
export type DecisionContent = BodyOf<typeof content>;

const item = closed({
  ...unreadInTurns,
  type: { ...text, description: 'Default "message".' },
  id: text,
  role: { enum: ["user", "system", "developer", "assistant", null] },
  content,
  call_id: text,
  name: text,
  namespace: text,
  arguments: text,
  input: text,
  output: content,
});

/** A message, a call, or the output of one. */
export type DecisionItem = BodyOf<typeof item>;

const question = closed({
  type: { enum: ["predicate", "choice", "score"] },
  name: text,
  instructions: content,
  choices: list(closed({ value: { type: ["string", "boolean"] }, description: text }, "value")),
  levels: list(closed({ label: { type: "string" }, description: text }, "label")),
}, "type");

/** A question about the input. */
export type WireQuestion = BodyOf<typeof question>;

/** Body of POST /v1/decisions and /api/decide. */
export const decideSchema = closed({
  ...unreadInRequests,
  stream: streamOfOne,
  model: text,
  input: {
    type: ["string", "array", "null"],
    items: item,
    description: "A text, or the messages, calls and outputs of a conversation.",
  },
  questions: {
    ...list(question),
    description: "1 to 400 questions, each of which is answered by itself.",
  },
  ...loraMembers,
  options,
  keep_alive: keepAlive,
});

export type DecideBody = BodyOf<typeof decideSchema>;

const said = { type: ["string", "object", "array", "null"] } as const;

const systemOneQuestion = closed({
  type: { enum: ["noul", "choice", "score"] },
  instructions: { ...said, description: "What is asked. Default: the name of the question." },
  criteria: {
    type: ["object", "array", "null"],
    description:
      "Of a choice the descriptions of its options by their names, of a score its levels " +
      "from the least on, of a noul what `true` and `false` mean.",
  },
}, "type");

/** A question of POST /v1/systemone. */
export type SystemOneQuestion = BodyOf<typeof systemOneQuestion>;

/** Body of POST /v1/systemone. */
export const systemOneSchema = closed({
  ...unreadInRequests,
  stream: streamOfOne,
  model: text,
  state: {
    type: ["string", "object", "array", "number", "boolean", "null"],
    description: "What the questions are about: a text, or JSON.",
  },
  questions: {
    type: ["object", "null"],
    additionalProperties: systemOneQuestion,
    description: "Questions by their names, each of which is answered by itself.",
  },
  options,
  keep_alive: keepAlive,
});

export type SystemOneBody = BodyOf<typeof systemOneSchema>;
