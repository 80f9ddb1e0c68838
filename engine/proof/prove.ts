// Proves a device by a model that was loaded on it, before it answers: some of the model's layers run on
// it and on the CPU, operation by operation; then the whole model in steps of one number of rows and of
// another; and the choice of tokens. Whatever is further off than rounding is a fault of the device, of
// its driver, or of a kernel.

import { BLOCK } from "../../kernels/mod.ts";
import type { OutputKind } from "../nn/mod.ts";
import type { DeviceFault } from "../tuning/mod.ts";
import { CapturedSteps } from "./captured_steps.ts";
import type { Distance } from "./compare.ts";
import { layersToProve, operationsOf } from "./layers.ts";
import { ProofSequences, proofSteps, provedTokens } from "./script.ts";
import type { Subject } from "./subject.ts";
import { type BuildTwin, openTwin } from "./twin.ts";
import { TwinSteps } from "./twin_steps.ts";
import { choiceFaults, stepDifferences } from "./whole_model.ts";

/**
 * How far an operation may be from the CPU's, by the same inputs. Sums in another order differ by some
 * 1e-13 of the power, int8 codes and halves that fall on the other side of a rounding by up to 1e-7.
 */
const OPERATION: Distance = { error: 1e-5, greatest: 0.05 };

/** How far a whole model may be from itself in steps of other rows, as roundings add up. */
const MODEL: Distance = { error: 1e-3, greatest: Infinity };

/** The result of a proof. */
export interface Proof {
  /** Values of operations that were compared with the CPU's: operations, by steps. */
  readonly compared: number;
  /** The greatest distance of an operation that was found, within its bounds or not. */
  readonly worst: Distance;
  /** In the order of the steps; none: the device computes the model right. */
  readonly faults: readonly DeviceFault[];
  readonly milliseconds: number;
}

/**
 * Proves a device. No other step may run meanwhile, and none may have run yet: the sequences of the proof
 * take any slots and blocks.
 *
 * @throws {GpuError} if the device fails; the errors of loading the model on the CPU
 */
export async function prove(subject: Subject, build: BuildTwin): Promise<Proof> {
  const started = performance.now();
  const kind = kindOf(subject);
  const { faults, ...operations } = await proveOperations(subject, build, kind);
  // A head has no whole model of its own: it reads what the model gives it.
  if (!subject.isEncoder && !subject.states) {
    for (const { rows, ...distance } of await stepDifferences(subject, kind)) {
      if (isWithin(distance, MODEL)) continue;
      faults.push({ what: `the model in steps of ${rows} rows`, how: describe(distance) });
    }
    if (kind === "logits") faults.push(...await choiceFaults(subject));
  }
  return { ...operations, faults, milliseconds: performance.now() - started };
}

function kindOf({ network }: Subject): OutputKind {
  return network.outputRows("logits") ? "logits" : "hidden";
}

/** Compares the operations of some layers with those of the CPU. */
async function proveOperations(
  subject: Subject,
  build: BuildTwin,
  kind: OutputKind,
): Promise<Pick<Proof, "compared" | "worst"> & { faults: DeviceFault[] }> {
  const { device, network, vocabulary, isEncoder: isWhole } = subject;
  const { limits, cacheBlocks } = network.options;
  const all = network.operations(kind);
  const layers = layersToProve(all, device);
  const steps = proofSteps(limits, cacheBlocks, isWhole);
  const rows = Math.max(...steps.map(({ rows }) => rows.reduce((a, b) => a + b)));
  using twin = await openTwin(build, layers, {
    limits: {
      rows,
      outputs: Math.min(limits.outputs, rows),
      slots: limits.slots,
      context: Math.min(limits.context, MOST_BLOCKS * BLOCK),
    },
    cacheBlocks: Math.min(cacheBlocks, MOST_BLOCKS * limits.slots),
    chooseTokens: provedTokens,
  });
  const tokens = provedTokens(vocabulary)
    .flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));
  using captured = new CapturedSteps(device, all, operationsOf(all, layers));
  const judged = new TwinSteps(
    twin.device,
    operationsOf(twin.network.operations(kind), layers)
      .filter(({ name }) => name !== "hand over"),
    tokens,
  );
  using own = new ProofSequences(subject, steps, { tokens, isWhole });
  using theirs = new ProofSequences(twin, steps, { tokens: tokens.map((_, i) => i), isWhole });
  const faults: DeviceFault[] = [];
  let [compared, error, greatest] = [0, 0, 0];
  for (const step of steps) {
    const written = await captured.run(own.next(step).shape);
    for (const difference of await judged.differences(theirs.next(step).shape, written)) {
      compared++;
      error = Math.max(error, difference.error);
      greatest = Math.max(greatest, difference.greatest);
      if (isWithin(difference, OPERATION)) continue;
      const { name, layer, output } = difference;
      const where = layer === undefined ? "" : ` of layer ${layer}`;
      const rows = step.rows.reduce((a, b) => a + b);
      faults.push({
        what: `${name}${where} (${output}), ${rows} row${rows === 1 ? "" : "s"}`,
        how: describe(difference),
      });
    }
  }
  return { compared, worst: { error, greatest }, faults };
}

/** Most blocks of a sequence's KV cache in a proof. */
const MOST_BLOCKS = 8;

function isWithin(distance: Distance, bound: Distance): boolean {
  return distance.error <= bound.error && distance.greatest <= bound.greatest;
}

function describe({ error, greatest }: Distance): string {
  return Number.isFinite(error)
    ? `off by ${error.toPrecision(2)} of the power, and by up to ${
      greatest.toPrecision(2)
    } times the mean value`
    : "values are not finite";
}
