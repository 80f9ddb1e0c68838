// Finds the special tokens in a text and splits the text at them. Longer tokens take precedence,
// wherever they are, as in llama.cpp: of two tokens that overlap, the longer one is found, not the
// one further to the left. Also corrects the kinds of well-known control pieces that converters
// have marked wrongly.

import { type Metadata, readString } from "./metadata.ts";
import { plain, TaintedText, type Text } from "../text/tainted_text.ts";
import { ROOT, Trie, unitsOf } from "../tables/trie.ts";
import { PieceKind, type Vocabulary } from "./vocabulary.ts";

interface Special {
  readonly token: number;
  readonly length: number;
  /**
   * Whether it is a control or unknown piece, which is only recognized if the caller wants that.
   */
  readonly isControl: boolean;
  /**
   * Whether only a template may write it. In the text of messages and tools it is never recognized.
   */
  readonly isReserved: boolean;
  /**
   * On which side the token takes the adjacent white space, which then gives no tokens of its own.
   */
  readonly strips: "left" | "right" | undefined;
}

const spaces = " \t\n\v\f\r";

/** The special tokens of a vocabulary. */
export class SpecialTokens {
  /** The tokens, longest first, which is the order in which they are searched. */
  readonly #specials: Special[] = [];
  readonly #pieces = new Trie();
  /** Matches the first unit of any special token, so that most of a text can be skipped. */
  readonly #firstUnit: RegExp;

  constructor(vocabulary: Vocabulary, metadata: Metadata) {
    const firstUnits = new Set<string>();
    const stripping = strippingOf(metadata);
    for (let token = 0; token < vocabulary.size; token++) {
      const kind = vocabulary.kindOf(token);
      const isControl = kind === PieceKind.control || kind === PieceKind.unknown;
      const piece = vocabulary.pieces[token]!;
      if (piece === "" || !(isControl || kind === PieceKind.userDefined)) continue;
      const isReserved = vocabulary.isReserved(token);
      const strips = stripping(piece);
      this.#specials.push({ token, length: piece.length, isControl, isReserved, strips });
      this.#pieces.insert(unitsOf(piece), token);
      firstUnits.add(piece.charCodeAt(0).toString(16).padStart(4, "0"));
    }
    this.#firstUnit = new RegExp(`[${[...firstUnits].map((unit) => `\\u${unit}`).join("")}]`, "g");
    this.#specials.sort((left, right) => right.length - left.length);
  }

  /**
   * The parts of a text in order: a number is a token, a string is text without special tokens. A
   * reserved token is only recognized where no part of it is data.
   */
  split(whole: Text, parseControl: boolean): (string | number)[] {
    const text = plain(whole);
    if (text === "") return [];
    const positions = this.#find(text);
    if (positions.size === 0) return [text];
    const claims = this.#claim(whole, positions, parseControl);
    const parts: (string | number)[] = [];
    let end = 0;
    for (const claim of claims) {
      if (claim.start > end) parts.push(text.slice(end, claim.start));
      parts.push(claim.token);
      end = claim.end;
    }
    if (end < text.length) parts.push(text.slice(end));
    return parts;
  }

  /** All positions of special tokens, including overlapping ones. */
  #find(text: string): Map<number, number[]> {
    const pieces = this.#pieces;
    const firstUnit = this.#firstUnit;
    const positions = new Map<number, number[]>();
    firstUnit.lastIndex = 0;
    while (firstUnit.test(text)) {
      const start = firstUnit.lastIndex - 1;
      let node = pieces.step(ROOT, text.charCodeAt(start));
      for (let index = start + 1; node >= 0; index++) {
        const token = pieces.valueAt(node);
        if (token >= 0) {
          const known = positions.get(token);
          if (known === undefined) positions.set(token, [start]);
          else known.push(start);
        }
        node = index < text.length ? pieces.step(node, text.charCodeAt(index)) : -1;
      }
    }
    return positions;
  }

  #claim(whole: Text, positions: Map<number, number[]>, parseControl: boolean) {
    const text = plain(whole);
    const isData = (start: number, end: number) =>
      whole instanceof TaintedText && whole.overlaps(start, end);
    const taken = new Uint8Array(text.length);
    const isFreeSpace = (index: number) => !taken[index] && spaces.includes(text.charAt(index));
    const claims: { token: number; start: number; end: number }[] = [];
    for (const { token, length, isControl, isReserved, strips } of this.#specials) {
      if (isControl && !parseControl) continue;
      for (const position of positions.get(token) ?? []) {
        let start = position;
        let end = position + length;
        // Longer tokens came first, so a token that overlaps this position covers its first or its
        // last unit.
        if (taken[start] || taken[end - 1]) continue;
        if (isReserved && isData(start, end)) continue;
        while (strips === "left" && start > 0 && isFreeSpace(start - 1)) start--;
        while (strips === "right" && end < text.length && isFreeSpace(end)) end++;
        taken.fill(1, start, end);
        claims.push({ token, start, end });
      }
    }
    return claims.sort((left, right) => left.start - right.start);
  }
}

/**
 * The pieces that take adjacent white space. GGUF has no field for it, but some families need it.
 */
function strippingOf(metadata: Metadata): (piece: string) => "left" | "right" | undefined {
  const name = (readString(metadata, "general.name") ?? "").toLowerCase();
  const pre = readString(metadata, "tokenizer.ggml.pre") ?? "";
  const architecture = readString(metadata, "general.architecture") ?? "";
  const hasMask = /^jina-v2-(?:de|es|code)$/.test(pre) ||
    ["nomic-bert-moe", "jina-bert-v3"].includes(architecture);
  if (hasMask) return (piece) => piece === "<mask>" ? "left" : undefined;
  if (name.includes("phi-3") || name.includes("phi3")) {
    return (piece) => ["<unk>", "<s>", "<|endoftext|>"].includes(piece) ? undefined : "right";
  }
  return (piece) => name.includes("modern-bert") && piece === "[MASK]" ? "left" : undefined;
}
