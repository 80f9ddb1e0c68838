// What middleware and routes leave for each other in the context of a request, and when a request
// is over.

import { bounded } from "../../bounded.ts";
import type { BodyAllowance } from "../body/bodies.ts";
import type { KeyAccount } from "../../keys/mod.ts";
import type { Generation } from "../generation/generation.ts";

/** Facts that routes leave in the context for the access log and the metrics. */
export interface AccessVariables {
  generation?: Generation;
  /** Whose key the request has, and that key, where the server asks for keys. */
  account?: KeyAccount;
  apiKey?: string;
  /** The model's name as the client wrote it. */
  model?: string;
  /** The trace that the request is a part of. */
  traceId?: string;
  /** Whether its answer tells when which steps ran. */
  wantsTimeline?: boolean;
  /** The tokens of a request that generates nothing. */
  promptTokens?: number;
  /** Settles when an answer is made whose response has begun before, and never fails. */
  late?: Promise<void>;
  /** The status that such an answer would have, had its response not begun. */
  lateStatus?: number;
}

/** The parts with which routes read bodies. */
export interface BodyVariables {
  body: BodyAllowance;
}

/** Most characters of a path that are kept and logged. */
const MAX_PATH = 256;

/** The path of a request as the log and lists of requests have it: a client may send 60 KB. */
export function shownPath({ req }: { req: { path: string } }): string {
  return bounded(req.path, MAX_PATH);
}

/**
 * Calls back when the answer of a request is complete: of a generation, once it has ended, else when
 * its route has made it, as nothing comes after that.
 */
export function whenAnswered(context: { var: AccessVariables }, call: () => void): void {
  const { late, generation } = context.var;
  if (late) void late.then(() => context.var.generation?.ended).then(call);
  else if (generation) void generation.ended.then(call);
  else call();
}
