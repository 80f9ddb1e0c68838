// One forward step over rows of several sequences: its buffers on the GPU and its shape.
// A row is one token of one sequence, or what stands for one: a row of an image. The sampled token
// and its position stay in `slots`, so that decode steps can follow one another without the host.

import {
  BLOCK,
  type Buffer,
  type Device,
  type FloatRows,
  MROPE_POSITION,
  type Operation,
  padTo,
  type Pass,
  PLAN_ROW,
  QUERY_TILE,
  ROW_PADDING,
  SLOT_TOKEN,
  STEP_ROW,
  STEP_SEGMENT,
  type StepRows,
  type Work,
  type WorkCounts,
} from "../../kernels/mod.ts";

/** Row counts of a step; decode rows come first. */
export interface StepShape {
  /** All rows. */
  rows: number;
  /** Sequences that these rows are of. */
  sequences: number;
  /** Rows that are of images. */
  imageRows: number;
  /** Rows whose logits are wanted. */
  outputs: number;
  /** Rows that decode one token, each a sequence of its own. */
  decodeRows: number;
  /** Longest context of these, in positions. */
  decodeContext: number;
  /** Query tiles of the rows in prefill. */
  prefillTiles: number;
  /** Longest context of these, in positions. */
  prefillContext: number;
}

/** What a step runs, as data: an operation of the device with its counts taken from the step. */
export interface StepOperation extends Pick<Operation, "name" | "reads" | "writes" | "bind"> {
  /** See `Operation.output`; it has its memory once the network has placed its values. */
  output?: FloatRows | undefined;
  /** What these rows are to the model, such as "qkv"; missing without any. The network fills it in. */
  readonly outputName?: string | undefined;
  /** The layer that it belongs to; missing: it belongs to none. */
  readonly layer?: number | undefined;
  /** Whether its rows are those whose output is wanted, not all of the step. */
  readonly isOverOutputs?: boolean;
  /** The device that runs it. The network fills it in. */
  readonly device?: Device;
  /** Binds what steps within these limits can want; see `Operation.prepare`. */
  readonly prepare?: (most: StepLimits) => void;
  readonly encode: (pass: Pass, step: StepShape) => void;
  /** What it moves and computes in a step. */
  readonly work: (step: StepShape) => Work;
}

/** An operation over all rows of a step. */
export function overRows(operation: Operation): StepOperation {
  return {
    ...stepOperation(operation, (pass, step) => operation.encode(pass, step.rows)),
    prepare: ({ rows }) => operation.prepare?.(rows),
  };
}

/** An operation whose counts are other numbers of a step. */
export function stepOperation(
  operation: Operation,
  encode: StepOperation["encode"],
  counts: (step: StepShape) => WorkCounts = countsOf,
): StepOperation {
  const { name, reads, writes, output } = operation;
  return {
    name,
    reads,
    writes,
    output,
    bind: () => operation.bind?.(),
    encode,
    work: (step) => operation.work(counts(step)),
  };
}

/** What operations over all rows of a step are counted by. */
export function countsOf(
  { rows, sequences, decodeContext, prefillContext }: StepShape,
): WorkCounts {
  return { rows, sequences, positions: Math.max(decodeContext, prefillContext) };
}

/** Capacities of a model's steps. */
export interface StepLimits {
  /** Most rows in a step. */
  rows: number;
  /** Most outputs in a step. */
  outputs: number;
  /** Sequences that can run at a time. */
  slots: number;
  /** Positions of a sequence. */
  context: number;
}

/** The buffers that every operation of a step shares. */
export interface StepState extends StepRows {
  /** Row of each output: [outputs]. */
  readonly outputs: Buffer;
  /** [slots] of {@linkcode QUERY_TILE}: row i alone, for the decoding rows. */
  readonly decodeTiles: Buffer;
  /** [tiles] of {@linkcode QUERY_TILE}, of the rows in prefill. */
  readonly prefillTiles: Buffer;
  /** [rows of images] of {@linkcode MROPE_POSITION}. */
  readonly mropePositions: Buffer;
  /** [sequences] of {@linkcode STEP_SEGMENT}, in row order. */
  readonly segments: Buffer;
  /** KV blocks of each slot: [slots, maxBlocks]. */
  readonly table: Buffer;
  readonly maxBlocks: number;
}

/** Allocates the buffers of a model's steps. */
export function allocateStep(device: Device, limits: StepLimits): StepState {
  const { outputs, slots, context } = limits;
  const rows = padTo(limits.rows, ROW_PADDING);
  const maxBlocks = Math.ceil(context / BLOCK);
  const words = (label: string, count: number) => device.buffer(label, count * 4, "scratch");
  const records = (label: string, { bytes }: { bytes: number }, count: number) =>
    device.buffer(label, count * bytes, "scratch");
  const decodeTiles = records("decode tiles", QUERY_TILE, slots);
  const tiles = QUERY_TILE.list(slots);
  for (let row = 0; row < slots; row++) tiles.add({ firstRow: row, rows: 1, end: 0, imageEnd: 0 });
  device.write(decodeTiles, 0, tiles.packed);
  return {
    plan: records("plan", PLAN_ROW, rows),
    slots: records("slots", SLOT_TOKEN, slots),
    rows: records("rows", STEP_ROW, rows),
    history: words("history", slots * context),
    context,
    outputs: words("outputs", padTo(outputs, ROW_PADDING)),
    decodeTiles,
    prefillTiles: records("prefill tiles", QUERY_TILE, rows),
    mropePositions: records("M-RoPE positions", MROPE_POSITION, rows),
    segments: records("segments", STEP_SEGMENT, rows),
    table: words("block table", slots * maxBlocks),
    maxBlocks,
  };
}
