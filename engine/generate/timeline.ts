// The steps that ran for an answer, for whoever wants to see where its time went. Where there are many,
// neighbours become one, so that the longest answer has a short list that leaves nothing out.

import type { SequenceStep } from "../run/mod.ts";
import type { StepSpan } from "../types/mod.ts";

/** Most spans that are kept. */
const MOST_SPANS = 128;

/** The timeline of one answer. */
export class Timeline {
  /** What the clock shows where performance.now() is 0. It moves off performance.timeOrigin over hours. */
  readonly #origin = Date.now() - performance.now();
  #spans: StepSpan[] = [];
  /** How many steps a span has at least, if as many follow; it doubles when there are too many spans. */
  #stepsOfSpan = 1;

  /** The spans so far, in order. */
  get spans(): StepSpan[] {
    return this.#spans;
  }

  /** Adds a step, which ended after all before. */
  readonly add = ({ began, ended, ...step }: SequenceStep): void => {
    this.#push({ ...step, began: this.#origin + began, milliseconds: ended - began });
    if (this.#spans.length <= MOST_SPANS) return;
    const spans = this.#spans;
    this.#spans = [];
    this.#stepsOfSpan *= 2;
    for (const span of spans) this.#push(span);
  };

  /** Adds a span to the last one, where that is of the same kind and has few steps. */
  #push(span: StepSpan): void {
    const last = this.#spans.at(-1);
    const isJoined = last && last.prefill === span.prefill && last.steps < this.#stepsOfSpan;
    if (isJoined) this.#spans[this.#spans.length - 1] = joined(last, span);
    else this.#spans.push(span);
  }
}

function joined(first: StepSpan, second: StepSpan): StepSpan {
  return {
    began: first.began,
    milliseconds: second.began + second.milliseconds - first.began,
    prefill: first.prefill,
    steps: first.steps + second.steps,
    tokens: first.tokens + second.tokens,
    sequences: Math.max(first.sequences, second.sequences),
  };
}
