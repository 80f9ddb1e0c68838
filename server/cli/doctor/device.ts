// The section about the device that computes: which one is taken and why, what it can do, and whether
// it computes right. What to do where a GPU is missing or a poor one is in gpu_advice.ts.

import {
  type Capabilities,
  type DeviceChoice,
  type DeviceExamination,
  type DeviceProfile,
  formatSize,
  type ProvedModel,
} from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import { type Environment, readValues } from "../../settings/environment.ts";
import type { Host } from "../setup/host.ts";
import { formatDuration } from "../terminal/mod.ts";
import { driverVersion } from "./driver.ts";
import { adviseHiddenGpu, adviseMissingGpu, adviseUnusedGpu } from "./gpu_advice.ts";
import type { Finding, Section, Todo } from "./types.ts";

/** The default limits of WebGPU, in bytes. */
const DEFAULT_LIMITS = { binding: 128 * 2 ** 20, buffer: 256 * 2 ** 20 };

const UPDATE_DRIVER: Todo = { text: "Update the driver of the GPU, then ask the doctor again." };

const WRONG_MODEL: Todo = {
  text: "Update the driver of the GPU. If it stays, report it with the output of " +
    "`quern doctor --prove --json`.",
};

/** The facts of the machine that findings need. */
interface Surroundings {
  host: Host;
  environment: Environment;
}

/** Looks at the device that models are loaded on. */
export async function examineDevice(
  examine: () => Promise<DeviceExamination>,
  surroundings: Surroundings,
): Promise<Section> {
  const title = "Device";
  try {
    const { choice, profile, product, proved } = await examine();
    const findings = choice.kind === "cpu"
      ? [await cpuFinding(choice, profile, surroundings), productFinding(product)]
      : [
        await adapterFinding(choice, profile, surroundings),
        ...await driverFindings(profile, surroundings.host),
        productFinding(product),
        ...proofFindings(proved),
        ...featureFindings(profile.capabilities),
        ...limitFindings(profile),
      ];
    const { description, capabilities, platform, vendor, device } = profile;
    const limits = {
      maxStorageBufferBindingSize: profile.maxBindingSize,
      maxBufferSize: profile.maxBufferSize,
    };
    const facts = {
      ...choice,
      description,
      vendor,
      device,
      platform,
      capabilities,
      limits,
      product,
      proved,
    };
    return { title, findings, facts };
  } catch (error) {
    const todo = await adviseMissingGpu(surroundings.host, surroundings.environment);
    const finding = problem("device", messageOf(error), todo);
    return { title, findings: [finding], facts: { error: messageOf(error) } };
  }
}

/** A finding about a GPU of the machine that is not used, unless the user has chosen the CPU. */
async function cpuFinding(
  { reason }: DeviceChoice,
  { description }: DeviceProfile,
  { host, environment }: Surroundings,
): Promise<Finding> {
  const isWanted = readValues(environment).device === "cpu";
  const todo = isWanted ? undefined : await adviseUnusedGpu(host, environment);
  const text = `${description}: ${reason}`;
  return todo ? { mark: "warning", subject: "device", text, todo } : ok("device", text);
}

async function adapterFinding(
  { reason }: DeviceChoice,
  { description, capabilities }: DeviceProfile,
  { host, environment }: Surroundings,
): Promise<Finding> {
  if (!capabilities.software) return ok("device", `${description}: ${reason}`);
  const todo = await adviseHiddenGpu(host, environment);
  return {
    mark: "warning",
    subject: "device",
    text: `${description}: a driver that runs on the CPU, slower than QUERN_DEVICE=cpu; ${reason}`,
    ...(todo && { todo }),
  };
}

async function driverFindings({ description }: DeviceProfile, host: Host): Promise<Finding[]> {
  const version = await driverVersion(host, description);
  return version === undefined ? [] : [ok("driver", version)];
}

function productFinding({ values, wrong, milliseconds }: DeviceExamination["product"]): Finding {
  if (wrong === 0) {
    const time = formatDuration(milliseconds);
    return ok("test", `a matrix product of ${values} values came out as it should, in ${time}`);
  }
  const text = `of a matrix product, ${wrong} of ${values} values are not what the CPU computes: ` +
    "answers of models will be wrong";
  return problem("test", text, UPDATE_DRIVER);
}

/** Findings about models that were loaded on it, each of which it computes right, or wrongly. */
function proofFindings(proved: DeviceExamination["proved"]): Finding[] {
  const right = proved.filter(({ faults }) => faults.length === 0).length;
  const wrong = proved.filter(({ faults }) => faults.length > 0);
  return [
    ...(right === 0 ? [] : [
      ok("proof", `${right} model${right === 1 ? "" : "s"} computed as on the CPU`),
    ]),
    ...wrong.map((model) => wrongModel(model)),
  ];
}

/** Most faults of a model that are printed; --json has all. */
const MOST_FAULTS = 3;

/** A finding about a model that a device computes wrongly, and for which it is not used. */
export function wrongModel({ name, faults }: Pick<ProvedModel, "name" | "faults">): Finding {
  const named = faults.slice(0, MOST_FAULTS).map(({ what, how }) => `${what}, ${how}`);
  const more = faults.length - named.length;
  return problem(
    "proof",
    `${name} is not what the CPU computes, which answers instead: ${named.join("; ")}` +
      (more > 0 ? `; and ${more} more` : ""),
    WRONG_MODEL,
  );
}

function featureFindings(
  { subgroups, subgroupSize, packedDot, timestamps, software }: Capabilities,
): Finding[] {
  // The CPU needs no subgroups; on a GPU their lack costs speed.
  const lack = software ? "ok" : "warning";
  return [
    subgroupSize > 0 ? ok("subgroups", `of ${subgroupSize} invocations`) : {
      mark: lack,
      subject: "subgroups",
      text: `${subgroups ? "of varying size, so not used" : "none"}: ` +
        (software ? "not needed on the CPU" : "sums take a way that is slower"),
    },
    ok("int8 products", packedDot ? "packed (dot4I8Packed)" : "none: products are computed in f32"),
    ok("timestamps", timestamps ? "yes" : "none: kernels cannot be timed, nothing else is lost"),
  ];
}

/** A matrix that is larger than a binding is split; some buffers cannot be. */
function limitFindings({ maxBindingSize, maxBufferSize }: DeviceProfile): Finding[] {
  const bound = (subject: string, bytes: number, standard: number): Finding =>
    bytes > standard ? ok(subject, `${formatSize(bytes)}, by default ${formatSize(standard)}`) : {
      mark: "warning",
      subject,
      text: `${formatSize(bytes)}, the least there is: large matrices are split, ` +
        "and long context windows may not fit",
    };
  return [
    bound("largest binding", maxBindingSize, DEFAULT_LIMITS.binding),
    bound("largest buffer", maxBufferSize, DEFAULT_LIMITS.buffer),
  ];
}

function ok(subject: string, text: string): Finding {
  return { mark: "ok", subject, text };
}

function problem(subject: string, text: string, todo: Todo): Finding {
  return { mark: "problem", subject, text, todo };
}
