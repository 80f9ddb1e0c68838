// The options of `quern run`, and what requests of the API make of them.

import { parseExactJson } from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import type { RequestSettings } from "../repl/mod.ts";

/** Options of the command line. */
export interface RunOptions {
  temperature?: number;
  seed?: number;
  numPredict?: number;
  /** Window in tokens. */
  ctx?: number;
  /** System message. */
  system?: string;
  /** "json", the text of a JSON Schema, or the path of a file with one. */
  format?: string;
  /** Whether, or how much, the model thinks first. */
  think?: boolean | string;
  hidethinking?: boolean;
  nowordwrap?: boolean;
  /** No chat template. */
  raw?: boolean;
  /** How long the model stays in memory, such as "5m". */
  keepalive?: string;
  /** Counts and rates after each answer. */
  verbose?: boolean;
  /** Pull over plain HTTP or with any certificate. */
  insecure?: boolean;
  /** Of an embedding model: whether a text that the window cannot hold is cut. */
  truncate?: boolean;
  /** Of an embedding model: length of the vector. */
  dimensions?: number;
}

/**
 * The settings of requests.
 *
 * @throws {Error} if the format is none
 */
export async function readRunSettings(options: RunOptions): Promise<RequestSettings> {
  const { temperature, seed, numPredict, ctx, system, think, keepalive, raw, format } = options;
  return {
    options: {
      ...(temperature !== undefined && { temperature }),
      ...(seed !== undefined && { seed }),
      ...(numPredict !== undefined && { num_predict: numPredict }),
      ...(ctx !== undefined && { num_ctx: ctx }),
    },
    system,
    think,
    keepAlive: keepalive,
    raw,
    ...(format && { format: await readFormat(format) }),
  };
}

async function readFormat(format: string): Promise<unknown> {
  if (format === "json") return format;
  const isSchema = format.trimStart().startsWith("{");
  try {
    return parseExactJson(isSchema ? format : await Deno.readTextFile(format));
  } catch (error) {
    throw new Error(
      `Cannot use the format ${
        isSchema ? "" : `"${format}"`
      }: it must be json, a JSON Schema, or ` +
        `the path of a file with one: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
