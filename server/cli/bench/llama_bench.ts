// llama.cpp's own benchmark beside ours, where it is installed: `llama-bench` on the same file with as
// many tokens.

import type { Host } from "../setup/host.ts";
import type { Peer } from "./hardware_report.ts";

const PROGRAM = "llama-bench";

/** Seconds that it may take. */
const MOST_SECONDS = 600;

/**
 * Runs it on a file with all layers on the GPU.
 *
 * @returns undefined where it is not installed, fails, or says what cannot be read
 */
export async function runLlamaBench(
  host: Host,
  path: string,
  { promptTokens, tokens }: { promptTokens: number; tokens: number },
): Promise<Peer | undefined> {
  const counts = ["-p", `${promptTokens}`, "-n", `${tokens}`];
  const command = [PROGRAM, "-m", path, ...counts, "-ngl", "99", "-o", "json"];
  const { ok, output } = await host.run(command, { seconds: MOST_SECONDS });
  return ok ? readLlamaBench(output) : undefined;
}

/** The facts in its output; undefined if the output is something else. */
export function readLlamaBench(output: string): Peer | undefined {
  try {
    const runs: Record<string, unknown>[] = JSON.parse(output);
    const rateOf = (isOwn: (run: Record<string, unknown>) => boolean) => {
      const rate = Number(runs.find(isOwn)?.avg_ts);
      if (!(rate > 0)) throw new RangeError("no rate");
      return rate;
    };
    const [first] = runs;
    const { build_number: number, build_commit: commit, backends } = first!;
    return {
      name: PROGRAM,
      version: [number, commit].filter((part) => part !== undefined).join(" "),
      backend: `${backends ?? "unknown"}`,
      prefillTokensPerSecond: rateOf(({ n_prompt, n_gen }) => Number(n_prompt) > 0 && !n_gen),
      decodeTokensPerSecond: rateOf(({ n_prompt, n_gen }) => Number(n_gen) > 0 && !n_prompt),
    };
  } catch {
    return undefined;
  }
}
