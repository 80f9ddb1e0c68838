// The say that a request's functions, and Mirostat, have in the choice of tokens, on the host. Processors
// change a row of logits, from which the device samples again; a sampler or Mirostat chooses a token
// itself. Biases and the mask come after the functions.

import { Mirostat, penalized, type ResolvedSampling } from "../../kernels/mod.ts";
import { untilAborted } from "../async.ts";
import { RequestError } from "../errors.ts";
import type { Biases, SequenceRequest } from "../run/mod.ts";
import type { ChoiceContext, ChoiceOptions } from "../types/mod.ts";

/** What the functions of one answer need beside them. */
export interface HostChoiceOptions extends ChoiceOptions {
  readonly sampling: ResolvedSampling;
  readonly biases?: Biases | undefined;
  readonly mirostat?: Mirostat | undefined;
  readonly promptLength: number;
}

type Mask = Uint32Array | undefined;

/** The choice of one answer's tokens. */
export class HostChoice {
  readonly #options: HostChoiceOptions;
  readonly #abort = new AbortController();
  /** The row after the processors, before penalties, for whoever chooses the token from it. */
  #processed: Float32Array | undefined;

  /** @throws {RequestError} for functions that exclude each other */
  constructor(options: HostChoiceOptions) {
    this.#options = options;
    if (!options.sampler || !options.mirostat) return;
    throw new RequestError("Cannot sample: a sampler and mirostat exclude each other");
  }

  /** Whether anything has a say. */
  get isNeeded(): boolean {
    const { logitsProcessors = [], sampler, mirostat } = this.#options;
    return logitsProcessors.length > 0 || sampler !== undefined || mirostat !== undefined;
  }

  /** The functions of the sequence. */
  get ofSequence(): Pick<SequenceRequest, "process" | "choose"> {
    const { logitsProcessors = [], sampler, mirostat } = this.#options;
    return {
      ...(logitsProcessors.length > 0 && { process: this.#process }),
      ...(sampler && { choose: this.#sample }),
      ...(mirostat && { choose: this.#chooseByMirostat }),
    };
  }

  /** Waits for no function any more. */
  abort(): void {
    this.#abort.abort();
  }

  readonly #process: NonNullable<SequenceRequest["process"]> = async (tokens, logits, mask) => {
    const context = this.#contextOf(tokens, mask);
    let row: Float32Array = logits.slice();
    for (const process of this.#options.logitsProcessors!) {
      row = await this.#wait(process(row, context)) ?? row;
      checkRow(row, logits.length, mask);
    }
    this.#processed = row;
    return Float32Array.from(this.#penalized(tokens, row));
  };

  readonly #sample: NonNullable<SequenceRequest["choose"]> = async (_, tokens, logits, mask) => {
    const row = Float32Array.from(this.#penalized(tokens, this.#processed ?? logits));
    if (mask?.length) {
      for (let id = 0; id < row.length; id++) if (!has(mask, id)) row[id] = -Infinity;
    }
    const token = await this.#wait(this.#options.sampler!(row, this.#contextOf(tokens, mask)));
    if (Number.isInteger(token) && row[token]! > -Infinity) return token;
    throw new RequestError(
      `Cannot sample: the sampler chose ${token}, ` +
        (token in row ? "which may not come here" : `ids of this model are 0 to ${row.length - 1}`),
    );
  };

  readonly #chooseByMirostat: NonNullable<SequenceRequest["choose"]> = (
    drawn,
    tokens,
    logits,
    mask,
  ) => {
    const { mirostat, sampling, biases } = this.#options;
    return mirostat!.choose(drawn, this.#processed ?? logits, sampling, {
      position: tokens.length - 1,
      history: tokens,
      ...(biases && { biases: biases.after(tokens) }),
      // A constraint that failed has an empty mask, and refuses whatever comes.
      ...(mask?.length && { mask }),
    });
  };

  #contextOf(tokens: readonly number[], mask: Mask): ChoiceContext {
    const { promptLength } = this.#options;
    return { tokens, promptLength, ...(mask?.length && { mask }) };
  }

  #penalized(tokens: readonly number[], row: Float32Array): Float64Array {
    const { sampling, biases } = this.#options;
    return penalized(row, sampling, {
      position: tokens.length - 1,
      history: tokens,
      ...(biases && { biases: biases.after(tokens) }),
    });
  }

  /** What a function gives. A slow one holds up the step, but not beyond the end of the answer. */
  async #wait<T>(given: T | Promise<T>): Promise<T> {
    return given instanceof Promise ? await untilAborted(given, this.#abort.signal) : given;
  }
}

/** @throws {RequestError} for a row from which no token can be chosen */
function checkRow(row: Float32Array, length: number, mask: Mask): void {
  const fail = (state: string) =>
    new RequestError(`Cannot process the logits: the function gave ${state}`);
  if (row.length !== length) throw fail(`${row.length} values in place of ${length}`);
  let isAny = false;
  for (let id = 0; id < length; id++) {
    const logit = row[id]!;
    if (!(logit < Infinity)) throw fail(`${logit} for token ${id}`);
    isAny ||= logit > -Infinity && (!mask?.length || has(mask, id));
  }
  if (!isAny) throw fail("-Infinity for all tokens that may come");
}

function has(mask: Uint32Array, id: number): boolean {
  return ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
}
