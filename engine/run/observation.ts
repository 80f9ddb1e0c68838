// What observers of steps are told, and what they may do: traces of operations, and taps on what these
// write. step_observer.ts runs the steps.

import type { FloatRows, Work } from "../../kernels/mod.ts";
import { RequestError } from "../errors.ts";
import type { StepOperation } from "../nn/mod.ts";

/** An operation of a model's steps. */
export interface OperationInfo {
  /** Its index in a step, from 0 on. */
  readonly index: number;
  /** What it does, and for a product the format of the weights, such as "linear Q4_K". */
  readonly name: string;
  /** The layer that it belongs to; missing: none, as for embeddings and logits. */
  readonly layer?: number;
  /**
   * What the rows that it writes are to the model, such as "residual", "qkv" or "logits". Missing: it
   * writes no rows of floats, and cannot be tapped.
   */
  readonly output?: string;
  /** Floats in each of these rows. */
  readonly columns?: number;
}

/** The time of an operation in a step, and the least work that it had to do. */
export interface OperationTrace extends Work {
  /** As in {@linkcode OperationInfo}. */
  readonly name: string;
  /** Missing: it belongs to no layer. */
  readonly layer?: number;
  /** By the device's clock, where it has one. */
  readonly seconds: number;
  /** Of these, seconds that the model's own thread computed, on a CPU device; else 0. */
  readonly hostSeconds: number;
}

/** A step that was traced. */
export interface StepTrace {
  /** Rows: tokens that were fed. */
  readonly rows: number;
  /** Of these, rows that are the only ones of their sequence, as in decode. */
  readonly decodeRows: number;
  /** Rows whose output was wanted. */
  readonly outputs: number;
  /** By the host's clock, from the first word written for the step until its tokens were read. */
  readonly seconds: number;
  /** In order. The choice of tokens, "sample", is the last. */
  readonly operations: readonly OperationTrace[];
}

/** Which operations to tap: those that match everything that is given here. */
export interface TapSelection {
  /** The whole name, or its first word: "linear" for all formats. */
  readonly name?: string;
  /** Missing: all layers, and operations without a layer. */
  readonly layer?: number;
  /** As in {@linkcode OperationInfo}. */
  readonly output?: string;
}

/** A row of a step. */
export interface StepRow {
  /** Missing: the row is a part of an image. */
  readonly token?: number;
  /** Position in its sequence, from 0 on. */
  readonly position: number;
  /** Slot of its sequence, which it keeps while it runs. */
  readonly slot: number;
}

/** What an operation has written. */
export interface TapOutput {
  /** The operation. */
  readonly operation: OperationInfo;
  /** The token of each row, with its position and slot. */
  readonly rows: readonly StepRow[];
  /** Floats of each row. */
  readonly columns: number;
  /** [rows, columns], a copy that is the receiver's. */
  readonly values: Float32Array;
}

/**
 * Receives what an operation has written. What it returns, [rows, columns], replaces that for everything
 * that reads it later: in this step and, if it goes to the KV cache, in all later steps.
 */
export type TapVisit = (
  output: TapOutput,
) => Float32Array | undefined | void | Promise<Float32Array | undefined | void>;

/** Receives what an operation of the network has written, as a {@linkcode TapVisit} does. */
export type OperationVisit = (
  operation: StepOperation,
  output: TapOutput,
  tools: VisitTools,
) => ReturnType<TapVisit>;

/** What a visit may do besides. Errors: those of the device. */
export interface VisitTools {
  /**
   * Reads other rows, which nothing has overwritten yet: [count, columns].
   * @param count default: as many as the step has
   */
  readRows(rows: FloatRows, count?: number): Promise<Float32Array>;
  /** Reads the keys that the operation has written to the cache; see {@linkcode OpenKeys.rows}. */
  readKeys(): Promise<Float32Array>;
}

/** Operations to tap. */
export interface TappedOperations {
  /** Those that write rows, or int8 groups that can be opened. */
  readonly selected: ReadonlySet<StepOperation>;
  /** Those whose keys are looked at; they are selected, too. */
  readonly keys?: ReadonlySet<StepOperation>;
  /** Whether visits concern the rows of one sequence alone, which says itself that it is hooked. */
  readonly isOfSequence?: boolean;
  /**
   * Whether visits neither change rows nor use tools. Steps of few rows then do not stop for them: they
   * come when the step is over, in order.
   */
  readonly looksOnly?: boolean;
}

/** Whether a selection names an operation. */
export function isChosen(info: OperationInfo, { name, layer, output }: TapSelection): boolean {
  return (name === undefined || info.name === name || info.name.startsWith(`${name} `)) &&
    (layer === undefined || info.layer === layer) &&
    (output === undefined || info.output === output);
}

/** The error of a selection that names nothing that can be tapped. @param isThere whether it names operations */
export function nothingToTap(
  { name, layer, output }: TapSelection,
  operations: readonly OperationInfo[],
  isThere: boolean,
): RequestError {
  const what = [
    name === undefined ? "operations" : `"${name}"`,
    ...(layer === undefined ? [] : [`of layer ${layer}`]),
    ...(output === undefined ? [] : [`with output "${output}"`]),
  ].join(" ");
  if (isThere) {
    return new RequestError(
      `Cannot tap ${what}: it writes no floats; load the model with "exact", or tap what reads it`,
    );
  }
  const outputs = [...new Set(operations.flatMap((operation) => operation.output ?? []))];
  return new RequestError(
    `Cannot tap ${what}: the model has none; outputs are ${outputs.join(", ")}`,
  );
}
