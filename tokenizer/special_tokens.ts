// Finds the special tokens in a text and cuts it around them. Longer tokens go first, wherever they
// are, as llama.cpp does: of two that overlap, the longer one is cut out, not the one to the left.
// Also corrects the kinds of well-known control pieces that converters have marked wrongly.

import { type Metadata, readString } from "./metadata.ts";
import { PieceKind, type Vocabulary } from "./vocabulary.ts";

interface Node {
  readonly next: Map<number, Node>;
  token?: number;
}

interface Special {
  readonly token: number;
  readonly length: number;
  /** Control and unknown pieces count only where the caller has special tokens parsed. */
  readonly isControl: boolean;
  /** Takes the white space that follows along. */
  readonly stripsRight: boolean;
}

const spaces = " \t\n\v\f\r";

/** The special tokens of a vocabulary. */
export class SpecialTokens {
  /** Longest first: the order in which they claim text. */
  readonly #specials: Special[] = [];
  readonly #root: Node = { next: new Map() };

  constructor(vocabulary: Vocabulary, metadata: Metadata) {
    const stripsRight = rightStripping(metadata);
    for (let token = 0; token < vocabulary.size; token++) {
      const kind = vocabulary.kindOf(token);
      const isControl = kind === PieceKind.control || kind === PieceKind.unknown;
      const piece = vocabulary.pieces[token]!;
      if (piece === "" || !(isControl || kind === PieceKind.userDefined)) continue;
      this.#specials.push({
        token,
        length: piece.length,
        isControl,
        stripsRight: stripsRight(piece),
      });
      this.#insert(piece, token);
    }
    this.#specials.sort((left, right) => right.length - left.length);
  }

  /** Parts of `text` in order: a number is a token, a string is text without special tokens. */
  split(text: string, parseControl: boolean): (string | number)[] {
    if (text === "") return [];
    const places = this.#find(text);
    if (places.size === 0) return [text];
    const claims = this.#claim(text, places, parseControl);
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

  #insert(piece: string, token: number): void {
    let node = this.#root;
    for (let index = 0; index < piece.length; index++) {
      const unit = piece.charCodeAt(index);
      let next = node.next.get(unit);
      if (next === undefined) node.next.set(unit, next = { next: new Map() });
      node = next;
    }
    node.token ??= token;
  }

  /** Every place where a special token stands, overlapping ones too. */
  #find(text: string): Map<number, number[]> {
    const places = new Map<number, number[]>();
    for (let start = 0; start < text.length; start++) {
      let node = this.#root.next.get(text.charCodeAt(start));
      for (let index = start + 1; node !== undefined; index++) {
        if (node.token !== undefined) {
          const known = places.get(node.token);
          if (known === undefined) places.set(node.token, [start]);
          else known.push(start);
        }
        node = node.next.get(text.charCodeAt(index));
      }
    }
    return places;
  }

  #claim(text: string, places: Map<number, number[]>, parseControl: boolean) {
    const taken = new Uint8Array(text.length);
    const claims: { token: number; start: number; end: number }[] = [];
    for (const { token, length, isControl, stripsRight } of this.#specials) {
      if (isControl && !parseControl) continue;
      for (const start of places.get(token) ?? []) {
        let end = start + length;
        // What is taken is at least as long as this, so that it covers an end if it overlaps.
        if (taken[start] || taken[end - 1]) continue;
        while (stripsRight && end < text.length && !taken[end] && spaces.includes(text[end]!)) {
          end++;
        }
        taken.fill(1, start, end);
        claims.push({ token, start, end });
      }
    }
    return claims.sort((left, right) => left.start - right.start);
  }
}

/** Which pieces take the white space after them along: GGUF has no field for it, Phi-3 needs it. */
function rightStripping(metadata: Metadata): (piece: string) => boolean {
  const name = (readString(metadata, "general.name") ?? "").toLowerCase();
  if (!name.includes("phi-3") && !name.includes("phi3")) return () => false;
  const exceptions = new Set(["<unk>", "<s>", "<|endoftext|>"]);
  return (piece) => !exceptions.has(piece);
}
