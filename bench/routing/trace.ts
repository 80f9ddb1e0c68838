// A trace of requests in the shape of published ones (Azure's and Mooncake's traces of 2023 and 2024,
// ShareGPT's conversations): applications with a system prompt of their own, conversations of a few
// turns whose prompts hold all that was said before, lengths that are log-normal, and arrivals in bursts.
// Nobody's text is in it: a prompt is a list of pieces with a length each.

/** A piece of a prompt, which begins the same for all that have it. */
export interface Piece {
  readonly id: string;
  /** In tokens. */
  readonly length: number;
}

/** A request. */
export interface Arrival {
  /** In seconds. */
  readonly at: number;
  readonly conversation: string;
  /** What is read, in order: system prompt, earlier turns and answers, the new turn. */
  readonly pieces: readonly Piece[];
  /** What is written, which the next turn's prompt holds. */
  readonly answer: Piece;
}

/** The shape of a trace. */
export interface TraceShape {
  /** Mean requests in a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Applications, of which the k-th has a share of 1/k of conversations. */
  readonly applications: number;
  /** Median tokens of an application's system prompt with its tools. */
  readonly system: number;
  /** Mean turns of a conversation. */
  readonly turns: number;
  /** Median tokens of a turn, and of an answer. */
  readonly turn: number;
  readonly answer: number;
  /** Median seconds between an answer and the next turn. */
  readonly pause: number;
}

/** A chat application, as most of those traces are. */
export const CHAT: Omit<TraceShape, "rate" | "seconds"> = {
  applications: 20,
  system: 400,
  turns: 4,
  turn: 60,
  answer: 200,
  pause: 20,
};

/** Coding agents: long system prompts with tools, many turns, little time between them. */
export const AGENTS: Omit<TraceShape, "rate" | "seconds"> = {
  applications: 4,
  system: 12_000,
  turns: 20,
  turn: 400,
  answer: 120,
  pause: 3,
};

/** Draws numbers, the same for the same seed (mulberry32). */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Log-normal with this median. */
  around(median: number, sigma = 0.8): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(sigma * normal);
  }

  /** A number below `count`, the k-th with a share of 1/k. */
  zipf(count: number): number {
    let sum = 0;
    for (let k = 1; k <= count; k++) sum += 1 / k;
    let left = this.next() * sum;
    for (let k = 1; k < count; k++) {
      left -= 1 / k;
      if (left < 0) return k - 1;
    }
    return count - 1;
  }
}

/** A trace. The pauses of conversations count from the answer, as if each took `answerSeconds`. */
export function makeTrace(shape: TraceShape, seed: number, answerSeconds = 5): Arrival[] {
  const draws = new Draws(seed);
  const systems = Array.from(
    { length: shape.applications },
    (_, i): Piece => ({ id: `system ${i}`, length: tokens(draws.around(shape.system, 0.5)) }),
  );
  const arrivals: Arrival[] = [];
  let conversations = 0;
  // Bursts: each minute has a rate of its own.
  for (let minute = 0; minute * 60 < shape.seconds; minute++) {
    const rate = shape.rate / shape.turns * draws.around(1, 0.4) / Math.exp(0.08);
    for (let at = draws.exponential(1 / rate); at < 60; at += draws.exponential(1 / rate)) {
      const conversation = `${conversations++}`;
      const pieces = [systems[draws.zipf(shape.applications)]!];
      let time = minute * 60 + at;
      // Geometric, with this mean.
      for (let turn = 0; turn === 0 || draws.next() < 1 - 1 / shape.turns; turn++) {
        pieces.push({ id: `${conversation} ${turn}`, length: tokens(draws.around(shape.turn)) });
        const length = tokens(draws.around(shape.answer));
        const answer = { id: `${conversation} answer ${turn}`, length };
        arrivals.push({ at: time, conversation, pieces: [...pieces], answer });
        pieces.push(answer);
        time += answerSeconds + draws.around(shape.pause);
      }
    }
  }
  return arrivals.filter(({ at }) => at < shape.seconds).sort((a, b) => a.at - b.at);
}

function tokens(number: number): number {
  return Math.max(4, Math.round(number));
}
