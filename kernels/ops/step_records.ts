// The packed records of a step: its rows, sequences and query tiles, and the contents of slots
// between steps. The host packs them, and the kernels of every device read them, by these
// definitions alone.

import { RecordLayout } from "../record.ts";
import { FILTER_FIELDS } from "./filters/list.ts";

/** A row as the host plans it. */
export const PLAN_ROW = new RecordLayout("PlanRow", {
  /** The token, or MEDIA_TOKEN plus the index of the row among those of images. */
  token: "u32",
  /** Index in the sequence. */
  position: "u32",
  slot: "u32",
  /** 1 if token and position are not those given here, but those that the sampler left in the slot. */
  inSlot: "u32",
  /** How far each part of the M-RoPE position is behind the position: the same in a text. */
  timeDelta: "u32",
  heightDelta: "u32",
  widthDelta: "u32",
});

/** A row as the first operation of a step resolves it, for all others. */
export const STEP_ROW = new RecordLayout("StepRow", {
  token: "u32",
  position: "u32",
  slot: "u32",
  /** The three parts of the M-RoPE position; without M-RoPE each is the position. */
  time: "u32",
  height: "u32",
  width: "u32",
});

/** The sequence's last token, which the sampler leaves in a slot for the next step. */
export const SLOT_TOKEN = new RecordLayout("SlotToken", { token: "u32", position: "u32" });

/** Consecutive rows of one sequence whose queries attend together. */
export const QUERY_TILE = new RecordLayout("QueryTile", {
  firstRow: "u32",
  rows: "u32",
  /**
   * Number of positions of the sequence that the tile attends to, or 0 for those up to its last
   * row.
   */
  end: "u32",
  /** End position of the image of these rows if they attend to all of it; else 0. */
  imageEnd: "u32",
});

/** The rows of one sequence in a step. */
export const STEP_SEGMENT = new RecordLayout("StepSegment", { firstRow: "u32", rows: "u32" }, 4);

/** The sampling options of a slot; see `SamplingOptions`. */
export const SAMPLING = new RecordLayout("Sampling", {
  /** 0: always the most likely token. */
  temperature: "f32",
  topK: "u32",
  topP: "f32",
  repeatPenalty: "f32",
  presencePenalty: "f32",
  frequencyPenalty: "f32",
  repeatLastN: "u32",
  /** 0 or 1. */
  masked: "u32",
  seed: "u64",
  ...FILTER_FIELDS,
});
