// Parameters of a model as a person types them, checked by the types of `options`. Ranges
// are the server's business. https://github.com/ollama/ollama/blob/main/docs/modelfile.mdx

import {
  optionHelp,
  type OptionInfo,
  OPTIONS,
  type OptionTypes,
  UNUSED_PARAMETERS,
} from "../../../engine/mod.ts";
import { CommandError } from "./command.ts";
import { lookUp, nearest } from "../../text/nearest.ts";

type ParameterType = keyof OptionTypes;

/** All parameters that may be set: those without effect too, as Ollama has them. */
export const PARAMETERS: Readonly<Record<string, { type: ParameterType; help: string }>> = Object
  .fromEntries([
    ...Object.values<OptionInfo>(OPTIONS).map((option) => [
      option.name,
      { type: option.type, help: optionHelp(option) },
    ]),
    ...Object.entries(UNUSED_PARAMETERS).map(([name, type]) => [
      name,
      { type, help: "Changes nothing here." },
    ]),
  ]);

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
  text: "a text",
  texts: "one or more texts",
};

function readValue(type: ParameterType, word: string): unknown {
  if (type === "text") return word;
  if (type === "boolean") return word === "true" ? true : word === "false" ? false : undefined;
  const isNumber = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(word);
  const value = Number(word);
  if (!isNumber || (type === "integer" && !Number.isSafeInteger(value))) return undefined;
  return value;
}
