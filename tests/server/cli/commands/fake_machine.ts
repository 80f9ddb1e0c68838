// A machine that is played for the doctor: its files, its programs, its GPU, its server.

import type {
  DeviceExamination,
  DeviceTuning,
  DeviceVerdict,
  ModelInfo,
  ProvedModel,
} from "../../../../engine/mod.ts";
import { CpuDevice } from "../../../../kernels/cpu/device.ts";
import type { DeviceProfile } from "../../../../kernels/mod.ts";
import { doctor } from "../../../../server/cli/commands/define_machine.ts";
import type { CliDependencies } from "../../../../server/cli/dependencies.ts";
import type { Machine } from "../../../../server/cli/doctor/types.ts";
import type { Host } from "../../../../server/cli/setup/host.ts";
import { VERSION } from "../../../../server/version.ts";
import { FakeTerminal } from "../fake_terminal.ts";
import { fakeFetch, type Route } from "./fake_api.ts";

const GIB = 2 ** 30;

/** What a machine is like where it is not a desktop with a fast GPU, nothing in the way and no server. */
export interface FakeMachine {
  os?: Host["os"];
  /** Texts of files by path. */
  files?: Record<string, string>;
  /** Outputs of programs by their command lines; others fail. */
  programs?: Record<string, string>;
  /** Why the CPU is taken, where it is. */
  cpu?: string;
  /** What differs from a GPU that is well, or the fault of its driver. */
  gpu?: Error | {
    software?: boolean;
    wrong?: number;
    subgroups?: boolean;
    subgroupSize?: number;
    maxBindingSize?: number;
  };
  /** Of memory for models. */
  budget?: number;
  /** Of the disk. */
  free?: number;
  environment?: Record<string, string>;
  /** Absent: nothing listens. */
  server?: Record<string, Route>;
  /** In place of `server`. */
  fetch?: typeof globalThis.fetch;
  isPortOpen?: boolean;
  inspect?: (path: string) => Promise<ModelInfo>;
  /** What tuning its kernels gives; absent: it cannot be. */
  tuning?: DeviceTuning | Error;
  /** What was proved of its device before. */
  proved?: ProvedModel[];
  /** What its device proves by a model, by the path of its file. */
  prove?: (path: string) => DeviceVerdict;
}

/** How the doctor ran. */
export interface DoctorRun {
  code: number;
  output: string;
}

/** Runs the doctor on a machine; its store is an empty folder, unless the environment names one. */
export async function runDoctor(
  machine: FakeMachine = {},
  { json = false, tune = false, prove = false, terminal = new FakeTerminal() } = {},
): Promise<DoctorRun> {
  const folder = await Deno.makeTempDir();
  try {
    const dependencies: CliDependencies = {
      open: () => Promise.reject(new Error("not reached")),
      inspect: machine.inspect ?? (() => Promise.reject(new Error("not reached"))),
      memory: {
        estimate: () => Promise.reject(new Error("not reached")),
        budget: () => Promise.resolve({ total: machine.budget ?? 22 * GIB, source: "as it says" }),
      },
      device: {
        examine: () => examineFake(machine),
        describe: () => Promise.reject(new Error("not reached")),
        readBandwidth: () => Promise.reject(new Error("not reached")),
        ...(machine.prove && {
          prove: ({ path }) => Promise.try(() => machine.prove!(path)),
        }),
        tune: async (_folder, onKernel) => {
          if (!machine.tuning || machine.tuning instanceof Error) throw machine.tuning;
          await Promise.resolve();
          onKernel(1, machine.tuning.kernels.length);
          return machine.tuning;
        },
      },
      terminal,
      environment: { QUERN_MODELS: folder, ...machine.environment },
      fetch: machine.fetch ?? (machine.server ? fakeFetch(machine.server) : refuseConnection),
    };
    const code = await doctor(dependencies, { json, tune, prove }, toMachine(machine));
    return { code, output: terminal.output };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What there is to do, without line breaks. */
export function todosIn(output: string): string {
  return output.split("What to do")[1]?.replace(/\s+/g, " ") ?? "";
}

/** A window in which nothing is wrapped that need not be. */
export function wideTerminal(): FakeTerminal {
  const terminal = new FakeTerminal();
  terminal.columns = 200;
  return terminal;
}

/** Routes of a Quern server that is well. */
export const QUERN_SERVER: Record<string, Route> = {
  "GET /api/version": () => Response.json({ version: "0.34.0", quern_version: VERSION }),
  "GET /health": () => Response.json({ status: "ok" }),
  "GET /api/ps": () => Response.json({ models: [] }),
};

/** os-release of Debian 12. */
export const DEBIAN = { "/etc/os-release": "ID=debian\nVERSION_CODENAME=bookworm\n" };

/** A line of the system's list of PCI devices, of a GPU of that maker. */
export function pciDevice(maker: string): Record<string, string> {
  return { "/proc/bus/pci/devices": `0000\t80861237\t0\n0100\t${maker}2684\t10\tdriver\n` };
}

function refuseConnection(): Promise<Response> {
  return Promise.reject(new TypeError("connection refused"));
}

function toMachine({ os = "linux", files = {}, programs = {}, ...more }: FakeMachine): Machine {
  const host: Host = {
    os,
    isRoot: false,
    run(command) {
      const output = programs[command.join(" ")];
      return Promise.resolve({ ok: output !== undefined, output: output ?? "" });
    },
    readText: (path) => Promise.resolve(files[path]),
    exclusively: (task) => task(),
    lastFailure: () => Promise.resolve(0),
    noteFailure: () => Promise.resolve(),
    report: () => {},
  };
  return {
    host,
    isPortOpen: () => Promise.resolve(more.isPortOpen ?? false),
    freeBytes: () => Promise.resolve(more.free ?? 500e9),
  };
}

function examineFake({ gpu = {}, cpu, proved = [] }: FakeMachine): Promise<DeviceExamination> {
  if (gpu instanceof Error) return Promise.reject(gpu);
  if (cpu !== undefined) {
    return Promise.resolve({
      choice: { kind: "cpu", reason: cpu },
      profile: CpuDevice.profileOf({ threads: 4 }),
      product: { values: 64, wrong: 0, milliseconds: 12 },
      proved,
    });
  }
  const { software = false, wrong = 0, subgroups = true } = gpu;
  const { subgroupSize = 32, maxBindingSize = 2 * GIB } = gpu;
  const profile: DeviceProfile = {
    platform: { name: "deno" },
    capabilities: {
      subgroups,
      timestamps: true,
      packedDot: true,
      subgroupSize,
      leastSubgroup: subgroupSize,
      software,
    },
    description: software ? "llvmpipe (LLVM 15)" : "NVIDIA Test GPU",
    vendor: 0x10de,
    device: 1,
    maxBindingSize,
    maxBufferSize: 4 * GIB,
  };
  return Promise.resolve({
    choice: {
      kind: "webgpu",
      reason: software ? "as QUERN_DEVICE says" : "WebGPU finds a GPU",
    },
    profile,
    product: { values: 64, wrong, milliseconds: 12 },
    proved,
  });
}
