// What tells that two GPUs that are pretended compute the same: most profiles differ in what only some
// kernels depend on, so that what is computed for one of them holds for the others too.

import { createHash } from "node:crypto";
import { pretendedCode, type Profile, PROFILES } from "./profiles.ts";
import { type Kernels, recordingGpu } from "./recording_gpu.ts";

/** Whether everything is computed, and not the share that finishes in half an hour. */
export const SWEEP = Deno.env.has("QUERN_SWEEP");

/** A digest of the kernels that `run` has a GPU of this profile compute, and of their workgroups. */
export async function workOf(
  profile: Profile,
  run: (gpu: GPU) => Promise<void>,
): Promise<string> {
  const kernels: Kernels = new Map();
  const dispatches: string[] = [];
  await run(recordingGpu(profile, kernels, dispatches));
  const hash = createHash("sha256");
  for (const code of kernels.keys()) hash.update(pretendedCode(profile, code));
  return hash.update(dispatches.join(" ")).digest("hex");
}

/** Whether it is the turn of this profile, each of which takes every third of numbered things. */
export function inTurn(profile: Profile, number: number): boolean {
  // Profiles that differ in workgroup memory alone, most of which compute the same, have one turn.
  const kinds = PROFILES.map(({ subgroups, software }) => `${subgroups} ${software}`);
  const kind = [...new Set(kinds)].indexOf(`${profile.subgroups} ${profile.software}`);
  return SWEEP || profile.software === true || (kind + number) % 3 === 0;
}

/** Remembers what was found for a digest, and the name that it was found under. */
export class Found<T> {
  readonly #found = new Map<string, { value: Promise<T>; by: string }>();

  /** What `find` finds, or has found for another name. */
  async get(work: string, name: string, find: () => Promise<T>): Promise<{ value: T; by: string }> {
    let known = this.#found.get(work);
    if (!known) this.#found.set(work, known = { value: find(), by: name });
    return { value: await known.value, by: known.by };
  }
}
