// The conversations that are held by processes that are killed, and by those that look afterwards.

import { promptOf } from "../run/scheduler_runs.ts";

/** Sizes of the scheduler. `stateCopies`: the model has recurrent states. */
export const KILLED_SIZES = { slots: 4, context: 600, blocks: 60, chunkSize: 64, stateCopies: 8 };

/** The beginnings of the conversations. */
export const KILLED_TALKS = [1, 2, 3, 4, 5, 6].map((seed) => promptOf(300, seed));
