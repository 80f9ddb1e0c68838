// Scales chrominance from half the resolution to that of the picture. Each sample is made of the
// nearest two in each direction, weighted three to one, in integer arithmetic as in stb_image.

import { BLOCK_SIDE, type Component, type Frame } from "./frame.ts";

/** The rows of a component at the resolution of the picture. */
export interface SampleRows {
  /** Samples of a row, at least as many as the picture is wide. Valid until the next call. */
  row(y: number): Uint8ClampedArray;
}

/** Number of rows and columns of the picture that a sample covers. */
interface Factors {
  readonly across: number;
  readonly down: number;
}

/**
 * The rows of a component at the resolution of the picture.
 *
 * @param component the samples' shape
 * @param samples [rows * 8, columns * 8]
 * @param frame the frame of the component
 */
export function upsample(
  component: Component,
  samples: Uint8ClampedArray,
  frame: Frame,
): SampleRows {
  const stride = component.columns * BLOCK_SIDE;
  const factors = {
    across: Math.floor(frame.maxHorizontal / component.horizontal),
    down: Math.floor(frame.maxVertical / component.vertical),
  };
  const width = Math.ceil(frame.width / factors.across);
  const last = component.height - 1;
  const target = new Uint8ClampedArray(width * factors.across);
  const resample = resamplerOf(factors);
  const rowAt = (y: number) => {
    const start = Math.min(Math.max(y, 0), last) * stride;
    return samples.subarray(start, start + stride);
  };
  return {
    row(y) {
      const nearest = Math.floor(y / factors.down);
      const isUpper = y % factors.down < factors.down >> 1;
      resample(target, rowAt(nearest), rowAt(isUpper ? nearest - 1 : nearest + 1), width, factors);
      return target;
    },
  };
}

/** Makes a row of the picture from the row that covers it and the next nearest one. */
type Resampler = (
  target: Uint8ClampedArray,
  near: Uint8ClampedArray,
  far: Uint8ClampedArray,
  width: number,
  factors: Factors,
) => void;

function resamplerOf({ across, down }: Factors): Resampler {
  if (across === 1 && down === 2) return resampleDown;
  if (across === 2 && down === 1) return resampleAcross;
  if (across === 2 && down === 2) return resampleBoth;
  return repeat;
}

const repeat: Resampler = (target, near, _far, width, { across }) => {
  for (let at = 0; at < width * across; at++) target[at] = near[Math.floor(at / across)];
};

const resampleDown: Resampler = (target, near, far, width) => {
  for (let at = 0; at < width; at++) target[at] = 3 * near[at] + far[at] + 2 >> 2;
};

const resampleAcross: Resampler = (target, near, _far, width) => {
  const last = width - 1;
  for (let at = 1; at < last; at++) {
    const own = 3 * near[at] + 2;
    target[2 * at] = own + near[at - 1] >> 2;
    target[2 * at + 1] = own + near[at + 1] >> 2;
  }
  target[0] = near[0];
  target[2 * last + 1] = near[last];
  if (last === 0) return;
  target[1] = 3 * near[0] + near[1] + 2 >> 2;
  // The weights are swapped here, as in stb_image.
  target[2 * last] = 3 * near[last - 1] + near[last] + 2 >> 2;
};

const resampleBoth: Resampler = (target, near, far, width) => {
  let own = 3 * near[0] + far[0];
  target[0] = own + 2 >> 2;
  for (let at = 1; at < width; at++) {
    const before = own;
    own = 3 * near[at] + far[at];
    target[2 * at - 1] = 3 * before + own + 8 >> 4;
    target[2 * at] = 3 * own + before + 8 >> 4;
  }
  target[2 * width - 1] = own + 2 >> 2;
};
