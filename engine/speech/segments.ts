// The tokens of a window as segments: a pair of times ends one and begins the next. What follows the
// last pair belongs to the next window, which begins there; without any, the window is one segment.

import { type SpecialTokens, TIME_STEP } from "./special_tokens.ts";

/** Frames of 10 ms in a step of time. */
const FRAMES_PER_STEP = 2;

/** A part of a window's transcript. Times are in seconds from the window's beginning. */
export interface WindowSegment {
  readonly start: number;
  readonly end: number;
  /** With times. */
  readonly tokens: readonly number[];
}

/**
 * Divides a window's tokens.
 *
 * @param frames of the window that are sound, in hundredths of a second
 * @returns the segments; how many frames further the next window begins; and whether the last segment
 *   ends with a time alone, behind which nobody speaks
 */
export function divide(
  tokens: readonly number[],
  { firstTime }: SpecialTokens,
  frames: number,
): { segments: WindowSegment[]; advance: number; endsAlone: boolean } {
  const isTime = (token: number | undefined) => token !== undefined && token >= firstTime;
  const timeOf = (token: number) => (token - firstTime) * TIME_STEP;
  const ends = tokens.flatMap((token, i) =>
    i > 0 && isTime(token) && isTime(tokens[i - 1]) ? [i] : []
  );
  const endsAlone = isTime(tokens.at(-1)) && !isTime(tokens.at(-2));
  if (ends.length === 0) {
    const last = tokens.findLast(isTime);
    const end = last === undefined || last === firstTime ? frames / 100 : timeOf(last);
    return { segments: [{ start: 0, end, tokens }], advance: frames, endsAlone };
  }
  if (endsAlone) ends.push(tokens.length);
  const segments = ends.map((end, i) => {
    const own = tokens.slice(ends[i - 1] ?? 0, end);
    return { start: timeOf(own[0]), end: timeOf(own.at(-1)!), tokens: own };
  });
  const last = tokens[ends.at(-1)! - 1] - firstTime;
  return { segments, advance: endsAlone ? frames : last * FRAMES_PER_STEP, endsAlone };
}
