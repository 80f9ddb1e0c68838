// The section about the GPU: which one it is, what it can do, and whether it computes right. What to
// do where it is missing or a poor one is in gpu_advice.ts.

import type { Capabilities, DeviceProfile, GpuExamination } from "../../../engine/mod.ts";
import { formatSize } from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import type { Environment } from "../../settings/environment.ts";
import type { Host } from "../setup/host.ts";
import { formatDuration } from "../terminal/mod.ts";
import { driverVersion } from "./driver.ts";
import { adviseHiddenGpu, adviseMissingGpu } from "./gpu_advice.ts";
import type { Finding, Section, Todo } from "./types.ts";

/** What WebGPU gives without being asked, in bytes. */
const DEFAULT_LIMITS = { binding: 128 * 2 ** 20, buffer: 256 * 2 ** 20 };

const UPDATE_DRIVER: Todo = { text: "Update the driver of the GPU, then ask the doctor again." };

/** Looks at the GPU that models are loaded on. */
export async function examineGpu(
  examine: () => Promise<GpuExamination>,
  { host, environment }: { host: Host; environment: Environment },
): Promise<Section> {
  const title = "GPU";
  try {
    const { profile, product } = await examine();
    const findings = [
      await adapterFinding(profile, host, environment),
      ...await driverFindings(profile, host),
      productFinding(product),
      ...featureFindings(profile.capabilities),
      ...limitFindings(profile),
    ];
    const { description, capabilities, platform, vendor, device } = profile;
    const limits = {
      maxStorageBufferBindingSize: profile.maxBindingSize,
      maxBufferSize: profile.maxBufferSize,
    };
    const facts = { description, vendor, device, platform, capabilities, limits, product };
    return { title, findings, facts };
  } catch (error) {
    const finding = problem("adapter", messageOf(error), await adviseMissingGpu(host, environment));
    return { title, findings: [finding], facts: { error: messageOf(error) } };
  }
}

async function adapterFinding(
  { description, capabilities }: DeviceProfile,
  host: Host,
  environment: Environment,
): Promise<Finding> {
  if (!capabilities.software) return ok("adapter", description);
  // WebGPU takes OpenGL where Vulkan is missing. Its software driver has no subgroups, Vulkan's has.
  const isOpenGl = host.os === "linux" && !capabilities.subgroups;
  const advise = isOpenGl ? adviseMissingGpu : adviseHiddenGpu;
  const todo = await advise(host, environment);
  return {
    mark: "warning",
    subject: "adapter",
    text: isOpenGl
      ? `${description}, by OpenGL since Vulkan is missing: slow, and models may fail`
      : `${description}: a driver that runs on the CPU; answers are right, but slow`,
    ...(todo && { todo }),
  };
}

async function driverFindings({ description }: DeviceProfile, host: Host): Promise<Finding[]> {
  const version = await driverVersion(host, description);
  return version === undefined ? [] : [ok("driver", version)];
}

function productFinding({ values, wrong, milliseconds }: GpuExamination["product"]): Finding {
  if (wrong === 0) {
    const time = formatDuration(milliseconds);
    return ok("test", `a matrix product of ${values} values came out as on the CPU, in ${time}`);
  }
  const text = `of a matrix product, ${wrong} of ${values} values are not what the CPU computes: ` +
    "answers of models will be wrong";
  return problem("test", text, UPDATE_DRIVER);
}

function featureFindings(
  { subgroups, subgroupSize, packedDot, timestamps, software }: Capabilities,
): Finding[] {
  // Kernels for the CPU do without; elsewhere it costs speed.
  const lack = software ? "ok" : "warning";
  return [
    subgroupSize > 0 ? ok("subgroups", `of ${subgroupSize} invocations`) : {
      mark: lack,
      subject: "subgroups",
      text: `${subgroups ? "of varying size, so not used" : "none"}: ` +
        (software ? "not needed on the CPU" : "sums take a way that is slower"),
    },
    packedDot
      ? ok("int8 products", "packed (dot4I8Packed)")
      : { mark: lack, subject: "int8 products", text: "not packed: prompts are read slower" },
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
