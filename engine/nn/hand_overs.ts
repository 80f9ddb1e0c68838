// The transfers between the devices of a split model within a step. Consecutive operations on the
// same device are a run. Before each run, one operation transfers all that the run reads and the
// other device wrote.

import type { Buffer, Device, Operation } from "../../kernels/mod.ts";
import type { Placement } from "../weights/mod.ts";
import type { StepLimits, StepOperation, StepShape } from "./step.ts";

/** Makes the operation that transfers a buffer, once values have their memory. */
export type HandOverMaker = Pick<Placement, "handOver">;

/**
 * The devices that have the latest contents of a buffer. Buffers that are not listed are written by
 * the host, to all devices.
 */
export type Freshness = ReadonlyMap<Buffer, ReadonlySet<Device>>;

/**
 * The operations with the transfers between them, and which devices have the latest contents after
 * the last one.
 */
export function withHandOvers(
  operations: readonly StepOperation[],
  placement: HandOverMaker,
  limits: StepLimits,
  before: Freshness = new Map(),
): { operations: StepOperation[]; after: Freshness } {
  const fresh = new Map(before);
  const all: StepOperation[] = [];
  for (const { device, run } of runsOf(operations)) {
    const stale = readsOf(run).filter((buffer) => fresh.get(buffer)?.has(device) === false);
    if (stale.length > 0) all.push(handOver(stale, device, placement, limits));
    for (const buffer of stale) fresh.set(buffer, new Set([...fresh.get(buffer)!, device]));
    for (const buffer of run.flatMap(({ writes }) => writes)) fresh.set(buffer, new Set([device]));
    all.push(...run);
  }
  return { operations: all, after: fresh };
}

interface Run {
  readonly device: Device;
  readonly run: StepOperation[];
}

function runsOf(operations: readonly StepOperation[]): Run[] {
  const runs: Run[] = [];
  for (const operation of operations) {
    const last = runs.at(-1);
    if (last && last.device === operation.device) last.run.push(operation);
    else runs.push({ device: operation.device!, run: [operation] });
  }
  return runs;
}

/** The buffers that a run reads before it writes them. */
function readsOf(run: readonly StepOperation[]): Buffer[] {
  const written = new Set<Buffer>();
  const reads = new Set<Buffer>();
  for (const operation of run) {
    for (const buffer of operation.reads) if (!written.has(buffer)) reads.add(buffer);
    for (const buffer of operation.writes) written.add(buffer);
  }
  return [...reads];
}

/** The operation that transfers the part of each buffer that is used by a step's rows. */
function handOver(
  buffers: readonly Buffer[],
  device: Device,
  placement: HandOverMaker,
  limits: StepLimits,
): StepOperation {
  let all: { buffer: Buffer; operation: Pick<Operation, "encode"> }[] = [];
  return {
    name: "hand over",
    device,
    reads: buffers,
    writes: buffers,
    bind: () => {
      all = buffers.map((buffer) => ({ buffer, operation: placement.handOver(buffer, device) }));
    },
    encode: (pass, step) => {
      for (const { buffer, operation } of all) {
        operation.encode(pass, bytesOf(buffer, step, limits));
      }
    },
    work: (step) => {
      const bytes = buffers.reduce((sum, buffer) => sum + bytesOf(buffer, step, limits), 0);
      return { bytesRead: bytes, bytesWritten: bytes, flops: 0 };
    },
  };
}

/**
 * Bytes of an activation that a step uses. A buffer has the same number of bytes for each possible
 * row.
 */
function bytesOf({ size }: Buffer, step: StepShape, limits: StepLimits): number {
  return Math.min(size, 4 * Math.ceil(size * step.rows / limits.rows / 4));
}
