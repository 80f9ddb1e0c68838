// How far the logits of two engines are apart: NMSE, as sum((a - b)^2) / sum(b^2), and how often they
// find the same token the likeliest. Logits are compared up to a constant per position.

/** A prompt that both engines run. */
export interface Prompt {
  readonly name: string;
  readonly tokens: readonly number[];
}

/** Logits of the prompts, and who made them. */
export interface Run {
  readonly name: string;
  /** By prompt: [tokens, vocabulary] */
  readonly logits: readonly Float32Array[];
}

/** How far two runs are apart. */
export interface Difference {
  nmse: number;
  /** Of the prompt where it is greatest. */
  worst: { name: string; nmse: number };
  /** Positions, and those where both find the same token the likeliest. */
  positions: number;
  agreeing: number;
  /** Logits that are not known precisely enough to compare: NaN in the expected ones. */
  lost: number;
}

/** Sums over positions. */
interface Total extends Pick<Difference, "positions" | "agreeing" | "lost"> {
  error: number;
  power: number;
}

/** How far a run is from another one, over all positions of all prompts. */
export function compare(prompts: readonly Prompt[], actual: Run, expected: Run): Difference {
  const total: Total = { error: 0, power: 0, positions: 0, agreeing: 0, lost: 0 };
  const worst = { name: "", nmse: 0 };
  prompts.forEach(({ name, tokens }, which) => {
    const [ours, theirs] = [actual.logits[which]!, expected.logits[which]!];
    const vocabulary = theirs.length / tokens.length;
    const before = { ...total };
    for (let start = 0; start < theirs.length; start += vocabulary) {
      const end = start + vocabulary;
      addPosition(total, ours.subarray(start, end), theirs.subarray(start, end));
    }
    const nmse = (total.error - before.error) / (total.power - before.power);
    if (!(nmse <= worst.nmse)) Object.assign(worst, { name, nmse });
  });
  return { ...total, nmse: total.error / total.power, worst };
}

/** Both around their means, since one of them is only known up to a constant. */
function addPosition(
  total: Total,
  ours: Float32Array,
  theirs: Float32Array,
): void {
  const isKept = (_: number, i: number) => !Number.isNaN(theirs[i]);
  const [a, b] = [ours.filter(isKept), theirs.filter(isKept)];
  const [meanA, meanB] = [mean(a), mean(b)];
  b.forEach((value, i) => {
    total.error += (a[i]! - meanA - (value - meanB)) ** 2;
    total.power += (value - meanB) ** 2;
  });
  total.positions++;
  total.agreeing += Number(greatest(a) === greatest(b));
  total.lost += ours.length - b.length;
}

function mean(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function greatest(values: Float32Array): number {
  return values.indexOf(values.reduce((most, value) => Math.max(most, value)));
}

/** The figures on one line. */
export function formatDifference({ nmse, worst, positions, agreeing, lost }: Difference): string {
  const short = (error: number) => error.toExponential(1);
  return `${short(nmse)}, at most ${short(worst.nmse)} (${worst.name}), ` +
    `${agreeing} of ${positions}${lost > 0 ? `, ${lost} logits lost` : ""}`;
}
