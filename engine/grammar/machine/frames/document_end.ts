// Stacks after the root value of a document: white space may come, then whatever follows in the
// grammar around the document, if there is one.

import { JsonFrames, OUTSIDE_TEXTS } from "./frame_kind.ts";
import { DOCUMENT_END } from "./layouts.ts";
import type { Stack } from "./stacks.ts";

/** The kind of frames after the root of a document. */
export class DocumentEndFrames extends JsonFrames {
  step(stack: Stack, byte: number, out: Stack[]): void {
    const { stacks } = this;
    const left = stacks.field(stack, DOCUMENT_END.spaces);
    if (this.rules.isSpace(byte) && left > 0) {
      out.push(stacks.withField(stack, DOCUMENT_END.spaces, left - 1));
    }
    this.any.step(stacks.parent(stack), byte, out);
  }

  override candidates(stack: Stack): Iterable<number> | undefined {
    if (!this.#isFollowed(stack)) return OUTSIDE_TEXTS;
    const after = this.any.candidates(this.stacks.parent(stack));
    return after && [...OUTSIDE_TEXTS, ...after];
  }

  override isComplete(stack: Stack): boolean {
    return this.any.isComplete(this.stacks.parent(stack));
  }

  override spaces(stack: Stack): number {
    return this.#isFollowed(stack) ? 0 : this.stacks.field(stack, DOCUMENT_END.spaces);
  }

  completion(): number {
    return 0;
  }

  /** Whether a grammar determines what comes after the document. */
  #isFollowed(stack: Stack): boolean {
    return !this.stacks.isBottom(this.stacks.parent(stack));
  }
}
