// Downloads one blob into its partial file: parts side by side by Range requests (RFC 9110, section
// 14), or, from a server that knows no ranges, the whole of it in one stream.

import type { RegistryClient } from "./client.ts";
import { RegistryError } from "./errors.ts";
import { forEachParallel, type PartRecord, type Semaphore } from "./parts.ts";
import type { PartialFile } from "./partial_file.ts";
import { readBody, statusError, Watchdog, withRetries } from "./retry.ts";
import type { TransferTuning } from "./tuning.ts";

/** The parts that a download needs. */
export interface BlobDownloadOptions {
  client: RegistryClient;
  digest: string;
  /** Size of the blob in bytes. */
  total: number;
  partial: PartialFile;
  semaphore: Semaphore;
  tuning: TransferTuning;
  /** Called as bytes come. */
  onProgress: () => void;
}

/** The server ignored that a request was for a range. */
class NoRangesError extends Error {}

export class BlobDownload {
  readonly #options: BlobDownloadOptions;
  readonly #subject: string;

  constructor(options: BlobDownloadOptions) {
    this.#options = options;
    this.#subject = `Cannot pull blob ${options.digest}`;
  }

  /**
   * Completes all parts of the partial file.
   *
   * @throws {RegistryError} when the retries are used up, or the server refuses
   */
  async run(signal: AbortSignal): Promise<void> {
    const { partial, tuning } = this.#options;
    try {
      await forEachParallel(
        partial.parts.filter(isOpen),
        tuning.streamsPerBlob,
        signal,
        (part, signal) =>
          this.#persist(() => part.Completed, signal, () => this.#pullPart(part, signal)),
      );
    } catch (error) {
      if (!(error instanceof NoRangesError)) throw error;
      await this.#persist(() => partial.completed, signal, () => this.#pullWhole(signal));
    }
  }

  #persist(progress: () => number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { semaphore, tuning } = this.#options;
    // While a stream waits for its next attempt, others may use its place.
    return withRetries(() => semaphore.run(work), { tuning, signal, progress });
  }

  async #pullPart(part: PartRecord, signal: AbortSignal): Promise<void> {
    if (!isOpen(part)) return;
    const { total } = this.#options;
    const start = part.Offset + part.Completed;
    const end = part.Offset + part.Size;
    const isWhole = start === 0 && end === total;
    const range = isWhole ? undefined : `bytes=${start}-${end - 1}`;
    await this.#request(range, signal, async (response, watchdog) => {
      if (range === undefined) await this.#requireStatus(response, 200);
      else if (response.status === 200 || response.status === 416) throw new NoRangesError();
      else {
        await this.#requireStatus(response, 206);
        this.#checkRange(response, start, end);
      }
      await this.#receive(response, watchdog, { start, end, part });
    });
  }

  async #pullWhole(signal: AbortSignal): Promise<void> {
    const end = this.#options.total;
    await this.#request(undefined, signal, async (response, watchdog) => {
      await this.#requireStatus(response, 200);
      await this.#receive(response, watchdog, { start: 0, end });
    });
  }

  async #request(
    range: string | undefined,
    signal: AbortSignal,
    take: (response: Response, watchdog: Watchdog) => Promise<void>,
  ): Promise<void> {
    const { client, digest, tuning } = this.#options;
    using watchdog = new Watchdog(this.#subject, tuning.stall, signal);
    const response = await client.send(client.reference.blobUrl(digest), {
      subject: this.#subject,
      headers: range === undefined ? {} : { range },
      watchdog,
    });
    try {
      await take(response, watchdog);
    } finally {
      // Closes the connection if the rest of the answer is not wanted.
      await response.body?.cancel().catch(() => {});
    }
  }

  /** Writes the bytes of a body, which are to be those from `start` to `end`. */
  async #receive(
    response: Response,
    watchdog: Watchdog,
    { start, end, part }: { start: number; end: number; part?: PartRecord },
  ): Promise<void> {
    const { partial, onProgress } = this.#options;
    this.#checkLength(response, end - start);
    const before = part?.Completed ?? 0;
    let position = start;
    for await (const chunk of readBody(response, this.#subject, watchdog)) {
      if (position + chunk.length > end) {
        if (part) await partial.rewind(part, before);
        throw this.#fault(`more came than the ${end - start} bytes that were asked for`);
      }
      await partial.write(position, chunk);
      position += chunk.length;
      // The time that the disk took does not count against the server.
      watchdog.feed();
      onProgress();
    }
    if (position < end) {
      throw this.#fault(`the answer ended after ${position - start} of ${end - start} bytes`);
    }
  }

  async #requireStatus(response: Response, status: number): Promise<void> {
    if (response.status === status) return;
    if (response.ok) throw this.#fault(`the server answered ${response.status}, not ${status}`);
    throw await statusError(response, this.#subject);
  }

  #checkRange(response: Response, start: number, end: number): void {
    const { total } = this.#options;
    const range = response.headers.get("content-range") ?? "none";
    const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(range.trim()) ?? [];
    const isRight = Number(first) === start && Number(last) === end - 1 &&
      (size === "*" || Number(size) === total);
    if (isRight) return;
    const asked = `bytes ${start}-${end - 1}/${total}`;
    throw this.#fault(`the server sent the range "${range}" where "${asked}" was asked for`);
  }

  #checkLength(response: Response, expected: number): void {
    const length = response.headers.get("content-length");
    if (length === null || Number(length) === expected) return;
    throw this.#fault(`the server announced ${length} bytes where there should be ${expected}`);
  }

  #fault(state: string): RegistryError {
    return new RegistryError(`${this.#subject}: ${state}`, { transient: true });
  }
}

function isOpen({ Completed, Size }: PartRecord): boolean {
  return Completed < Size;
}
