// Which parts of a model go to the GPU, and the devices for them. The last layers and the head are
// on the GPU, so that a step goes from the CPU to the GPU only once. The experts of a mixture can
// stay on the CPU: they are most of its bytes and little of its work.

import {
  chooseDevice,
  type Device,
  type DeviceLostError,
  type DeviceOptions,
  openDevice,
  SplitDevice,
} from "../../kernels/mod.ts";
import { type GgufFile, MetadataReader } from "../gguf/mod.ts";
import { Config } from "../nn/mod.ts";
import type { GpuShare } from "../types/mod.ts";
import { type Placement, wholeOn } from "../weights/mod.ts";

/** Tensors with all experts of a layer, including their scales and biases. */
const OF_EXPERTS = /_exps\./;

/** The devices of a model. Disposing of them frees all their memory. */
export interface ModelDevices extends Disposable {
  readonly placement: Placement;
  /** All devices. Each counts its own memory. */
  readonly all: readonly Device[];
  /** Resolves when one of them is lost. */
  readonly lost: Promise<DeviceLostError>;
}

/** The facts of a model on which its placement depends. */
export interface Layout {
  /** Number of layers plus one for the head: the most that can be on the GPU. */
  readonly layers: number;
  /** Number of layers with experts. */
  readonly expertLayers: number;
}

/** The layout of a model. Errors: GgufError. */
export function layoutOf(gguf: GgufFile): Layout {
  const metadata = new MetadataReader(gguf);
  const architecture = metadata.string("general.architecture");
  const mixtures = [...gguf.tensors.keys()].filter((name) => OF_EXPERTS.test(name));
  return {
    layers: new Config(metadata, gguf.path, architecture).layers + 1,
    expertLayers: new Set(mixtures.map((name) => name.split(".")[1])).size,
  };
}

/** The devices that a model needs for a share of it on the GPU. */
export function devicesFor(layout: Layout, share: GpuShare): { gpu: boolean; cpu: boolean } {
  const { layers, experts } = boundsOf(layout, share);
  const isWhole = layers === layout.layers && (layout.expertLayers === 0 || experts === 0);
  // `experts` is the first layer whose experts are on the GPU.
  return { gpu: layers > 0, cpu: !isWhole };
}

/** The number of layers on the GPU, and the first layer whose experts are there. */
function boundsOf({ layers }: Layout, { gpuLayers = -1, gpuExpertLayers = -1 }: GpuShare) {
  const onGpu = gpuLayers < 0 ? layers : Math.min(gpuLayers, layers);
  const withExperts = gpuExpertLayers < 0 ? layers : gpuExpertLayers;
  return { layers: onGpu, experts: Math.max(0, layers - 1 - withExperts) };
}

/**
 * Places a model on open or dry devices.
 *
 * @param gpu the device for the GPU's part; undefined if that is empty
 * @param cpu the device for the rest; undefined if that is empty
 */
export function place(
  { gpu, cpu }: { gpu?: Device | undefined; cpu?: Device | undefined },
  layout: Layout,
  share: GpuShare = {},
): ModelDevices {
  if (!gpu || !cpu) {
    const device = (gpu ?? cpu)!;
    return {
      placement: wholeOn(device),
      all: [device],
      lost: device.lost,
      [Symbol.dispose]: () => device[Symbol.dispose](),
    };
  }
  const split = new SplitDevice(gpu, cpu);
  const { layers, experts } = boundsOf(layout, share);
  const firstOnGpu = layout.layers - layers;
  return {
    placement: {
      top: split.gpu,
      deviceOf(tensor) {
        const [, number] = /^blk\.(\d+)\./.exec(tensor) ?? [];
        if (number === undefined) return split.gpu;
        const isBehind = OF_EXPERTS.test(tensor) && Number(number) < experts;
        return Number(number) < firstOnGpu || isBehind ? split.cpu : split.gpu;
      },
      handOver: (buffer, to) => split.handOver(buffer, to),
    },
    all: [gpu, cpu],
    lost: Promise.race([gpu.lost, cpu.lost]),
    [Symbol.dispose]: () => split[Symbol.dispose](),
  };
}

/** The devices to open. */
export interface DevicesOptions extends GpuShare {
  /** The device for the layers that `gpuLayers` counts. Default: the best one of the machine. */
  device?: DeviceOptions | undefined;
  /**
   * The device for the other layers. Default: the CPU. If `device` is the CPU too, it has all
   * layers.
   */
  beside?: DeviceOptions | undefined;
}

/** Opens the devices of a model. Errors: GpuError if there is none, or its driver fails. */
export async function openDevices(gguf: GgufFile, options: DevicesOptions): Promise<ModelDevices> {
  const layout = layoutOf(gguf);
  const { kind } = await chooseDevice(options.device);
  const needed = devicesFor(layout, options);
  const isSplit = kind !== "cpu" || options.beside !== undefined;
  if (!isSplit || !needed.cpu) {
    return place({ gpu: await openDevice({ ...options.device, kind }) }, layout);
  }
  const cpu = await openDevice({ kind: "cpu", ...options.beside });
  if (!needed.gpu) return place({ cpu }, layout);
  try {
    return place({ gpu: await openDevice({ ...options.device, kind }), cpu }, layout, options);
  } catch (error) {
    cpu[Symbol.dispose]();
    throw error;
  }
}
