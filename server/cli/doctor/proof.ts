// The section about the proof of the device, made anew: all models of the store, operation by operation
// beside the CPU.

import {
  type DeviceVerdict,
  type FileSource,
  type ModelInfo,
  ModelStore,
  type ProofOptions,
} from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import { formatDuration } from "../terminal/mod.ts";
import { wrongModel } from "./device.ts";
import type { Finding, Section } from "./types.ts";

/** What the proof needs. */
export interface ProofTools {
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
