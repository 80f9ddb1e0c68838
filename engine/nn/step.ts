// One forward step over rows of several sequences: its buffers on the device and its shape. A row
// is one token of one sequence, or one row of an image. The sampled token and its position stay in
// `slots`, so that decode steps can follow one another without the host.

import {
  type AttentionOptions,
  BLOCK,
  type Buffer,
  type Device,
  type FloatRows,
  type LayerCache,
  type Operation,
  type OperationCall,
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
  rows: number;
  /** Number of sequences that these rows belong to. */
  sequences: number;
  mediaRows: number;
  /** Number of rows whose logits are wanted. */
  outputs: number;
  /** Number of rows that decode one token. Each is a sequence of its own. */
  decodeRows: number;
  /** Longest context of the decoding rows, in positions. */
  decodeContext: number;
  /** Number of query tiles of the rows in prefill. */
  prefillTiles: number;
  /** Longest context of the rows in prefill, in positions. */
  prefillContext: number;
  /** The adapters that sequences of the step have: bit n for number n. */
  adapters: number;
}

/**
 * An operation of a step, as data: an operation of the device, with counts that follow from the
 * shape of the step.
 */
export interface StepOperation extends Pick<Operation, "name" | "reads" | "writes" | "bind"> {
  /** See `Operation.output`. It has memory once the network has placed its values. */
  output?: FloatRows | undefined;
  /**
   * The meaning of the output rows, such as "qkv"; missing if there are none. The network sets it.
   */
  readonly outputName?: string | undefined;
  /** The layer of the operation; missing if it belongs to none. */
  readonly layer?: number | undefined;
  /** The part of its layer that it belongs to; missing if to none. The network sets it. */
  readonly block?: BlockKind | undefined;
  /** Whether its rows are only those whose output is wanted. */
  readonly isOverOutputs?: boolean;
  /** Rows that it writes in a step. Missing: all rows of the step. */
  readonly rowsOf?: (step: StepShape) => number;
  /** The device that runs it. The network sets it. */
  readonly device?: Device;
  /** The operation as data, if it runs over rows of a step; fuse.ts reads it. */
  readonly over?: OverRows | undefined;
  /** Prepares all variants that steps within these limits can need; see `Operation.prepare`. */
  readonly prepare?: (most: StepLimits) => void;
  /** Encodes it within a step of which all operations are encoded. */
  readonly encode: (pass: Pass, step: StepShape) => void;
  /**
   * Encodes it where its neighbours' results may be looked at, or replaced. Missing: as encode() does,
   * which leaves nothing to its neighbours.
   */
  readonly encodeAlone?: (pass: Pass, step: StepShape) => void;
  /** Given where it writes int8 groups: `apart` makes it again in two halves, with f32 in between. */
  readonly groups?:
    | {
      readonly columns: number;
      readonly apart: (
        rows: FloatRows,
      ) => readonly [floats: StepOperation, quantize: StepOperation];
    }
    | undefined;
  /** The number of the adapter of which it is a part: only steps with it run the operation. */
  readonly adapter?: number;
  /** Given for attention over a cache. */
  readonly attention?: AttentionInfo;
  /** Given for what writes keys and values to a cache. */
  readonly keys?: { readonly cache: LayerCache; readonly open: () => OpenKeys };
  /** Bytes moved and operations computed in a step of this shape. */
  readonly work: (step: StepShape) => Work;
}

/** The parts of a layer that add to the residual stream. */
export type BlockKind = "attention" | "mixer" | "mlp";

/** What takes the keys and values that an operation writes to a cache. */
export interface OpenKeys {
  /** [rows, keys of each head, then values of each head], as they are before they are rounded. */
  readonly rows: FloatRows;
  /** What runs before the operation, and what runs after it. */
  readonly before: StepOperation["encode"];
  readonly after: StepOperation["encode"];
}

/** The attention over a cache. */
export interface AttentionInfo {
  readonly options: AttentionOptions;
  /** The rotated queries: [rows, heads, headDim]. */
  readonly queries: FloatRows;
  readonly cache: LayerCache;
}

/** An operation over rows of a step, as data. */
export interface OverRows extends RowShapes {
  readonly call: OperationCall;
}

/** The shape of what an operation runs in, such as a network in another one. */
export interface RowShapes {
  readonly shapeOf: (step: StepShape) => StepShape;
  readonly limitsOf: (limits: StepLimits) => Pick<StepLimits, "rows">;
}

const ALL_ROWS: RowShapes = { shapeOf: (step) => step, limitsOf: (limits) => limits };

/** An operation over all rows of a step, or of the shapes that follow from it. */
export function overRows(
  operation: Operation & { readonly call?: OperationCall },
  { shapeOf, limitsOf }: RowShapes = ALL_ROWS,
): StepOperation {
  const { call } = operation;
  return {
    ...stepOperation(
      operation,
      (pass, step) => operation.encode(pass, shapeOf(step).rows),
      (step) => countsOf(shapeOf(step)),
    ),
    over: call && { call, shapeOf, limitsOf },
    prepare: (limits) => operation.prepare?.(limitsOf(limits).rows),
  };
}

/** An operation with other counts than the rows of the step. */
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

/** The counts of operations over all rows of a step. */
export function countsOf(
  { rows, sequences, decodeContext, prefillContext }: StepShape,
): WorkCounts {
  return { rows, sequences, positions: Math.max(decodeContext, prefillContext) };
}

/** The capacities of a model's steps. */
export interface StepLimits {
  /** Most rows in a step. */
  rows: number;
  /** Most rows with outputs in a step. */
  outputs: number;
  /** Most sequences that run at the same time. */
  slots: number;
  /** Most positions of a sequence. */
  context: number;
}

/** The buffers that all operations of a step share. */
export interface StepState extends StepRows {
  /** Index of the row of each output: [outputs]. */
  readonly outputs: Buffer;
  /** One {@linkcode QUERY_TILE} for each decoding row: [slots]. */
  readonly decodeTiles: Buffer;
  /** The {@linkcode QUERY_TILE}s of the rows in prefill: [tiles]. */
  readonly prefillTiles: Buffer;
  /** A {@linkcode STEP_SEGMENT} for each sequence, in order of rows: [sequences]. */
  readonly segments: Buffer;
  /** Numbers of the KV blocks of each slot: [slots, maxBlocks]. */
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
    segments: records("segments", STEP_SEGMENT, rows),
    table: words("block table", slots * maxBlocks),
    maxBlocks,
  };
}
