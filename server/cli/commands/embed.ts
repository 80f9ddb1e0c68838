// `quern embed MODEL TEXT...`: vectors of texts, one JSON array per line, in the order of the texts.

import { type Api, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";

/** Options of the command line. */
export interface EmbedOptions {
  /** Length of the vectors, shorter than the model's own. */
  dimensions?: number;
  /** Whether texts that the window cannot hold are cut; without it as the server does. */
  truncate?: boolean;
  /** How long the model stays in memory. */
  keepalive?: string;
  /** One array of all vectors. */
  array?: boolean;
}

/** Texts per request: the vectors of a long file are printed as they are computed. */
const BATCH = 64;

/** Prints the vectors of the texts, or, without any, of the lines of standard input. */
export function embed(
  dependencies: CliDependencies,
  model: string,
  texts: string[],
  options: EmbedOptions,
): Promise<number> {
  const { terminal } = dependencies;
  return interruptible(terminal, async (signal) => {
    const inputs = texts.length > 0 ? texts : linesOf(await terminal.readAll());
    if (inputs.length === 0) {
      throw new Error(
        `Cannot embed with "${model}": there is no text; give one as an argument, ` +
          `or lines on standard input`,
      );
    }
    await using api = await connect(dependencies);
    const vectors = vectorsOf(api, model, inputs, options, signal);
    if (options.array) {
      terminal.write(`${JSON.stringify(await Array.fromAsync(vectors))}\n`);
    } else {
      for await (const vector of vectors) terminal.write(`${JSON.stringify(vector)}\n`);
    }
    return 0;
  });
}

async function* vectorsOf(
  api: Api,
  model: string,
  inputs: string[],
  { dimensions, truncate, keepalive }: EmbedOptions,
  signal: AbortSignal,
): AsyncGenerator<number[]> {
  for (let start = 0; start < inputs.length; start += BATCH) {
    const request = {
      model,
      input: inputs.slice(start, start + BATCH),
      ...(dimensions !== undefined && { dimensions }),
      ...(truncate !== undefined && { truncate }),
      ...(keepalive !== undefined && { keep_alive: keepalive }),
    };
    const { embeddings } = await api.json("/api/embed", request, {
      signal,
    });
    yield* embeddings;
  }
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}
