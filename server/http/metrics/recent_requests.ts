// The last requests that models answered, for people who look at a running server: what was asked
// of which model and how long it took, never what was said.

import type { Usage } from "../../../engine/mod.ts";
import { bounded } from "../../bounded.ts";

/** Requests that are remembered. */
const MOST_KEPT = 100;
/** Most characters of the name of a model that are remembered: it may be a path. */
const MAX_NAME = 512;

/** A request whose answer is complete. */
export interface RecentRequest {
  /** Time at which it came. */
  at: Date;
  method: string;
  path: string;
  status: number;
  model?: string;
  seconds: number;
  /** Until the first token. */
  firstTokenSeconds?: number;
  usage?: Usage;
}

/** The last requests. */
export class RecentRequests {
  #requests: RecentRequest[] = [];

  /** The newest first. */
  get all(): readonly RecentRequest[] {
    return this.#requests;
  }

  /** Remembers a request; those that concern no model are left out. */
  add(request: RecentRequest): void {
    if (request.model === undefined) return;
    const kept = { ...request, model: bounded(request.model, MAX_NAME) };
    this.#requests = [kept, ...this.#requests].slice(0, MOST_KEPT);
  }
}
