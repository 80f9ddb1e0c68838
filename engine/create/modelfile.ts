// Parses Modelfiles: the base of a new model, and what it has besides weights. Paths and names are
// not interpreted. The format: docs/modelfile of the Ollama project, and $"…" around a string of JSON
// for texts that it cannot say; formatModelfile() writes them.

import { EngineError, RequestError } from "../errors.ts";
import type { StoreEntry } from "../store/mod.ts";
import { readVersion } from "./config.ts";
import { type Parameters, readNumber, readParameter } from "./parameters.ts";

/** A message with which a model's conversations begin. */
export interface ModelMessage {
  readonly role: string;
  readonly content: string;
}

/** A control vector of a Modelfile. */
export interface NamedControlVector {
  /** Path of a file, or name of one of the server's vectors. */
  readonly name: string;
  /** Factor of its directions. */
  readonly scale: number;
}

/** A parsed Modelfile. */
export interface Modelfile {
  /** The bases, at least one: a name, or paths of files and folders. */
  readonly from: readonly string[];
  /** Paths of LoRA adapters. */
  readonly adapters: readonly string[];
  readonly controlVectors: readonly NamedControlVector[];
  readonly parameters: Parameters;
  readonly messages: readonly ModelMessage[];
  readonly license: readonly string[];
  /** Template in the language of Go. */
  readonly template?: string;
  readonly system?: string;
  /** Minimum version of Ollama. */
  readonly requires?: string;
  readonly renderer?: string;
  readonly parser?: string;
  /** The draft model: a name, or the path of a file. */
  readonly draft?: string;
}

/** An instruction: its keyword in lower case, and the rest of it. */
interface Instruction {
  readonly line: number;
  readonly keyword: string;
  /** The name of a PARAMETER, the role of a MESSAGE, or the vector of a CONTROL. */
  readonly subject: string;
  readonly value: string;
}

type Unfinished = { -readonly [Key in keyof Modelfile]: Modelfile[Key] } & {
  from: string[];
  adapters: string[];
  controlVectors: NamedControlVector[];
  parameters: Record<string, unknown>;
  messages: ModelMessage[];
  license: string[];
};

const ROLES = ["system", "user", "assistant"];

const APPLY: Record<string, (model: Unfinished, instruction: Instruction) => void> = {
  from: (model, { value }) => model.from.push(value),
  adapter: (model, { value }) => model.adapters.push(value),
  control: addControlVector,
  parameter: addParameter,
  template: (model, { value }) => model.template = value,
  system: (model, { value }) => model.system = value,
  message: addMessage,
  license: (model, { value }) => model.license.push(value),
  requires: (model, { value }) => model.requires = readVersion(value),
  renderer: (model, { value }) => model.renderer = value,
  parser: (model, { value }) => model.parser = value,
  draft: (model, { value }) => model.draft = value,
};

const KEYWORDS = Object.keys(APPLY).map((keyword) => keyword.toUpperCase()).join(", ");
/** Instructions whose first word is not part of the value, and how it is split off. */
const SPLIT: Record<string, (rest: string) => [subject: string, value: string]> = {
  parameter: splitWord,
  message: splitWord,
  control: splitScale,
};

/**
 * Parses a Modelfile.
 *
 * @param source its text, or its bytes in UTF-8, or in UTF-16 with a byte order mark
 * @throws {RequestError} naming the line, if it is invalid
 */
export function parseModelfile(source: string | Uint8Array): Modelfile {
  const text = typeof source === "string" ? source : decode(source);
  const model: Unfinished = {
    from: [],
    adapters: [],
    controlVectors: [],
    parameters: {},
    messages: [],
    license: [],
  };
  for (const instruction of readInstructions(text)) {
    try {
      APPLY[instruction.keyword]!(model, instruction);
    } catch (error) {
      throw error instanceof EngineError ? fault(error.message, instruction.line) : error;
    }
  }
  if (model.from.length === 0) throw fault("no FROM line: it says what the model is made from");
  return model;
}

function addParameter({ parameters }: Unfinished, { subject, value }: Instruction): void {
  const read = readParameter(subject, value);
  const earlier = parameters[subject];
  parameters[subject] = Array.isArray(read) && Array.isArray(earlier)
    ? [...earlier, ...read]
    : read;
}

function addControlVector({ controlVectors }: Unfinished, { subject, value }: Instruction): void {
  const scale = readNumber(value);
  if (scale === undefined) {
    const advice = "a path with spaces has to be in quotes";
    throw new RequestError(`the scale of CONTROL must be a number, not "${value}"; ${advice}`);
  }
  controlVectors.push({ name: subject, scale });
}

function addMessage({ messages }: Unfinished, { subject, value }: Instruction): void {
  const role = subject.toLowerCase();
  if (!ROLES.includes(role)) {
    throw new RequestError(`message role must be one of ${ROLES.join(", ")}, not "${subject}"`);
  }
  messages.push({ role, content: value });
}

function* readInstructions(text: string): Generator<Instruction> {
  const lines = linesOf(text.replace(/^\ufeff/, ""));
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    const start = lines[index]!.trimStart();
    if (start === "" || start.startsWith("#")) continue;
    const [keyword, rest] = splitWord(start);
    if (!Object.hasOwn(APPLY, keyword.toLowerCase())) {
      throw fault(`unknown instruction "${keyword}", not one of ${KEYWORDS}`, line);
    }
    const [subject, first] = SPLIT[keyword.toLowerCase()]?.(rest) ?? ["", rest];
    if (first === "") throw fault(`${keyword.toUpperCase()} lacks its value`, line);

    let value = first;
    for (; !isClosed(value); value += `\n${lines[index]}`) {
      if (++index === lines.length) throw fault("the quotes that open here are never closed", line);
    }
    yield { line, keyword: keyword.toLowerCase(), subject, value: unquoted(value) };
  }
}

