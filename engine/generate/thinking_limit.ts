// Ends thinking that takes too long: after a number of tokens, or when the client asks for the
// answer, the closing mark of the model's family is fed as if the model had written it, and the
// answer follows. It follows the text of one answer; chat/answers knows the marks.

import type { Tokenizer } from "../../tokenizer/mod.ts";
import type { Steering } from "../run/mod.ts";

/** The marks of an answer's thinking. */
export interface ThinkingSyntax {
  /** The opening mark. */
  readonly open: string;
  /** The closing mark. */
  readonly close: string;
  /** The text that ends thinking early and leads to the answer. Default: `close`. */
  readonly cut?: string;
  /** Whether thinking began in the prompt. Otherwise it may begin in the answer. */
  readonly begun: boolean;
}

/** Ends the thinking of one answer. */
export class ThinkingLimit implements Steering {
  readonly #syntax: ThinkingSyntax;
  readonly #tokenizer: Tokenizer;
  readonly #budget: number;
  readonly #isAsked: () => boolean;
  #phase: "unknown" | "thinking" | "over";
  /** Text that may be the beginning of a mark. */
  #text = "";
  #generated = 0;
  /** Number of tokens when thinking began. */
  #began = 0;

  /**
   * @param budget most tokens of thinking
   * @param isAsked whether the client wants the answer now
   */
  constructor(
    syntax: ThinkingSyntax,
    tokenizer: Tokenizer,
    budget: number,
    isAsked: () => boolean,
  ) {
    this.#syntax = syntax;
    this.#tokenizer = tokenizer;
    this.#budget = Math.max(1, budget);
    this.#isAsked = isAsked;
    this.#phase = syntax.begun ? "thinking" : "unknown";
  }

  get freeUntil(): number {
    if (this.#phase === "over") return Infinity;
    if (this.#phase === "thinking") return this.#isAsked() ? 0 : this.#began + this.#budget;
    // The first tokens tell whether the answer begins with thinking.
    return Number.isFinite(this.#budget) || this.#isAsked() ? this.#generated + 1 : Infinity;
  }

  interject(): readonly number[] {
    if (this.#phase !== "thinking" || this.#generated < this.freeUntil) return [];
    this.#phase = "over";
    const { close, cut = close } = this.#syntax;
    return this.#tokenizer.encode(cut, { special: true });
  }

  /** Adds the text of the next token. */
  take(text: string): void {
    this.#generated++;
    if (this.#phase === "over") return;
    this.#text += text;
    const { open, close } = this.#syntax;
    if (this.#phase === "unknown") {
      const [begun, mark] = [this.#text.trimStart(), open.trim()];
      if (mark.startsWith(begun)) return void (begun === mark && this.#begin(""));
      if (!begun.startsWith(mark)) this.#phase = "over";
      else this.#begin(begun.slice(mark.length));
      return;
    }
    if (this.#text.includes(close)) this.#phase = "over";
    else this.#text = this.#text.slice(-close.length);
  }

  #begin(rest: string): void {
    this.#phase = "thinking";
    this.#text = rest;
    this.#began = this.#generated;
  }
}
