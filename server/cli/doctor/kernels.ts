// The section about the kernels of the GPU, tuned anew: which way to compute each is the fastest, beside
// the one that is taken without tuning.

import { type DeviceTuning, GpuError, keyOf, type TunedKernel } from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
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
