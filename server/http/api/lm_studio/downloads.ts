// The downloads that were begun through LM Studio's API. They run on when their client has gone; the
// state of the last ones is kept for those who ask.

import { sentenceOf } from "../../errors.ts";
import type { LmDownloading } from "./schema.ts";

/** A part of a pull's progress. */
interface Progress {
  digest?: string;
  total?: number;
  completed?: number;
}

/** Most downloads whose state is kept. */
const MOST_KEPT = 100;

/** The downloads. */
export class Downloads {
  readonly #jobs = new Map<string, Job>();

  /** Begins a download, or finds the one of that name that is running. */
  begin(name: string, pull: () => AsyncIterable<Progress>): LmDownloading {
    const running = [...this.#jobs.values()].find((job) => job.name === name && job.isRunning);
    const job = running ?? new Job(name, pull());
    this.#jobs.set(job.id, job);
    for (const [id, { isRunning }] of this.#jobs) {
      if (this.#jobs.size <= MOST_KEPT) break;
      if (!isRunning) this.#jobs.delete(id);
    }
    return job.state;
  }

  /** The state of a download; undefined if it is not known. */
  find(id: string): LmDownloading | undefined {
    return this.#jobs.get(id)?.state;
  }
}

class Job {
  readonly id = `job_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
  readonly #started = new Date();
  /** The progress of each file. */
  readonly #files = new Map<string, Progress>();
  #completed: Date | undefined;
  #failure: string | undefined;

  constructor(readonly name: string, records: AsyncIterable<Progress>) {
    void this.#run(records);
  }

  get isRunning(): boolean {
    return this.#completed === undefined && this.#failure === undefined;
  }

  get state(): LmDownloading {
    const sum = (member: "total" | "completed") =>
      this.#files.values().reduce((sum, file) => sum + (file[member] ?? 0), 0);
    return {
      job_id: this.id,
      status: this.#completed
        ? "completed"
        : this.#failure === undefined
        ? "downloading"
        : "failed",
      total_size_bytes: sum("total"),
      downloaded_bytes: sum("completed"),
      started_at: this.#started.toISOString(),
      ...(this.#completed && { completed_at: this.#completed.toISOString() }),
      ...(this.#failure !== undefined && { error: this.#failure }),
    };
  }

  async #run(records: AsyncIterable<Progress>): Promise<void> {
    try {
      for await (const record of records) {
        if (record.digest) this.#files.set(record.digest, record);
      }
      this.#completed = new Date();
    } catch (error) {
      this.#failure = sentenceOf(error);
    }
  }
}
