// The command line's commands that have a model answer: `run` and `embed`.

import { type Api, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import {
  type Definition,
  examples,
  toBoolean,
  toInteger,
  toNumber,
  toThink,
} from "./definition.ts";
import { run, type RunOptions } from "./run.ts";

/** Adds `quern run`. */
export function defineRun({ program, dependencies, finish }: Definition): void {
  program.command("run")
    .summary("answer a prompt, or talk with a model")
    .description(
      "Answers a prompt, or, at a terminal without one, holds a conversation until /bye. A model " +
        "that is not here is pulled first. What is piped in is put before the prompt; so are text " +
        "files that it names, such as ./notes.txt. Images are attached for models that see.",
    )
    .argument("<model>", "name of a model, or path of a .gguf file")
    .argument("[prompt...]", "the words of the prompt")
    .option("--system <text>", "what the model is told before the conversation")
    .option("--format <json>", '"json", or a JSON Schema as text or as a file: the answer fits it')
    .option("--think <level>", "think first: true, false, low, medium, high, max", toThink)
    .option("--hidethinking", "think without showing it")
    .option(
      "--keepalive <duration>",
      'how long the model stays in memory: "5m", "0", "-1" for ever',
    )
    .option("--verbose", "counts and rates after each answer")
    .option("--nowordwrap", "break lines where the window ends, not between words")
    .option("--insecure", "if the model is pulled: over plain HTTP or with any certificate")
    .option("--temperature <number>", "0 always takes the most likely token", toNumber)
    .option("--seed <integer>", "same seed, same text", toInteger)
    .option("--num-predict <tokens>", "most tokens of an answer", toInteger)
    .option("--ctx <tokens>", "context window", toInteger)
    .option("--raw", "no chat template: continue the prompt as it stands")
    .option("--dimensions <count>", "of an embedding model: length of the vector", toInteger)
    .option("--truncate <boolean>", "of an embedding model: cut a text that is too long", toBoolean)
    .addHelpText(
      "after",
      examples([
        ["quern run gemma3:1b", "talk with it; /? lists the commands there"],
        ['quern run gemma3:1b "Why is the sky blue?"', "answer and end"],
        ['quern run gemma3:1b "Sum up:" < report.txt', "read the text from a file"],
        ['quern run gemma3:1b "What is wrong in ./main.ts?"', "with that file"],
        ["quern run qwen3 --think=high --hidethinking", "think hard, say only the answer"],
        ['quern run gemma3:1b --format person.json "Ada"', "answer in JSON of that schema"],
        ['quern run ./stories.gguf "Once upon a time"', "a file that is in no store"],
      ]),
    )
    .action(async (model: string, words: string[], options: RunOptions) => {
      const prompt = words.length > 0 ? words.join(" ") : undefined;
      finish(await run(dependencies, model, prompt, options));
    });
}

/** Adds `quern embed`. */
export function defineEmbed({ program, dependencies, finish }: Definition): void {
  program.command("embed")
    .summary("print the vectors of texts")
    .description(
      "Prints the vector of each text as a JSON array on a line of its own, in the order of the " +
        "texts. Without texts, the lines of standard input are embedded.",
    )
    .argument("<model>", "name of a model")
    .argument("[texts...]", "texts to embed, each in quotes")
    .option("--array", "one JSON array of all vectors")
    .option("--dimensions <count>", "length of the vectors, if shorter", toInteger)
    .option("--truncate <boolean>", "false refuses a text that is too long", toBoolean)
    .option(
      "--keepalive <duration>",
      'how long the model stays in memory: "5m", "0", "-1" for ever',
    )
    .addHelpText(
      "after",
      examples([
        ['quern embed embeddinggemma "one text" "another"', "two lines"],
        ["quern embed embeddinggemma < lines.txt > vectors.jsonl", "a line for each line"],
      ]),
    )
    .action(async (model: string, texts: string[], options: EmbedOptions) => {
      finish(await embed(dependencies, model, texts, options));
    });
}

/** Options of the command line. */
interface EmbedOptions {
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
function embed(
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
