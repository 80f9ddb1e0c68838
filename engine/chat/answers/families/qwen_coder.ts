// The XML-like format of Qwen3-Coder, Qwen 3.5, Nemotron 3 and Step 3.5:
// <tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>, with line
// breaks around each value. Strings are written as they are, without escapes; other values are
// JSON.

import {
  choice,
  type Grammar,
  literal,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import type { AnswerFamily, CallableTool, ReadCall } from "../types.ts";
import { ordered, separated } from "./ordered.ts";
import {
  argumentsOf,
  othersOf,
  propertiesOf,
  propertyOf,
  type Schema,
  toolOf,
  unheldOfObject,
} from "./tool_schema.ts";
import { textGrammar, valueOfText } from "./typed_text.ts";

const OPENING = "<tool_call>";

const FUNCTION = "<function=";

const CLOSING = "</tool_call>";

/** A call: name and parameters. Its end only counts if the next call, or nothing, follows. */
const CALL =
  /\s*<function=([^>\n]+)>([^]*?)(?:<\/function>\s*(?:<\/tool_call>\s*)?(?:<tool_call>\s*)?(?=<function=|$)|$)/y;

/** A parameter: key and value. Its end only counts if the next parameter, or nothing, follows. */
const PARAMETER =
  /\s*<parameter=([^>\n]+)>\n?([^]*?)(?:\n?<\/parameter>\s*(?=<parameter=|$)|\n(?=<parameter=)|$)/y;

export const QWEN_CODER: AnswerFamily = {
  name: "qwen-coder",
  recognises: (template) =>
    [OPENING, FUNCTION, "<parameter="].every((mark) => template.includes(mark)),
  calls: {
    // The models sometimes forget the first mark.
    openings: [OPENING, FUNCTION],
    // A value may contain the second mark alone.
    closing: `</function>\n${CLOSING}`,
    read(body, opening, tools) {
      if (opening !== FUNCTION) return readCalls(body, tools);
      const calls = readCalls(FUNCTION + body, tools);
      const areKnown = calls?.every(({ name }) => tools.some((tool) => tool.name === name));
      return areKnown ? calls : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(...tools.map(callGrammar));
      return separated(
        sequence(literal(`${OPENING}\n`), call, literal(`\n${CLOSING}`)),
        "\n",
        parallel,
      );
    },
    unheld: (tool) => unheldOfObject(argumentsOf(tool)),
  },
};

function readCalls(body: string, tools: readonly CallableTool[]): ReadCall[] | undefined {
  const calls = matchAll(body.trimEnd(), CALL)?.map(([name, parameters]) =>
    readCall(name, parameters, argumentsOf(toolOf(name, tools)))
  );
  return calls?.length && calls.every((call) => call !== undefined) ? calls : undefined;
}

function readCall(name: string, parameters: string, schema: Schema): ReadCall | undefined {
  const members = matchAll(parameters.trimEnd(), PARAMETER);
  if (!members) return undefined;
  const values = members.map(([key, text]) => [key, valueOfText(text, propertyOf(schema, key))]);
  return { name, arguments: Object.fromEntries(values) };
}

/** The two groups of each match; undefined if the matches do not cover the text. */
function matchAll(text: string, pattern: RegExp): [string, string][] | undefined {
  const found: [string, string][] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (!match) return undefined;
    found.push([match[1]!.trim(), match[2]!]);
  }
  return found;
}

const CLOSE = "\n</parameter>\n";

/** Texts in which nothing is taken for the end of the value, of the function, or of the call. */
const VALUE = textWithout(
  CLOSE,
  "\n<parameter=",
  "</parameter><parameter=",
  "</function><function=",
  `</function>\n${FUNCTION}`,
  `</function>\n${CLOSING}`,
);

/** A key that nobody declared. */
const ANY_KEY = repeat(
  { type: "characters", ranges: [[0x0a, 0x0a], [0x3e, 0x3e]], negated: true },
  1,
);

function callGrammar(tool: CallableTool): Grammar {
  const parameter = (key: Grammar, schema: Schema) =>
    sequence(
      literal("<parameter="),
      key,
      literal(">\n"),
      textGrammar(schema, VALUE),
      literal(CLOSE),
    );
  const schema = argumentsOf(tool);
  const properties = propertiesOf(schema);
  const anyParameters = schema.additionalProperties === false
    ? sequence()
    : repeat(parameter(ANY_KEY, othersOf(schema)));
  return sequence(
    literal(`${FUNCTION}${tool.name}>\n`),
    properties
      ? ordered(properties, ({ key, schema }) => parameter(literal(key), schema))
      : anyParameters,
    literal("</function>"),
  );
}
