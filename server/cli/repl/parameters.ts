// Parameters of a model as a person types them, checked by the types of Ollama's `options`. Ranges
// are the server's business. https://github.com/ollama/ollama/blob/main/docs/modelfile.mdx

import { CommandError } from "./command.ts";
import { lookUp, nearest } from "../../text/nearest.ts";

type ParameterType = "number" | "integer" | "boolean" | "texts";

interface Parameter {
  readonly type: ParameterType;
  readonly help: string;
}

/** All parameters that may be set. */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  temperature: { type: "number", help: "0 always takes the most likely token" },
  top_k: { type: "integer", help: "choose among so many tokens" },
  top_p: { type: "number", help: "choose among tokens of this share of probability" },
  min_p: { type: "number", help: "least probability, as a share of the highest" },
  typical_p: { type: "number", help: "choose among tokens of typical information" },
  seed: { type: "integer", help: "same seed, same text; -1 is random" },
  num_predict: { type: "integer", help: "most tokens of an answer; -1 is no limit" },
  num_ctx: { type: "integer", help: "context window in tokens; loads the model anew" },
  num_keep: { type: "integer", help: "tokens kept when the window slides" },
  repeat_penalty: { type: "number", help: "above 1 discourages repetition" },
  repeat_last_n: { type: "integer", help: "tokens looked back at for it; -1 is the window" },
  presence_penalty: { type: "number", help: "discourages tokens that have been there" },
  frequency_penalty: { type: "number", help: "discourages them by how often they were" },
  stop: { type: "texts", help: "texts that end an answer, in quotes if they have spaces" },
  open_objects: {
    type: "boolean",
    help: "let objects have keys, and values types, that a schema does not name",
  },
  num_batch: { type: "integer", help: "tokens of a prompt read at a time" },
  num_gpu: { type: "integer", help: "layers on the GPU; -1 is automatic" },
  main_gpu: { type: "integer", help: "number of the GPU" },
  num_thread: { type: "integer", help: "threads; 0 is automatic" },
  use_mmap: { type: "boolean", help: "map the file into memory" },
  draft_num_predict: { type: "integer", help: "tokens drafted at a time" },
};

/**
 * The value that words stand for.
 *
 * @throws {CommandError} if there is no such parameter, or the words are no value of its type
 */
export function parseParameter(name: string, words: readonly string[]): unknown {
  const parameter = lookUp(PARAMETERS, name);
  if (!parameter) {
    const near = nearest(name, Object.keys(PARAMETERS));
    throw new CommandError(
      `There is no parameter "${name}".${near ? ` Did you mean "${near}"?` : ""} ` +
        "Type /? parameter for all of them.",
    );
  }
  if (parameter.type === "texts") return words;
  const value = words.length === 1 ? readValue(parameter.type, words[0]!) : undefined;
  if (value !== undefined) return value;
  throw new CommandError(
    `Cannot set ${name} to "${words.join(" ")}": it must be ${DESCRIPTIONS[parameter.type]}.`,
  );
}

const DESCRIPTIONS: Record<ParameterType, string> = {
  number: "a number, such as 0.7",
  integer: "an integer, such as 42",
  boolean: "true or false",
  texts: "one or more texts",
};

function readValue(type: ParameterType, word: string): unknown {
  if (type === "boolean") return word === "true" ? true : word === "false" ? false : undefined;
  const isNumber = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(word);
  const value = Number(word);
  if (!isNumber || (type === "integer" && !Number.isSafeInteger(value))) return undefined;
  return value;
}
