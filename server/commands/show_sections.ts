// What `quern show` prints of a model: sections of names and values, two spaces in, from the answer of
// /api/show. Pure.

import { padEnd, type Style, widthOf } from "../terminal/mod.ts";
import type { OllamaShow } from "../wire/model_types.ts";
import { formatCount } from "../../engine/mod.ts";
import type { OllamaDetails } from "../wire/ollama_types.ts";

/** What is printed of an answer of /api/show, whose empty members servers leave out. */
export type ShowAnswer = Partial<Omit<OllamaShow, "details" | "messages">> & {
  details?: Partial<OllamaDetails>;
};

/** How the sections are printed. */
export interface SectionOptions {
  style: Style;
  /** Whether all of the file's metadata and tensors are shown, and all of the texts. */
  verbose: boolean;
}

type Row = (string | undefined)[];

/** Lines of a long text that are shown. */
const TEXT_LINES = 2;

/** All sections that the answer has something for, a blank line between them. */
export function formatSections(answer: ShowAnswer, { style, verbose }: SectionOptions): string {
  const { capabilities = [], parameters = "", system = "", license = "" } = answer;
  const { projector_info: projector = {}, model_info: info = {}, tensors = [] } = answer;
  const textLines = verbose ? Infinity : TEXT_LINES;
  const sections: [title: string, rows: Row[]][] = [
    ["Model", modelRows(answer)],
    ["Capabilities", capabilities.map((capability) => [capability])],
    ["Projector", projectorRows(projector)],
    ["Parameters", linesOf(parameters).map(splitParameter)],
    ["System", textRows(system, textLines)],
    ["License", textRows(license, textLines)],
  ];
  if (verbose) {
    const metadata = Object.entries(info).map(([key, value]) => [key, metadataValue(value)]);
    const shapes = tensors.map(({ name, type, shape }) => [name, type, `[${shape.join(" ")}]`]);
    sections.push(["Metadata", metadata], ["Tensors", shapes]);
  }
  return sections
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => `  ${style.bold(title)}\n${formatRows(rows)}\n`)
    .join("");
}

function modelRows(answer: ShowAnswer): Row[] {
  const { details = {}, model_info: info = {} } = answer;
  const architecture = info["general.architecture"] ?? details.family;
  const count = info["general.parameter_count"];
  return withValues([
    ["remote model", answer.remote_model],
    ["remote address", answer.remote_host],
    ["architecture", textOf(architecture)],
    ["parameters", typeof count === "number" ? formatCount(count) : details.parameter_size],
    ["context length", textOf(info[`${architecture}.context_length`])],
    ["embedding length", textOf(info[`${architecture}.embedding_length`])],
    ["quantization", details.quantization_level],
    ["requires", answer.requires],
  ]);
}

function projectorRows(info: Record<string, unknown>): Row[] {
  const count = info["general.parameter_count"];
  return withValues([
    ["architecture", textOf(info["general.architecture"])],
    ["parameters", typeof count === "number" ? formatCount(count) : undefined],
    ["embedding length", textOf(info["clip.vision.embedding_length"])],
    ["dimensions", textOf(info["clip.vision.projection_dim"])],
  ]);
}

function withValues(rows: Row[]): Row[] {
  return rows.filter(([, value]) => value !== undefined && value !== "");
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** `stop    "<|end|>"` into the name and the rest. */
function splitParameter(line: string): Row {
  const [, name, value] = /^(\S+)\s*(.*)$/.exec(line.trim())!;
  return [name, value];
}

function textRows(text: string, count: number): Row[] {
  const lines = linesOf(text);
  const shown: Row[] = lines.slice(0, count).map((line) => [line.trim()]);
  return lines.length > count ? [...shown, ["..."]] : shown;
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

/** Lists of the vocabulary have hundreds of thousands of entries: three of them and the count. */
function metadataValue(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  const shown = value.slice(0, 3).map((one) => JSON.stringify(one)).join(", ");
  return value.length > 3 ? `[${shown}, ... (${value.length} values)]` : `[${shown}]`;
}

/** Columns side by side, four spaces in and apart. */
function formatRows(rows: Row[]): string {
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    // A text alone on its line pushes no column aside.
    Math.max(0, ...rows.filter((row) => row.length > 1).map((row) => widthOf(row[column] ?? ""))));
  return rows.map((row) => {
    const cells = row.map((cell = "", column) => padEnd(cell, widths[column]!));
    return `    ${cells.join("    ").trimEnd()}\n`;
  }).join("");
}
