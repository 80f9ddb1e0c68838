// How much of a sweep a run does: the everyday tests a share of it that takes seconds, the task
// test:sweeps all of it.

/** The everyday count, or the whole one where QUERN_SWEEP is set. */
export function share(everyday: number, whole: number): number {
  return Deno.env.has("QUERN_SWEEP") ? whole : everyday;
}

/** The first cases of a list, so many every day, or all of them where QUERN_SWEEP is set. */
export function firstOf<T>(cases: readonly T[], everyday: number): readonly T[] {
  return cases.slice(0, share(everyday, cases.length));
}
