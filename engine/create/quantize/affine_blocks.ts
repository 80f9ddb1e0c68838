// Quantizes to Q4_K and Q5_K: super-blocks of eight groups of 32 weights. A weight is scale * code
// - minimum. Scale and minimum of a group are those of least squares, for the best of several
// roundings. Then they become 6-bit multiples of two half floats, and codes are rounded again with
// these. Layouts as in ggml-common.h.

const SUPER_BLOCK = 256;
const GROUP = 32;
const GROUPS = SUPER_BLOCK / GROUP;
/** Largest 6-bit multiple. */
const MULTIPLES = 63;
/** Bytes before the codes: two halves, and 6-bit scales and minima in 12 bytes. */
const HEADER = 16;

/** Offsets, in codes, of the range in the roundings that are tried. */
const STRETCHES = Float64Array.from({ length: 23 }, (_, i) => (i - 11) / 8);

/** A determinant below this fraction of its terms is a rounding error. */
const SINGULAR = 1e-9;

// Working memory for the current super-block.
const values = new Float64Array(SUPER_BLOCK);
/** The weight of each error. */
const importances = new Float64Array(SUPER_BLOCK);
const codes = new Uint8Array(SUPER_BLOCK);
const scales = new Float64Array(GROUPS);
const minima = new Float64Array(GROUPS);

/** Writes Q4_K. */
export function q4K(weights: Float32Array, target: Uint8Array): void {
  const bytes = HEADER + 128;
  for (let first = 0, at = 0; first < weights.length; first += SUPER_BLOCK, at += bytes) {
    encodeGroups(weights, first, 15, target.subarray(at, at + HEADER));
    writeNibbles(target, at + HEADER);
  }
}

/** Writes Q5_K. */
export function q5K(weights: Float32Array, target: Uint8Array): void {
  const bytes = HEADER + 32 + 128;
  for (let first = 0, at = 0; first < weights.length; first += SUPER_BLOCK, at += bytes) {
    encodeGroups(weights, first, 31, target.subarray(at, at + HEADER));
    for (let i = 0; i < GROUP; i++) {
      let fifthBits = 0;
      for (let group = 0; group < GROUPS; group++) {
        fifthBits |= codes[group * GROUP + i] >> 4 << group;
      }
      target[at + HEADER + i] = fifthBits;
    }
    writeNibbles(target, at + HEADER + 32);
  }
}

/** Writes the lower four bits of two groups side by side. */
function writeNibbles(target: Uint8Array, at: number): void {
  for (let pair = 0; pair < GROUPS / 2; pair++) {
    for (let i = 0; i < GROUP; i++) {
      const low = codes[pair * 2 * GROUP + i] & 15;
      const high = codes[(pair * 2 + 1) * GROUP + i] & 15;
      target[at + pair * GROUP + i] = low | high << 4;
    }
  }
}

/** Finds the codes of a super-block and writes its header. @param levels largest code */
function encodeGroups(
  weights: Float32Array,
  first: number,
  levels: number,
  header: Uint8Array,
): void {
  for (let i = 0; i < SUPER_BLOCK; i++) values[i] = weights[first + i];
  for (let group = 0; group < GROUPS; group++) fit(group, levels);
  const view = new DataView(header.buffer, header.byteOffset, HEADER);
  const scaleUnit = writeUnit(view, 0, scales);
  const minimumUnit = writeUnit(view, 2, minima);
  header.fill(0, 4);
  for (let group = 0; group < GROUPS; group++) {
    const scale = multipleOf(scales[group], scaleUnit);
    // The minimum is refitted after the rounding of the scale.
    round(group, scale * scaleUnit, minima[group], levels);
    const minimum = multipleOf(fittingMinimum(group, scale * scaleUnit), minimumUnit);
    round(group, scale * scaleUnit, minimum * minimumUnit, levels);
    writeMultiples(header, group, scale, minimum);
  }
}

