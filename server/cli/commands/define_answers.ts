// The command line's commands that have a model answer: `run` and `embed`.

import {
  type Definition,
  examples,
  toBoolean,
  toInteger,
  toNumber,
  toThink,
} from "./definition.ts";
import { embed, type EmbedOptions } from "./embed.ts";
import { run, type RunOptions } from "./run.ts";

/** Adds `quern run`. */
export function defineRun({ program, world, finish }: Definition): void {
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
      finish(await run(world, model, prompt, options));
    });
}

/** Adds `quern embed`. */
export function defineEmbed({ program, world, finish }: Definition): void {
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
      finish(await embed(world, model, texts, options));
    });
}