/** The lines. Where they end with \n, what else ends lines elsewhere is part of a text. */
function linesOf(text: string): string[] {
  const [end] = /\r\n|\n|\r/.exec(text) ?? [];
  return text.split(end === "\n" ? end : /\r\n|\n|\r/);
}

/** The first word, and what follows it. */
function splitWord(text: string): [word: string, rest: string] {
  const [, word = "", rest = ""] = /^(\S*)\s*([^]*)$/.exec(text)!;
  return [word, rest];
}

/** The vector of a CONTROL, which may be in quotes, and its scale, which is 1 if it is left out. */
function splitScale(text: string): [name: string, scale: string] {
  const [quotes] = /^("""[^]+?"""|"[^"]+"|\$"(?:[^"\\]|\\.)+")(?!\S)/.exec(text) ?? [];
  const [name, scale] = quotes ? [unquoted(quotes), text.slice(quotes.length)] : splitWord(text);
  return [name, scale.trim() || (name && "1")];
}

function quotesOf(value: string): string {
  return /^"""|^"|/.exec(value)![0];
}

/** Whether a value that begins with quotes ends with the same ones, ignoring spaces. */
function isClosed(value: string): boolean {
  const quotes = quotesOf(value);
  const trimmed = value.trimEnd();
  return trimmed.endsWith(quotes) && trimmed.length >= 2 * quotes.length;
}

function unquoted(value: string): string {
  const trimmed = value.trimEnd();
  const { length } = quotesOf(value);
  return jsonText(trimmed) ?? trimmed.slice(length, trimmed.length - length);
}

/** The text of $"…"; undefined if it is no such string. */
function jsonText(value: string): string | undefined {
  if (!/^\$"[^]*"$/.test(value)) return undefined;
  try {
    return JSON.parse(value.slice(1));
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array): string {
  const mark = bytes.subarray(0, 2).toHex();
  const encoding = { fffe: "utf-16le", feff: "utf-16be" }[mark] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw fault(`it is no text in ${encoding.toUpperCase()}`);
  }
}

function fault(state: string, line?: number): RequestError {
  const place = line === undefined ? "" : `line ${line}: `;
  return new RequestError(`Cannot read the Modelfile: ${place}${state}`);
}

// Writes a Modelfile from which the model can be made again, in the format of `ollama show
// --modelfile`. modelfile.ts parses them, and says which of the ways to write a text reads back.

/** A model's Modelfile. Parameters of other programs, which no Modelfile can set, are comments. */
export function formatModelfile({ name, source, defaults }: StoreEntry): string {
  const { template, system, parameters, messages, license, renderer, parser, requires } = defaults;
  const { controlVectors = [] } = defaults;
  const [from, adapters] = source.kind === "remote"
    ? [[source.model], []]
    : [[source.path, ...(source.projector ? [source.projector] : [])], source.adapters];
  return [
    `# Modelfile generated by "ollama show"`,
    "# To build a new Modelfile based on this, replace FROM with:",
    `# FROM ${name}`,
    "",
    ...from.map((origin) => `FROM ${quoted(origin)}`),
    ...adapters.map((path) => `ADAPTER ${quoted(path)}`),
    ...controlVectors.map(({ path, scale }) => `CONTROL ${quoted(path, asControl)} ${scale}`),
    ...instruction("DRAFT", source.kind === "files" ? source.draft : undefined),
    ...instruction("TEMPLATE", template),
    ...instruction("SYSTEM", system),
    ...instruction("RENDERER", renderer),
    ...instruction("PARSER", parser),
    ...instruction("REQUIRES", requires),
    ...parameterLines(parameters, parameterInstruction),
    ...license.flatMap((text) => instruction("LICENSE", text)),
    ...messages.map(({ role, content }) => `MESSAGE ${role} ${quoted(content)}`),
    "",
  ].join("\n");
}

/** The parameters as in `ollama show`: a line per value, with names padded to 30 characters. */
export function formatParameters(parameters: Readonly<Record<string, unknown>>): string {
  return parameterLines(parameters, (name, value) => `${name.padEnd(30)} ${JSON.stringify(value)}`)
    .join("\n");
}

function parameterLines(
  parameters: Readonly<Record<string, unknown>>,
  toLine: (name: string, value: unknown) => string,
): string[] {
  return Object.entries(parameters).sort(([a], [b]) => a < b ? -1 : 1).flatMap(([name, value]) =>
    [value].flat().map((one) => toLine(name, one))
  );
}

function instruction(keyword: string, text: string | undefined): string[] {
  return text ? [`${keyword} ${quoted(text)}`] : [];
}

function parameterInstruction(name: string, value: unknown): string {
  const text = String(value);
  const line = `PARAMETER ${name} ${quoted(text)}`;
  try {
    readParameter(name, text);
    return line;
  } catch {
    return `# ${line.replace(/[\r\n]/g, " ")}`;
  }
}

/** A text in quotes, if it would be parsed differently without. */
function quoted(text: string, read = asSystem): string {
  const ways = [text, ...text.includes('"') ? [] : [`"${text}"`], `"""${text}"""`];
  return ways.find((way) => readsAs(way, text, read)) ?? `$${JSON.stringify(text)}`;
}

function readsAs(way: string, text: string, read: (way: string) => string | undefined): boolean {
  try {
    return read(way) === text;
  } catch {
    return false;
  }
}

function asSystem(way: string): string | undefined {
  return parseModelfile(`FROM x\nSYSTEM ${way}\nLICENSE x`).system;
}

function asControl(way: string): string | undefined {
  return parseModelfile(`FROM x\nCONTROL ${way} 1\nLICENSE x`).controlVectors[0]?.name;
}
