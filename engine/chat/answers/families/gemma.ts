// Gemma 4 and FunctionGemma of Google: call:NAME{key:value,...} with keys without quotes in
// alphabetical order, and a token of its own for quotes. Gemma 4 thinks in a channel. Gemma 2 and 3
// have neither.

import { isJsonObject } from "../../../../tokenizer/mod.ts";
import {
  choice,
  type Grammar,
  literal,
  optional,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import type { AnswerFamily, CallableTool, CallSyntax } from "../types.ts";
import { readLiteral } from "./literals.ts";
import { ordered, separated } from "./ordered.ts";
import {
  argumentsOf,
  countsOf,
  itemsOf,
  propertiesOf,
  type Property,
  type Schema,
  toolJson,
  typesOf,
  unheldWithin,
} from "./tool_schema.ts";
import { stringGrammar } from "./typed_text.ts";

/** Most nesting of values in a grammar. */
const MAX_DEPTH = 4;

/** Types of a list's items in a grammar, if the schema does not name any. */
const SIMPLE_TYPES = ["string", "number", "boolean"];

export const GEMMA_4: AnswerFamily = {
  name: "gemma4",
  recognises: (template) => template.includes("<|tool_call>") && template.includes("<|channel>"),
  thinking: { open: "<|channel>thought\n", close: "<channel|>" },
  calls: gemmaCalls("<|tool_call>", "<tool_call|>", '<|"|>'),
};

export const FUNCTION_GEMMA: AnswerFamily = {
  name: "function-gemma",
  recognises: (template) => template.includes("<start_function_call>"),
  calls: gemmaCalls("<start_function_call>", "<end_function_call>", "<escape>"),
};

function gemmaCalls(open: string, close: string, quote: string): CallSyntax {
  return {
    openings: [open],
    closing: close,
    read(body) {
      const match = /^\s*call:([^\s{]+)(\{[^]*)$/.exec(body);
      const members = match ? readLiteral(match[2]!) : undefined;
      return match && isJsonObject(members) ? [{ name: match[1]!, arguments: members }] : undefined;
    },
    grammar(tools, { parallel }) {
      const values = new ValueGrammars(close, quote);
      const call = (tool: CallableTool) =>
        sequence(
          literal(`${open}call:${tool.name}`),
          values.object(argumentsOf(tool), 0),
          literal(close),
        );
      return separated(choice(...tools.map(call)), "", parallel);
    },
    unheld: (tool) => unheldWithin(argumentsOf(tool), MAX_DEPTH),
  };
}

/**
 * Grammars of values by their schemas. Lists and objects that are nested too deeply are any text.
 */
class ValueGrammars {
  readonly #quote: Grammar;
  readonly #text: Grammar;
  readonly #anything: Grammar;

  /**
   * @param close the end of the call, which is in no value
   * @param quote the mark around strings
   */
  constructor(close: string, quote: string) {
    this.#quote = literal(quote);
    this.#text = textWithout(quote);
    this.#anything = textWithout(close);
  }

  object(schema: Schema, depth: number): Grammar {
    const lowerCase = ({ key }: Property) => key.toLowerCase();
    const properties = propertiesOf(schema)
      ?.toSorted((a, b) => lowerCase(a) < lowerCase(b) ? -1 : 1);
    const write = ({ key, schema }: Property) =>
      sequence(literal(`${key}:`), this.#value(schema, depth + 1));
    const isKnown = properties && depth <= MAX_DEPTH;
    const members = isKnown ? ordered(properties, write, ",") : this.#anything;
    return sequence(literal("{"), members, literal("}"));
  }

  #value(schema: Schema, depth: number): Grammar {
    const types = typesOf(schema);
    const scalars = (["null", "boolean", "number"] as const).filter((type) => types.has(type));
    return choice(
      ...types.has("string") ? [this.#string(schema)] : [],
      ...scalars.length > 0 ? [toolJson(schema, scalars)] : [],
      ...types.has("object") ? [this.object(schema, depth)] : [],
      ...types.has("array") ? [this.#list(schema, depth)] : [],
    );
  }

  #string(schema: Schema): Grammar {
    return sequence(this.#quote, stringGrammar(schema, this.#text), this.#quote);
  }

  #list(schema: Schema, depth: number): Grammar {
    const items = isJsonObject(schema.items) ? itemsOf(schema) : { type: SIMPLE_TYPES };
    const write = () => {
      const item = this.#value(items, depth + 1);
      const { min, max } = countsOf(schema);
      if (max < 1) return sequence();
      const others = repeat(sequence(literal(","), item), Math.max(min - 1, 0), max - 1);
      return min > 0 ? sequence(item, others) : optional(sequence(item, others));
    };
    const inside = depth <= MAX_DEPTH ? write() : this.#anything;
    return sequence(literal("["), inside, literal("]"));
  }
}
