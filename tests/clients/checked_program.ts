// Runs the program that tries a library: it tells each result by a line of JSON, and how many answers
// it has left in their midst, which the server has to have stopped.

import { type CheckName, type Place, type Results, runProgram } from "./client.ts";

/** What a program may take. In milliseconds. */
const LIMIT = 180_000;
/** What the server may take to stop an answer that nobody waits for. In milliseconds. */
const NOTICE = 5_000;

/** The results of a program; each of the checks that it did not come to failed by how it ended. */
export async function runChecks(
  command: [string, ...string[]],
  can: readonly CheckName[],
  place: Place,
  environment: Record<string, string>,
): Promise<Results> {
  const stoppedBefore = place.countStopped();
  const { code, text, timedOut } = await runProgram(command, place, LIMIT, {
    QUERN_URL: place.url,
    ...environment,
  });
  const results: Results = {};
  const rest: string[] = [];
  let abandoned = 0;
  for (const line of text.split("\n")) {
    const result = /^\{"check":/.test(line) && JSON.parse(line);
    if (result) {
      results[result.check as CheckName] = result.failure == null ? {} : result;
      abandoned = result.abandoned;
    } else rest.push(line);
  }
  const deadline = Date.now() + NOTICE;
  while (place.countStopped() < stoppedBefore + abandoned && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const stopped = place.countStopped() - stoppedBefore;
  if (stopped < abandoned) {
    results.abort = { failure: `the server stopped ${stopped} of ${abandoned} answers` };
  }
  const end = timedOut ? `it took over ${LIMIT / 1000} s` : `it ended with ${code}`;
  const missing = { failure: [end, ...rest.slice(-30)].join("\n").trim() };
  return { ...Object.fromEntries(can.map((check) => [check, missing])), ...results };
}
