// What the doctor finds out anew about a GPU: which way to compute each kernel is the fastest,
// beside the one that is taken without tuning; and, by all models of the store, whether it computes
// right.

import {
  type DeviceTuning,
  type DeviceVerdict,
  type FileSource,
  GpuError,
  keyOf,
  type ModelInfo,
  ModelStore,
  type ProofOptions,
  type TunedKernel,
} from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import { formatDuration } from "../terminal/mod.ts";
import { wrongModel } from "./device.ts";
import type { Finding, Section, Todo } from "./types.ts";

const AFTER_FAILURE: Todo = {
  text: "Models run with the usual kernels. Update the driver of the GPU, then tune again.",
};

const HEAD = ["kernel", "untuned", "µs", "chosen", "µs", "faster"];

/** Tunes the kernels and reports the results. */
export async function examineKernels(tune: () => Promise<DeviceTuning>): Promise<Section> {
  const title = "Kernels";
  try {
    const { description, reason, isUsual, kernels } = await tune();
    if (reason !== undefined) {
      const finding: Finding = { mark: "ok", subject: "tuning", text: `none: ${reason}` };
      return { title, findings: [finding], facts: { description, kernels } };
    }
    return {
      title,
      findings: [tuningFinding(kernels, isUsual), ...faultFindings(kernels)],
      table: [HEAD, ...kernels.map(toRow)],
      facts: { description, kernels },
    };
  } catch (error) {
    const text = `stopped: ${messageOf(error)}`;
    const todo = error instanceof GpuError ? { todo: AFTER_FAILURE } : {};
    return { title, findings: [{ mark: "warning", subject: "tuning", text, ...todo }] };
  }
}

function tuningFinding(kernels: readonly TunedKernel[], isUsual: boolean): Finding {
  const changed = kernels.filter(({ chosen, trials }) => chosen !== trials[0]?.name).length;
  const whose = isUsual
    ? "of well-known models, since none was loaded here yet"
    : "of the models loaded here";
  const text = `kernels ${whose}: ${kernels.length}, of which ${changed} are faster in another way`;
  return { mark: "ok", subject: "tuning", text };
}

/** A finding about each way that is not right, which is a fault of the driver or of Quern. */
function faultFindings(kernels: readonly TunedKernel[]): Finding[] {
  return kernels.flatMap(({ of, trials }) =>
    trials.flatMap(({ name, fault }, i) =>
      fault === undefined ? [] : [{
        mark: i === 0 ? "problem" : "warning",
        subject: "fault",
        text: `${keyOf(of)}, ${name}: ${fault}`,
        todo: { text: "Report it with the output of `quern doctor --tune --json`." },
      }]
    )
  );
}

function toRow({ of, chosen, trials }: TunedKernel): string[] {
  const [usual] = trials;
  const best = trials.find(({ name }) => name === chosen);
  const gain = usual?.seconds && best?.seconds ? usual.seconds / best.seconds : 1;
  return [
    keyOf(of),
    usual?.name ?? "",
    microseconds(usual?.seconds),
    chosen,
    microseconds(best?.seconds),
    `${gain.toFixed(2)} times`,
  ];
}

function microseconds(seconds: number | undefined): string {
  return seconds === undefined ? "-" : (seconds * 1e6).toFixed(1);
}

// The section about the proof of the device, made anew: all models of the store, operation by operation
// beside the CPU.

/** What the proof needs. */
interface ProofTools {
  /** The folder of the store. */
  readonly models: string;
  readonly proof: ProofOptions;
  readonly inspect: (path: string) => Promise<ModelInfo>;
  readonly prove: (source: FileSource, proof: ProofOptions) => Promise<DeviceVerdict>;
  /** Told which model is next. */
  readonly onModel: (name: string, done: number, all: number) => void;
}

const TITLE = "Proof";

/** Proves the device by all models of the store, one after the other. */
export async function proveDevice(
  { models, proof, inspect, prove, onModel }: ProofTools,
): Promise<Section> {
  const store = new ModelStore({ folder: models, inspect, onBroken() {} });
  const entries = await store.list();
  const findings: Finding[] = [];
  const facts: Record<string, DeviceVerdict> = {};
  for (const [i, { name, source }] of entries.entries()) {
    if (source.kind !== "files") continue;
    onModel(name, i, entries.length);
    try {
      const verdict = await prove(source, proof);
      if (!verdict.isCompared) return nothing(`${verdict.device}, with which others are compared`);
      facts[name] = verdict;
      findings.push(findingOf(name, verdict));
    } catch (error) {
      findings.push({ mark: "warning", subject: name, text: messageOf(error) });
    }
  }
  return findings.length === 0
    ? nothing("no model is here; get one with `quern pull`")
    : { title: TITLE, findings, facts };
}

function findingOf(name: string, { device, milliseconds, refusal }: DeviceVerdict): Finding {
  if (refusal) return { ...wrongModel({ name, faults: refusal.faults }), subject: name };
  const text = `${device} computes it as the CPU does, compared in ${formatDuration(milliseconds)}`;
  return { mark: "ok", subject: name, text };
}

function nothing(reason: string): Section {
  return { title: TITLE, findings: [{ mark: "ok", subject: "none", text: reason }] };
}
