// The file with what was proved of one device, beside that of its tuning: the models that it computes
// right, those that it computes wrongly, and the kernels that are computed in another way than usual,
// because the usual one is wrong.

import { keyOf, type TunedKernel } from "../../kernels/mod.ts";
import { DeviceFile, type DeviceFileHead, recordOf } from "./device_file.ts";
import { areTunedKernels } from "./tuning_file.ts";

/** Something that a device computed wrongly. */
export interface DeviceFault {
  /** What it computed, such as "linear Q4_K of layer 3 (qkv), 5 rows". */
  readonly what: string;
  /** How far it is off. */
  readonly how: string;
}

/** How devices are proved. */
export interface ProofOptions {
  /** The folder of the files with what was proved before, a file for each device. */
  folder: string;
  /** The version of the program: another one proves its devices anew. */
  version: string;
  /** Whether a device is proved though that was done before. Default false. */
  anew?: boolean;
  /** Hears of files that are damaged or cannot be written. */
  warn?: (message: string) => void;
}

/** Raised whenever the file's contents change their meaning. */
const VERSION = 1;

/** What was found out about a model on the device. */
export interface ProvedModel {
  /** Its name in its file, for people. */
  readonly name: string;
  /** Empty: the device computes it right. */
  readonly faults: readonly DeviceFault[];
  /** Milliseconds that the proof took. */
  readonly milliseconds: number;
}

interface Kept extends DeviceFileHead {
  /** By keys of models. */
  models: Record<string, ProvedModel>;
  /** How often the proof of a model was begun and not ended, by its key. */
  begun: Record<string, number>;
  kernels: TunedKernel[];
}

/** What was proved of one device, in its file. */
export class ProofFile extends DeviceFile<Kept> {
  constructor(device: string, { folder, version, warn }: ProofOptions) {
    const identity = JSON.stringify([version, device]);
    super({
      ...{ folder, identity, warn, check },
      ending: ".proof.json",
      what: "the proofs",
      nothing: { version: VERSION, identity, models: {}, begun: {}, kernels: [] },
    });
  }

  /** Notes that the proof of a model begins, which may take the process down. */
  async begin(key: string): Promise<void> {
    await this.change(({ begun }) => begun[key] = (begun[key] ?? 0) + 1);
  }

  /** Keeps what was found out about a model. */
  async end(key: string, { name, faults, milliseconds }: ProvedModel): Promise<void> {
    await this.change(({ models, begun }) => {
      models[key] = { name, faults, milliseconds };
      delete begun[key];
    });
  }

  /** Keeps kernels that are computed in another way, in place of earlier ones. */
  async add(mended: readonly TunedKernel[]): Promise<void> {
    const keys = new Set(mended.map(({ of }) => keyOf(of)));
    await this.change((kept) => {
      kept.kernels = [...kept.kernels.filter(({ of }) => !keys.has(keyOf(of))), ...mended];
    });
  }
}

/** Errors: TypeError that says what of a file's contents is wrong. */
function check(contents: Record<string, unknown>): Kept {
  const { models, begun, kernels } = contents;
  const areRight = Object.values(recordOf(models)).every((model) => {
    const { name, faults, milliseconds } = recordOf(model);
    return typeof name === "string" && Array.isArray(faults) && faults.every(isFault) &&
      typeof milliseconds === "number";
  });
  const areCounts = Object.values(recordOf(begun)).every(Number.isInteger);
  if (!areRight || !areCounts || !areTunedKernels(kernels)) throw new TypeError("it is damaged");
  return contents as unknown as Kept;
}

function isFault(value: unknown): value is DeviceFault {
  const { what, how } = recordOf(value);
  return typeof what === "string" && typeof how === "string";
}
