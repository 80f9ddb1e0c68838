// The form that an answer must have, in every API: Ollama's `format`, OpenAI's `response_format`, those
// that a dialect keeps elsewhere, and what vLLM, SGLang, llama-server, Together and TGI call the same.
// A request gives one of them at most. Pure.

import { isJsonObject, type OutputFormat } from "../../../engine/mod.ts";
import {
  type BodyOf,
  closed,
  flag,
  type Given,
  harmless,
  only,
  optional,
  text,
  texts,
} from "../body/schema.ts";
import { HttpError } from "../errors.ts";

/** A schema as a value, or as JSON text. */
const schema = { description: "A JSON Schema, or its JSON text." } as const;

const aboutSchema = harmless("the schema says what the answer is");

/** Names of a schema, for its author. A schema holds or is refused, so `strict` asks for nothing more. */
const namesOfSchema = { name: aboutSchema, description: aboutSchema, strict: aboutSchema } as const;

const type = {
  enum: ["text", "json_object", "json_schema", "json", "regex", "grammar"],
} as const;

const formatObject = closed({
  ...namesOfSchema,
  type,
  json_schema: {
    ...optional(closed({ ...namesOfSchema, schema })),
    description: "The JSON Schema, with a name.",
  },
  schema,
  value: { description: "What TGI calls schema, pattern and grammar." },
  pattern: { ...text, description: "With the type regex: what the whole answer matches." },
  grammar: { ...text, description: "With the type grammar: a grammar in GBNF." },
}, "type");

/** What OpenAI's clients and others call a format. */
export const responseFormat = optional(formatObject);

export type ResponseFormat = BodyOf<typeof responseFormat>;

const onOneLine = "documents are written on one line";

const structuredOutputs = optional(
  closed({
    json: schema,
    regex: { ...text, description: "What the whole answer matches." },
    choice: { ...texts, description: "The answer is one of these texts." },
    grammar: { ...text, description: "A grammar in GBNF that the answer fits." },
    json_object: { ...flag, description: "The answer is any JSON object." },
    disable_any_whitespace: harmless(onOneLine),
    disable_additional_properties: harmless("open_objects says which keys objects may have"),
    disable_fallback: harmless("there is one compiler of formats"),
    backend: harmless("there is one compiler of formats"),
    whitespace_pattern: only([], onOneLine),
    structural_tag: only([], "give a schema, a pattern or a grammar"),
  }),
);

/** The members of requests that say what an answer must be. */
export const formatMembers = {
  format: { description: '"json", or a JSON Schema.' },
  pattern: {
    ...text,
    description:
      "In place of format: an ECMA-262 regular expression that the whole answer matches.",
  },
  grammar: { ...text, description: "In place of format: a grammar in GBNF that the answer fits." },
  response_format: {
    ...responseFormat,
    description: "What the answer must be: text, any JSON object, or a document of a JSON Schema.",
  },
  structured_outputs: {
    ...structuredOutputs,
    description: "As vLLM has it: a schema, a pattern, a grammar, or texts to choose from.",
  },
  json_schema: { description: "A JSON Schema, as llama-server and SGLang have it." },
  regex: { ...text, description: "What SGLang calls pattern." },
  ebnf: { ...text, description: "What SGLang calls grammar." },
  guided_json: { description: "The older name of structured_outputs.json." },
  guided_regex: { ...text, description: "The older name of structured_outputs.regex." },
  guided_choice: { ...texts, description: "The older name of structured_outputs.choice." },
  guided_grammar: { ...text, description: "The older name of structured_outputs.grammar." },
  guided_whitespace_pattern: only([], onOneLine),
} as const;

const request = closed(formatMembers);

/** The members of a format that say what it is. */
const CONTENTS = ["json_schema", "schema", "value", "pattern", "grammar"] as const;

/** Those of them that each type has. */
const CONTENT_OF: Record<NonNullable<ResponseFormat>["type"], readonly string[]> = {
  text: [],
  json: ["json_schema", "schema", "value"],
  json_object: ["json_schema", "schema", "value"],
  json_schema: ["json_schema", "schema", "value"],
  regex: ["pattern", "value"],
  grammar: ["grammar", "value"],
};

