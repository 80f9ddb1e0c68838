// Runs evaluations one after the other, and in one step those of several requests that fit into it: many
// clients who each ask for the vector of one text cost little more than one who asks for all.

import { CancelledError, isCancelled, throwIfCancelled } from "../cancellation.ts";
import type { Evaluation } from "./evaluation.ts";

/** Runs an evaluation. Gives the outputs of each branch, and fails as `evaluate` does. */
export type RunEvaluation = (evaluation: Evaluation) => Promise<Float32Array[]>;

/** An evaluation, and who waits for it. */
interface Waiting {
  readonly evaluation: Evaluation;
  resolve(outputs: Float32Array[]): void;
  reject(reason: unknown): void;
  /** Called when it begins: from then on its signal is the evaluation's own affair. */
  begin(): void;
}

/** The evaluations of a model, in the order in which they came. */
export class EvaluationQueue {
  readonly #run: RunEvaluation;
  readonly #mostBranches: number;
  #waiting: Waiting[] = [];
  #isRunning = false;

  /** @param mostBranches most sequences of a step */
  constructor(run: RunEvaluation, mostBranches: number) {
    this.#run = run;
    this.#mostBranches = mostBranches;
  }

  /** Runs an evaluation when its turn has come. Errors: those of running it; the signal's reason. */
  async evaluate(evaluation: Evaluation): Promise<Float32Array[]> {
    const { signal } = evaluation;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>();
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      reject(signal!.reason);
    };
    const begin = () => signal?.removeEventListener("abort", leave);
    const waiting = { evaluation, resolve, reject, begin };
    signal?.addEventListener("abort", leave);
    this.#waiting.push(waiting);
    void this.#runAll();
    return await promise;
  }

  async #runAll(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#runTogether(this.#next());
    this.#isRunning = false;
  }

  /** Takes the first one from the queue, with those behind it that can run in its step. */
  #next(): Waiting[] {
    let [rows, branches] = [0, 0];
    const count = this.#waiting.findIndex(({ evaluation }, index) => {
      rows += rowsOf(evaluation);
      branches += evaluation.branches.length;
      if (index === 0) return false;
      const { evaluation: first } = this.#waiting[0]!;
      return !canJoin(first, evaluation) || rows > first.joins! || branches > this.#mostBranches;
    });
    const next = this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
    for (const { begin } of next) begin();
    return next;
  }

  async #runTogether(some: readonly Waiting[]): Promise<void> {
    const evaluations = some.map(({ evaluation }) => evaluation);
    try {
      const outputs = await this.#run(some.length === 1 ? evaluations[0]! : joined(evaluations));
      let first = 0;
      for (const { evaluation: { branches, signal }, resolve, reject } of some) {
        const own = outputs.slice(first, first += branches.length);
        try {
          if (some.length > 1) throwIfCancelled(signal);
          resolve(own);
        } catch (reason) {
          reject(reason);
        }
      }
    } catch (error) {
      for (const { evaluation: { signal }, reject } of some) {
        // Each is told by its own signal that it was called off.
        reject(error instanceof CancelledError && signal?.aborted ? signal.reason : error);
      }
    }
  }
}

function rowsOf({ branches }: Evaluation): number {
  return branches.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** Whether one evaluation can run in the steps of another. */
function canJoin(one: Evaluation, other: Evaluation): boolean {
  return one.joins !== undefined && other.joins === one.joins && one.output === other.output &&
    one.whole === other.whole && `${one.adapters}` === `${other.adapters}`;
}

/** Several evaluations as one, which goes on until nobody wants any of them. */
function joined(evaluations: readonly Evaluation[]): Evaluation {
  const owners = evaluations.flatMap(({ branches, take }) =>
    branches.map((branch, own) => ({ branch, own, take }))
  );
  const { output, whole, adapters } = evaluations[0]!;
  return {
    branches: owners.map(({ branch }) => branch),
    take: (row, index, position) => owners[index]!.take?.(row, owners[index]!.own, position),
    isUnwanted: () => evaluations.every(({ signal }) => isCancelled(signal)),
    ...{ output, whole, adapters },
  };
}
