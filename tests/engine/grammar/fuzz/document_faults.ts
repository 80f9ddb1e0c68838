// What must hold of every document, whatever its schema: JSON (RFC 8259) in UTF-8 with unique keys,
// one way to spell a string, no number or white space without end. A reader of its own, by pieces.

import type { CompileOptions } from "../../../../engine/grammar/mod.ts";

/** The pieces of a text that JSON.parse has accepted. */
const PIECE = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}\[\],:]|[ \t\n\r]+/gu;

const MAX_WHITESPACE = 64;
/** Characters of a number: the digits of a large double are no more than this. */
const MAX_NUMBER = 64;

/** What is wrong with a document as text. */
export function documentFaults(bytes: Uint8Array, options: CompileOptions): string[] {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
  } catch (error) {
    return [`it does not parse: ${(error as Error).message}`];
  }
  const faults: string[] = [];
  const keys: (Set<string> | undefined)[] = [];
  let previous = "";
  for (const [piece] of text.matchAll(PIECE)) {
    if (/^[ \t\n\r]/.test(piece)) {
      faults.push(...whitespaceFaults(piece, previous, options));
      continue;
    }
    if (piece === "{" || piece === "[") keys.push(piece === "{" ? new Set() : undefined);
    if (piece === "}" || piece === "]") keys.pop();
    if (piece.startsWith('"')) faults.push(...stringFaults(piece));
    if (/^[-\d]/.test(piece)) faults.push(...numberFaults(piece, options));
    if (piece === ":") {
      if (keys.at(-1)!.has(previous)) faults.push(`the key ${previous} comes twice`);
      keys.at(-1)!.add(previous);
    }
    previous = piece;
  }
  return faults;
}

function whitespaceFaults(piece: string, previous: string, options: CompileOptions): string[] {
  if (piece.length > MAX_WHITESPACE) return [`${piece.length} bytes of white space in a row`];
  if (options.whitespace === "free") return [];
  const isAllowed = options.whitespace !== "none" && piece === " " &&
    (previous === "," || previous === ":");
  return isAllowed ? [] : [`white space ${JSON.stringify(piece)} after ${previous}`];
}

function stringFaults(piece: string): string[] {
  const value = JSON.parse(piece) as string;
  if (!value.isWellFormed()) return [`a lone surrogate in ${piece}`];
  return JSON.stringify(value) === piece ? [] : [`${piece} is not how JSON.stringify spells it`];
}

function numberFaults(piece: string, { anyNumbers = false }: CompileOptions): string[] {
  if (!Number.isFinite(Number(piece))) return [`${piece} is read as infinite`];
  if (piece.length > MAX_NUMBER) return [`a number of ${piece.length} characters`];
  if (!anyNumbers && /^-0$|\.\d*0$/.test(piece)) return [`${piece} has a shorter spelling`];
  return [];
}