/** A body with these members. */
export type FormatBody = BodyOf<typeof request>;

/** A format, and the member that asks for it. */
export interface AskedFormat {
  format: OutputFormat;
  /** For errors of the format, such as "response_format". */
  param: string;
}

/**
 * The format that a request asks for; undefined if any text will do.
 *
 * @param elsewhere formats that a dialect keeps in other members, by the names of those
 * @throws {HttpError} 400 if it is none, or there are several
 */
export function readFormat(
  body: FormatBody,
  elsewhere: Record<string, ResponseFormat | undefined> = {},
): AskedFormat | undefined {
  const { structured_outputs: structured } = body;
  const asked: [param: string, format: OutputFormat | undefined][] = [
    ["format", readNative(body.format)],
    ["pattern", toPattern(body.pattern)],
    ["grammar", toGrammar(body.grammar)],
    ["response_format", readObject(body.response_format, "response_format")],
    ...Object.entries(elsewhere).map(([param, format]): [string, OutputFormat | undefined] => [
      param,
      readObject(format, param),
    ]),
    ["structured_outputs.json", toSchema(structured?.json)],
    ["structured_outputs.regex", toPattern(structured?.regex)],
    ["structured_outputs.choice", toChoice(structured?.choice)],
    ["structured_outputs.grammar", toGrammar(structured?.grammar)],
    ["structured_outputs.json_object", structured?.json_object ? "json" : undefined],
    ["json_schema", toSchema(body.json_schema)],
    ["regex", toPattern(body.regex)],
    ["ebnf", toGrammar(body.ebnf)],
    ["guided_json", toSchema(body.guided_json)],
    ["guided_regex", toPattern(body.guided_regex)],
    ["guided_choice", toChoice(body.guided_choice)],
    ["guided_grammar", toGrammar(body.guided_grammar)],
  ];
  const [first, second] = asked.flatMap(([param, format]) => format ? [{ param, format }] : []);
  if (!second) return first;
  throw new HttpError(
    400,
    `${first!.param} and ${second.param} exclude each other: give one`,
    second.param,
  );
}

/** Ollama's `format`. The empty string and null are none. */
function readNative(format: unknown): OutputFormat | undefined {
  if (format === undefined || format === null || format === "") return undefined;
  if (format === "json") return "json";
  if (isJsonObject(format)) return { schema: format };
  throw new HttpError(
    400,
    `invalid format: ${JSON.stringify(format)}; expected "json" or a valid JSON Schema object`,
    "format",
  );
}

function readObject(format: Given<ResponseFormat>, param: string): OutputFormat | undefined {
  if (!format) return undefined;
  const { type, json_schema: named, schema, value, pattern, grammar } = format;
  const stray = CONTENTS.find((name) => format[name] != null && !CONTENT_OF[type].includes(name));
  if (stray) {
    throw new HttpError(400, `${param}.${stray} does not go with the type ${type}`, param);
  }
  const document = named?.schema ?? schema ?? value;
  switch (type) {
    case "text":
      return undefined;
    case "json":
    case "json_object":
      return toSchema(document) ?? "json";
    case "json_schema":
      return toSchema(document) ?? lacks(param, type, "schema");
    case "regex":
      return toPattern(pattern ?? value) ?? lacks(param, type, "pattern");
    case "grammar":
      return toGrammar(grammar ?? value) ?? lacks(param, type, "grammar");
  }
}

function lacks(param: string, type: string, member: string): never {
  throw new HttpError(400, `${param} of type ${type} lacks "${member}"`, param);
}

function toSchema(schema: unknown): OutputFormat | undefined {
  return schema === undefined || schema === null || schema === "" ? undefined : { schema };
}

function toPattern(pattern: unknown): OutputFormat | undefined {
  return typeof pattern === "string" && pattern !== "" ? { pattern } : undefined;
}

function toGrammar(grammar: unknown): OutputFormat | undefined {
  return typeof grammar === "string" && grammar !== "" ? { grammar } : undefined;
}

/** The format of answers that are one of these texts. */
function toChoice(texts: Given<string[]>): OutputFormat | undefined {
  if (!texts?.length) return undefined;
  return { pattern: texts.map((text) => RegExp.escape(text)).join("|") };
}
