// Proves a device by a model that was loaded on it, before it answers: some of the model's layers run on
// it and on the CPU, operation by operation; then the whole model in steps of one number of rows and of
// another; and the choice of tokens. Whatever is further off than rounding is a fault of the device, of
// its driver, or of a kernel.

import { BLOCK } from "../../kernels/mod.ts";
import type { OutputKind } from "../nn/mod.ts";
import { CapturedSteps } from "./captured_steps.ts";
import { describe, type Distance, isWithin } from "./compare.ts";
import { Judgement, type Proof } from "./judgement.ts";
import { layersToProve, operationsOf } from "./layers.ts";
import { ProofSequences, type ProofStep, proofSteps, provedTokens } from "./script.ts";
import type { Subject } from "./subject.ts";
import { type BuildTwin, openTwin } from "./twin.ts";
import { TwinSteps } from "./twin_steps.ts";
import { choiceFaults, stepDifferences } from "./whole_model.ts";

/** How far a whole model may be from itself in steps of other rows, as roundings add up. */
const MODEL: Distance = { error: 1e-3, greatest: Infinity };

/**
 * Proves a device. No other step may run meanwhile, and none may have run yet: the sequences of the proof
 * take any slots and blocks.
 *
 * @throws {GpuError} if the device fails; the errors of loading the model on the CPU
 */
export async function prove(subject: Subject, build: BuildTwin): Promise<Proof> {
  const started = performance.now();
  const kind: OutputKind = subject.network.outputRows("logits") ? "logits" : "hidden";
  const judgement = new Judgement();
  await proveOperations(subject, build, kind, judgement);
  // A head has no whole model of its own: it reads what the model gives it.
  if (!subject.isEncoder && !subject.states) {
    for (const { rows, ...distance } of await stepDifferences(subject, kind)) {
      if (isWithin(distance, MODEL)) continue;
      const what = `the model in steps of ${rows} rows`;
      judgement.faults.push({ what, how: describe(distance) });
    }
    if (kind === "logits") judgement.faults.push(...await choiceFaults(subject));
  }
  return judgement.proof(performance.now() - started);
}

/** Compares the operations of some layers with those of the CPU. */
async function proveOperations(
  subject: Subject,
  build: BuildTwin,
  kind: OutputKind,
  judgement: Judgement,
): Promise<void> {
  const { device, network, vocabulary, isEncoder: isWhole } = subject;
  const { limits, cacheBlocks } = network.options;
  const all = network.operations(kind);
  const layers = layersToProve(all, device);
  const steps = proofSteps(limits, cacheBlocks, isWhole);
  const most = Math.max(...steps.map(rowsIn));
  using twin = await openTwin(build, layers, {
    limits: {
      rows: most,
      outputs: Math.min(limits.outputs, most),
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
    operationsOf(twin.network.operations(kind), layers),
    tokens,
  );
  using own = new ProofSequences(subject, steps, { tokens, isWhole });
  using theirs = new ProofSequences(twin, steps, { tokens: tokens.map((_, i) => i), isWhole });
  for (const step of steps) {
    const written = await captured.run(own.next(step).shape);
    const differences = await judged.differences(theirs.next(step).shape, written);
    judgement.add(differences, rowsIn(step));
  }
}

function rowsIn({ rows }: ProofStep): number {
  return rows.reduce((a, b) => a + b);
}

/** Most blocks of a sequence's KV cache in a proof. */
const MOST_BLOCKS = 8;
