// Proves a device by a model that was loaded on it, before it answers: some of the model's layers run on
// it and on the CPU, operation by operation; then the whole model in steps of one number of rows and of
// another; and the choice of tokens. Whatever is further off than rounding is a fault of the device, of
// its driver, or of a kernel.

import { BLOCK, type Device, openDevice } from "../../kernels/mod.ts";
import type { GgufFile } from "../gguf/mod.ts";
import type { OutputKind, StepOperation, StepShape } from "../nn/mod.ts";
import { type DeviceFault, ProofFile, type ProofOptions } from "../tuning/mod.ts";
import { CapturedSteps, TwinSteps } from "./steps.ts";
import { describe, type Distance, isWithin, Judgement, type Proof } from "./judgement.ts";
import { layersToProve, operationsOf } from "./layers.ts";
import { ProofSequences, type ProofStep, proofSteps, provedTokens } from "./script.ts";
import { type BuildTwin, openTwin, placementOf, type Subject, type TwinPlacement } from "./twin.ts";
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

// The parts of a model that are proved beside it: what drafts for it, and its encoder of images.

/** A part of a model. */
export interface ProvedPart {
  /** What it is, before its faults; missing for the model itself. */
  readonly name?: string;
  /** The file with its weights. */
  readonly file: GgufFile;
  prove(): Promise<Proof>;
}

/** Proves a device by all parts of a model, one after the other. Errors: those of their proofs. */
export async function proveParts(parts: readonly ProvedPart[]): Promise<Proof> {
  const proofs: Proof[] = [];
  for (const { name, prove } of parts) {
    const proof = await prove();
    const nameOf = (what: string) => name === undefined ? what : `${name}: ${what}`;
    proofs.push({
      ...proof,
      faults: proof.faults.map(({ what, how }) => ({ what: nameOf(what), how })),
    });
  }
  const sum = (of: (proof: Proof) => number) => proofs.reduce((all, proof) => all + of(proof), 0);
  const most = (of: (proof: Proof) => number) => Math.max(...proofs.map(of));
  return {
    compared: sum(({ compared }) => compared),
    worst: {
      error: most(({ worst }) => worst.error),
      greatest: most(({ worst }) => worst.greatest),
    },
    faults: proofs.flatMap(({ faults }) => faults),
    milliseconds: sum(({ milliseconds }) => milliseconds),
  };
}

// Proves a device by an encoder of images that was loaded on it: one step for a small image, on it and on
// the CPU, where one layer of each kind has its weights.

/** The step that encodes an image, whose pixels were written. */
export interface EncoderStep {
  readonly device: Device;
  readonly operations: readonly StepOperation[];
  readonly shape: StepShape;
}

/**
 * Proves a device. Nothing may be encoded meanwhile.
 *
 * @param openTwin the same step of the encoder, loaded on another device
 * @throws {GpuError} if the device fails; the errors of loading the encoder on the CPU
 */
export async function proveEncoder(
  { device, operations: all, shape }: EncoderStep,
  openTwin: (device: Device, where: TwinPlacement) => Promise<EncoderStep & Disposable>,
): Promise<Proof> {
  const started = performance.now();
  const layers = layersToProve(all, device);
  using cpu = await openDevice({ kind: "cpu" });
  using twin = await openTwin(cpu, placementOf(layers));
  using captured = new CapturedSteps(device, all, operationsOf(all, layers));
  const judged = new TwinSteps(twin.device, operationsOf(twin.operations, layers));
  const judgement = new Judgement();
  judgement.add(await judged.differences(twin.shape, await captured.run(shape)), shape.rows);
  return judgement.proof(performance.now() - started);
}

// When a device is proved, and what follows: at the first load of a model on it, and again for another
// driver, runtime or version. Where the proof finds faults, kernels that are wrong in one way of computing
// them are computed in another, and the proof is done once more. What is left is told, and kept.

/** A model to prove its device by. */
interface ProvableModel {
  /** Equal for models that have equal operations. */
  readonly key: string;
  /** Its name in its file, for people. */
  readonly name: string;
  prove(): Promise<Proof>;
  /** Makes ready what was chosen for its kernels. */
  prepare(): Promise<void>;
}

/** How often a proof may end with its process or its device before the device counts as wrong. */
const MOST_TRIES = 2;

const NEVER_ENDED: DeviceFault = {
  what: "the comparison with the CPU",
  how: "the device or the process failed in the midst of it, twice",
};

/** The proof of a model's device. */
export class DeviceProof {
  readonly #device: Device;
  readonly #file: ProofFile;
  readonly #isAnew: boolean;

  private constructor(device: Device, identity: string, options: ProofOptions) {
    this.#device = device;
    this.#file = new ProofFile(identity, options);
    this.#isAnew = options.anew ?? false;
  }

  /** The proof of a device; undefined for the CPU, and where none is wanted. */
  static of(device: Device, options: ProofOptions | undefined): DeviceProof | undefined {
    const { identity } = device;
    if (identity === undefined || !options) return undefined;
    return new DeviceProof(device, identity, options);
  }

  /** Takes over the kernels that were mended before. Call it once operations are bound. */
  async restore(): Promise<void> {
    if (this.#isAnew) return;
    const { kernels } = await this.#file.read();
    if (kernels.length > 0) await this.#device.tuner?.restore(kernels);
  }

  /**
   * What the device computes wrongly of a model; nothing if it is right. Nothing else may use the device
   * meanwhile. Errors: those of the proof.
   */
  async faultsOf(model: ProvableModel): Promise<readonly DeviceFault[]> {
    const { key, name } = model;
    const { models, begun } = await this.#file.read();
    const known = models[key];
    if (known && !this.#isAnew) return known.faults;
    if ((begun[key] ?? 0) >= MOST_TRIES && !this.#isAnew) return [NEVER_ENDED];
    await this.#file.begin(key);
    let proof = await model.prove();
    if (proof.faults.length > 0) proof = await this.#mend(model) ?? proof;
    await this.#file.end(key, { ...proof, name });
    return proof.faults;
  }

  /** The proof after kernels were mended; undefined if none could be. */
  async #mend(model: ProvableModel): Promise<Proof | undefined> {
    const mended = await this.#device.tuner?.mend() ?? [];
    if (mended.length === 0) return undefined;
    await model.prepare();
    const proof = await model.prove();
    if (proof.faults.length === 0) await this.#file.add(mended);
    return proof;
  }
}
