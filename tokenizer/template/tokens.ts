// From a template's source to the tokens of the library's parser. Tags, comments, raw blocks and
// the white space around them are told apart here, as Jinja does with trim_blocks and
// lstrip_blocks; the inside of each tag goes through the library's lexer.

import { tokenize } from "../dependencies.ts";
import { JinjaError } from "./errors.ts";
import { rewriteTag } from "./rewrite.ts";

/** A token of the library's parser. */
export type Token = ReturnType<typeof tokenize>[number];

const OPENING = /\{[{%#]/g;
const RAW = /\{%[-+]?\s*raw\s*(-?)%\}/y;
const RAW_END = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const COMMENT_END = /([-+]?)#\}/g;

/** What the inside of a tag is made of, as far as its end depends on it. */
const PIECE = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[([{]|[-+]?[%}]\}|[)\]}]|[^'"()[\]{}%+-]+|./gsy;

/** The longest templates of models have some 40,000. */
const MAXIMUM_LENGTH = 1 << 19;

/** A tag of the source: `{{`, `{%` or `{#`, its marks `-` or `+` and what lies between. */
interface Tag {
  kind: string;
  inside: string;
  /** Text of a raw block, which is its own tag. */
  raw?: string;
  openMark: string;
  closeMark: string;
  start: number;
  end: number;
}

/** The tokens of a template. Error: JinjaError with the line. */
export function tokenizeTemplate(source: string): Token[] {
  if (source.length > MAXIMUM_LENGTH) {
    throw new JinjaError(
      `it has ${source.length} characters, at most ${MAXIMUM_LENGTH} are allowed`,
    );
  }
  const text = source.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  const tokens: Token[] = [];
  let position = 0;
  let trimsStart = false;
  for (;;) {
    const tag = nextTag(text, position);
    let piece = text.slice(position, tag?.start);
    if (trimsStart) piece = piece.trimStart();
    if (tag) piece = trimEnd(piece, tag, text);
    if (piece !== "") tokens.push(makeToken(piece, "Text"));
    if (!tag) return tokens;
    if (tag.raw !== undefined) tokens.push(makeToken(tag.raw, "Text"));
    else if (tag.kind !== "{#") tokens.push(...tokenizeTag(tag, text));
    position = tag.end;
    trimsStart = tag.closeMark === "-";
    if (tag.kind !== "{{" && tag.closeMark === "" && text[position] === "\n") position++;
  }
}

/** A token of the library. */
function makeToken(value: string, type: Token["type"]): Token {
  return { value, type };
}

/** The text before a tag without the space that the tag takes away. */
function trimEnd(piece: string, tag: Tag, text: string): string {
  if (tag.openMark === "-") return piece.trimEnd();
  if (tag.openMark === "+" || tag.kind === "{{") return piece;
  let lineStart = tag.start;
  while (lineStart > 0 && " \t".includes(text[lineStart - 1]!)) lineStart--;
  const opensLine = lineStart === 0 || text[lineStart - 1] === "\n";
  return opensLine ? piece.slice(0, Math.max(0, piece.length - (tag.start - lineStart))) : piece;
}

function nextTag(text: string, from: number): Tag | undefined {
  OPENING.lastIndex = from;
  const opening = OPENING.exec(text);
  if (!opening) return undefined;
  const { index: start, 0: kind } = opening;
  const mark = text[start + 2] === "-" || (text[start + 2] === "+" && kind !== "{{");
  const openMark = mark ? text[start + 2]! : "";
  const inner = start + 2 + openMark.length;
  if (kind === "{#") {
    COMMENT_END.lastIndex = inner;
    const end = COMMENT_END.exec(text);
    if (!end) throw new JinjaError(`line ${lineAt(text, start)}: a comment has no end`);
    return { kind, inside: "", openMark, closeMark: end[1]!, start, end: COMMENT_END.lastIndex };
  }
  RAW.lastIndex = start;
  const raw = RAW.exec(text);
  if (raw) return rawTag(text, raw, start, openMark);
  return { kind, openMark, start, ...findTagEnd(text, inner, kind, start) };
}

function findTagEnd(text: string, inner: number, kind: string, start: number) {
  const close = kind === "{%" ? "%}" : "}}";
  let depth = 0;
  PIECE.lastIndex = inner;
  for (let piece = PIECE.exec(text); piece; piece = PIECE.exec(text)) {
    const [found] = piece;
    if (depth === 0 && found.endsWith(close)) {
      const inside = text.slice(inner, piece.index);
      return { inside, closeMark: found.slice(0, -2), end: PIECE.lastIndex };
    }
    if ("([{".includes(found)) depth++;
    else if (/^[-+]?[%}]\}$/.test(found)) {
      // Two braces that close an inner dictionary, or what only looks like an end: step back.
      PIECE.lastIndex = piece.index + 1;
      if (found[0] === "}") depth--;
    } else if (")]}".includes(found)) depth--;
  }
  throw new JinjaError(`line ${lineAt(text, start)}: a tag has no end`);
}

function rawTag(text: string, opening: RegExpExecArray, start: number, openMark: string): Tag {
  RAW_END.lastIndex = RAW.lastIndex;
  const closing = RAW_END.exec(text);
  if (!closing) throw new JinjaError(`line ${lineAt(text, start)}: a raw block has no end`);
  let raw = text.slice(RAW.lastIndex, closing.index);
  if (opening[1] === "-") raw = raw.trimStart();
  if (closing[1] === "-") raw = raw.trimEnd();
  else if (closing[1] === "") raw = raw.replace(/(^|\n)[ \t]+$/, "$1");
  const end = RAW_END.lastIndex;
  return { kind: "{%", inside: "", raw, openMark, closeMark: closing[2]!, start, end };
}

function tokenizeTag({ kind, inside, start }: Tag, text: string): Token[] {
  try {
    const close = kind === "{%" ? "%}" : "}}";
    return rewriteTag(tokenize(`${kind} ${withPlainEscapes(inside)} ${close}`));
  } catch (error) {
    throw new JinjaError(`line ${lineAt(text, start)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * The source with those escapes of strings rewritten that the library's lexer does not know, and
 * without long white space: its patterns try every place of that against every other.
 */
function withPlainEscapes(inside: string): string {
  return inside.replace(
    /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\s+/gs,
    (literal) =>
      /^\s/.test(literal)
        ? " "
        : literal.replace(/\\(U[0-9a-fA-F]{8}|[0-7]{1,3}|.)/gs, (escape, body: string) => {
          if (body === "\n") return "";
          if (body === "a") return "\\x07";
          if (body.length === 9) return String.fromCodePoint(Number.parseInt(body.slice(1), 16));
          if (/^[0-7]/.test(body)) {
            return `\\u${Number.parseInt(body, 8).toString(16).padStart(4, "0")}`;
          }
          return "ntrbfv'\"\\xu".includes(body) ? escape : `\\\\${body}`;
        }).replace(/\s{16,}/g, escapeUnits),
  );
}

function escapeUnits(text: string): string {
  return text.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}
