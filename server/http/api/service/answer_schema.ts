// JSON Schemas of what is answered about the server itself, and the types that follow from them.

import type { BodyOf } from "../../body/schema.ts";
import {
  cacheReport,
  count,
  flag,
  list,
  number,
  record,
  text,
  time,
} from "../openapi/answer_parts.ts";

/** Answer of GET /api/version. */
export const versionSchema = record({
  version: { ...text, description: "The version of Ollama whose API this server has." },
  quern_version: text,
});

export type Version = BodyOf<typeof versionSchema>;

/** Answer of GET /web/library. */
export const pageLibrarySchema = record({
  built: { ...flag, description: "A checkout has it once `deno task build:tab` has run." },
});

/** Answer of GET /api/status. */
export const statusSchema = record({ cloud: record({ disabled: flag, source: text }) });

/** Answer of POST /api/requests/ID/answer. */
export const answeringSchema = record({ id: text });

export type Answering = BodyOf<typeof answeringSchema>;

export type CloudStatus = BodyOf<typeof statusSchema>;

/** Answer of GET /health. */
export const healthSchema = record(
  { status: { enum: ["ok", "shutting down", "loading models"] }, version: text },
  {
    busy_workers: { ...count, description: "How many workers do not answer; missing for none." },
    missing: { ...list(text), description: "Models of QUERN_PRELOAD that are not loaded yet." },
  },
);

export type Health = BodyOf<typeof healthSchema>;

const seconds = { ...number, minimum: 0 } as const;

/** Answer of GET /api/requests. */
export const requestsSchema = record({
  requests: list(
    record({ at: time, method: text, path: text, status: count, model: text, seconds }, {
      first_token_seconds: seconds,
      prompt_tokens: count,
      cached_tokens: count,
      completion_tokens: count,
      tokens_per_second: seconds,
    }),
  ),
});

export type Requests = BodyOf<typeof requestsSchema>;

/** Answer of GET /api/usage. */
export const usageSchema = record({
  since: time,
  keys: {
    description: "An entry for each key, or for the one of the request.",
    ...list(record({
      name: text,
      requests: count,
      refused: { ...count, description: "Requests that a limit refused." },
      prompt_tokens: { ...count, description: "With cached ones." },
      cached_tokens: count,
      completion_tokens: count,
      limits: {
        ...list(record({
          kind: { enum: ["requests", "tokens"], description: "What is limited." },
          per_minute: { ...number, minimum: 0, description: "How much a minute allows." },
          remaining: { ...count, description: "What is left now." },
        })),
        description: "The limits of the key; none where it has none.",
      },
    })),
  },
});

export type KeyUsages = BodyOf<typeof usageSchema>;

/** Answer of GET /api/doctor. */
export const doctorSchema = record({
  sections: list(record(
    {
      title: text,
      findings: list(record(
        { mark: { enum: ["ok", "warning", "problem"] }, subject: text, text },
        { todo: record({ text }, { command: text }) },
      )),
    },
    {
      table: {
        ...list(list(text)),
        description: "What stands below the findings; the first row is the head.",
      },
    },
  )),
});

export type Findings = BodyOf<typeof doctorSchema>;

/** Answer of GET /api/cache. */
export const cacheSchema = record({
  models: list(record({
    model: text,
    block_tokens: {
      ...count,
      description:
        "Tokens of a block, of which only whole ones are kept; 0 where that is not known.",
    },
    conversations: {
      ...list(record({
        title: { ...text, description: "The beginning of what its user wrote first." },
        requests: { ...count, description: "Requests of this conversation so far." },
        last_used: { ...time, description: "When the last of them ended." },
        tokens: { ...count, description: "Tokens of its last prompt with the answer." },
        on_device: { ...count, description: "Those whose keys and values the device has." },
        in_memory: { ...count, description: "Those of which the system's memory has a copy." },
        on_disk: { ...count, description: "Those of which the disk has a copy." },
        reusable: {
          ...count,
          description: "Those from its beginning that a prompt which goes on need not read again.",
        },
        last_prompt: { ...cacheReport, description: "What its last prompt found." },
      }, {
        session: { ...text, description: "The session that its program named." },
        is_beside: {
          ...flag,
          description: "Whether it stands beside the main conversation of the session.",
        },
      })),
      description: "Those that were answered lately, the latest first.",
    },
  })),
});

export type CacheContents = BodyOf<typeof cacheSchema>;
