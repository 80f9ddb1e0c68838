// JSON Schemas of the native request bodies. They fix types only; what values mean is checked where
// they are used. null is "not given" everywhere.

import {
  type BodyOf,
  closed,
  flag,
  harmless,
  integer,
  list,
  text,
  texts,
} from "../../body/schema.ts";
import { returnProgress } from "../options.ts";
import { choiceMembers } from "../tool_choice.ts";
import { callSchema, functionSchema } from "../tools.ts";
import { unreadInTools, unreadInTurns } from "../unread_members.ts";
import { wishes } from "../wishes.ts";

const images = { ...texts, description: "PNG, JPEG, WebP, GIF or BMP files as base64." } as const;
const audio = {
  ...texts,
  description:
    "Sound files as base64, such as WAV, FLAC or MP3, for models with the capability `audio`.",
} as const;

/** Members that chat and generate share. */
const common = {
  ...wishes,
  metadata: harmless("there is nobody to account to"),
  model: text,
  stream: flag,
  truncate: flag,
  shift: { ...flag, description: "A window that is full ends the answer in any case." },
  logprobs: flag,
  top_logprobs: integer,
  return_progress: returnProgress,
  mask_info: {
    ...flag,
    description: "Tell in logprobs what the format allowed in the place of each token: how many " +
      "tokens, the likeliest allowed and forbidden ones, and text that had to come.",
  },
  _debug_render_only: flag,
} as const;

const request = closed(common);

/** Members of chat and generate requests. */
export type OllamaRequest = BodyOf<typeof request>;

const toolCall = callSchema({ type: ["object", "null"] });

const message = closed({
  ...unreadInTurns,
  role: { type: "string" },
  content: text,
  thinking: text,
  images,
  audio,
  tool_calls: list(toolCall),
  tool_name: text,
  tool_call_id: text,
}, "role");

/** One turn of a conversation. */
export type OllamaMessage = BodyOf<typeof message>;

const tool = closed({ ...unreadInTools, type: text, function: functionSchema }, "function");

/** Body of POST /api/chat. */
export const chatSchema = closed({
  ...common,
  ...choiceMembers,
  messages: list(message),
  tools: list(tool),
});

export type OllamaChatRequest = BodyOf<typeof chatSchema>;

/** Body of POST /api/generate. */
export const generateSchema = closed({
  ...common,
  prompt: text,
  suffix: text,
  system: text,
  template: text,
  raw: flag,
  context: list({ type: "integer" }),
  images,
  audio,
});

export type OllamaGenerateRequest = BodyOf<typeof generateSchema>;
