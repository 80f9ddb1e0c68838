// What to look at in a model while it runs, and what to change there; engine/hooks has the points. Plain
// data that postMessage can send, except for functions, which a model in the same process can call.

import type { LoraOptions } from "./lora.ts";

/** Positions of a sequence: all of them, the prompt's last, or a list; negative ones from the prompt's end. */
export type HookPositions = "all" | "last" | readonly number[];

/** Where a function that changes values is called. */
export interface HookContext {
  /** The point, such as "residual.post[3]". */
  readonly point: string;
  /** Missing: of no layer. */
  readonly layer?: number;
  /** Position in the sequence, from 0 on. */
  readonly position: number;
  /** Sizes of the axes of the values. */
  readonly shape: readonly number[];
}

/** A change of the values of points: one of `replace`, `scale`, `add` and `apply`, or several in this order. */
export interface HookChange {
  /** Points as text, such as "residual.post[3:8]". */
  readonly point: string;
  /** Default: all. */
  readonly positions?: HookPositions;
  /** Heads of `attention.z`, from 0 on. Default: all. */
  readonly heads?: readonly number[];
  /** Values instead: a row for all positions, or a row for each of a list of positions. */
  readonly replace?: ArrayLike<number>;
  /** Factor of the values; 0 ablates them. */
  readonly scale?: number;
  /** Values to add: as for `replace`. */
  readonly add?: ArrayLike<number>;
  /** Changes the values in place, or gives others back. */
  readonly apply?: (values: Float32Array, context: HookContext) => Float32Array | void;
}

/** What to keep of a run, and what to change. */
export interface HookOptions {
  /** Points as text, such as "residual.post[12]", "attention.pattern[*]", "mlp.out[3:8]", "logits". */
  readonly capture?: readonly string[];
  /** Positions that are kept. Default: all. */
  readonly positions?: HookPositions;
  /** Changes, which are made in this order, before values are kept. */
  readonly changes?: readonly HookChange[];
}

/** The values of a point. */
export interface CapturedPoint {
  /** The point, such as "residual.post[12]". */
  readonly point: string;
  /** Sizes: the positions, then what the point has; patterns have heads first: [heads, positions, keys]. */
  readonly shape: readonly number[];
  /** The positions, in order. */
  readonly positions: readonly number[];
  /** As `shape` says, row by row. */
  readonly values: Float32Array;
}

/** A prompt to run once, for what its hooks keep. */
export interface RunRequest extends HookOptions, LoraOptions {
  /** Text (BOS is added as the vocabulary says, special tokens are parsed), or token ids as they are. */
  prompt: string | readonly number[];
  /** Aborting it ends the run. */
  signal?: AbortSignal;
}

/** What a run has kept. */
export interface RunResult {
  /** The tokens of the prompt. */
  tokens: number[];
  /** The points, in the order in which they were named. The memory belongs to the caller. */
  captured: CapturedPoint[];
}

/** What a capture gives: first what there will be, then the values of each step. */
export type CaptureEvent =
  | {
    type: "begin";
    /** The tokens of the prompt. */
    tokens: number[];
    /** The points, in the order in which they were named, with the shapes of all their values. */
    points: Omit<CapturedPoint, "values">[];
  }
  | {
    type: "values";
    /** Index of the point. */
    index: number;
    /**
     * Its values at some positions. Of patterns, `shape` has the keys up to the last of these positions;
     * the weights of those after them are zero.
     */
    captured: CapturedPoint;
  };
