// JSON Schemas of what is answered about the server itself, and the types that follow from them.

import type { BodyOf } from "../../body/schema.ts";
import { count, flag, record, text } from "../openapi/answer_parts.ts";

/** Answer of GET /api/version. */
export const versionSchema = record({
  version: { ...text, description: "The version of Ollama whose API this server has." },
  quern_version: text,
});

export type Version = BodyOf<typeof versionSchema>;

/** Answer of GET /api/status. */
export const statusSchema = record({ cloud: record({ disabled: flag, source: text }) });

export type CloudStatus = BodyOf<typeof statusSchema>;

/** Answer of GET /health. */
export const healthSchema = record(
  { status: { enum: ["ok", "shutting down"] }, version: text },
  { busy_workers: { ...count, description: "How many workers do not answer; missing for none." } },
);

export type Health = BodyOf<typeof healthSchema>;