/** Writes the half float whose multiples the values become, and returns it. */
function writeUnit(view: DataView, at: number, values: Float64Array): number {
  let greatest = 0;
  for (const value of values) greatest = Math.max(greatest, value);
  view.setFloat16(at, greatest / MULTIPLES, true);
  return view.getFloat16(at, true);
}

function multipleOf(value: number, unit: number): number {
  return unit === 0 ? 0 : Math.min(MULTIPLES, Math.round(value / unit));
}

/** The upper two bits of groups 4 to 7 are beside the scales of groups 0 to 3. */
function writeMultiples(header: Uint8Array, group: number, scale: number, minimum: number): void {
  if (group < 4) {
    header[4 + group] = scale;
    header[8 + group] = minimum;
  } else {
    header[8 + group] = scale & 15 | (minimum & 15) << 4;
    header[group] |= scale >> 4 << 6;
    header[4 + group] |= minimum >> 4 << 6;
  }
}

/** Rounds a group to codes of a given scale and minimum. */
function round(group: number, scale: number, minimum: number, levels: number): void {
  const inverse = scale === 0 ? 0 : 1 / scale;
  for (let i = group * GROUP; i < (group + 1) * GROUP; i++) {
    const code = ((values[i] + minimum) * inverse + 0.5) | 0;
    codes[i] = code < 0 ? 0 : code > levels ? levels : code;
  }
}

/** The minimum that fits the codes of a group best, for its scale. */
function fittingMinimum(group: number, scale: number): number {
  let [sum, excess] = [0, 0];
  for (let i = group * GROUP; i < (group + 1) * GROUP; i++) {
    sum += importances[i];
    excess += importances[i] * (scale * codes[i] - values[i]);
  }
  return sum === 0 ? 0 : Math.max(0, excess / sum);
}

/**
 * Finds scale and minimum of a group, neither below zero. Errors are weighted by the distance of
 * the weight from zero, because such weights make up most of a sum.
 */
function fit(group: number, levels: number): void {
  const [start, end] = [group * GROUP, (group + 1) * GROUP];
  let [least, greatest, squares] = [0, -Infinity, 0];
  for (let i = start; i < end; i++) {
    const value = values[i];
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    squares += value * value;
  }
  const typical = Math.sqrt(squares / GROUP);
  let [sum, sumX, sumXX] = [0, 0, 0];
  for (let i = start; i < end; i++) {
    const importance = importances[i] = typical + Math.abs(values[i]);
    sum += importance;
    sumX += importance * values[i];
    sumXX += importance * values[i] * values[i];
  }
  // The fallback: the range in equal steps.
  scales[group] = greatest > least ? (greatest - least) / levels : 0;
  minima[group] = -least;
  if (greatest <= least) return;

  let bestError = Infinity;
  for (let attempt = 0; attempt < STRETCHES.length; attempt++) {
    const inverse = (levels + STRETCHES[attempt]) / (greatest - least);
    let [sumL, sumLL, sumXL] = [0, 0, 0];
    for (let i = start; i < end; i++) {
      let code = ((values[i] - least) * inverse + 0.5) | 0;
      if (code > levels) code = levels;
      const weighted = importances[i] * code;
      sumL += weighted;
      sumLL += weighted * code;
      sumXL += weighted * values[i];
    }
    const determinant = sum * sumLL - sumL * sumL;
    if (determinant <= SINGULAR * sum * sumLL) continue; // all codes are the same
    let scale = (sum * sumXL - sumX * sumL) / determinant;
    let offset = (sumLL * sumX - sumL * sumXL) / determinant;
    if (offset > 0) {
      offset = 0;
      scale = sumXL / sumLL;
    }
    // The sum of squared errors: that of the values, less what the solution of the normal equations
    // explains.
    const error = sumXX - scale * sumXL - offset * sumX;
    if (error >= bestError || scale <= 0) continue;
    bestError = error;
    scales[group] = scale;
    minima[group] = -offset;
  }
}
