// Puts one blob into a registry: asks whether it is there or can be mounted from another model;
// else sends it in chunks to an upload session, which survives a broken connection. The protocol is
// the distribution specification's, "Pushing a blob in chunks".

import { type BlobStore, type Layer, ModelName } from "../../engine/mod.ts";
import type { RegistryClient, RegistryRequest } from "./client.ts";
import { RegistryError } from "./errors.ts";
import { statusError, Watchdog, withRetries } from "./retry.ts";
import type { TransferTuning } from "./tuning.ts";

/** Statuses after which a new session may help, because this one is unknown or out of step. */
const SESSION_LOST = [400, 404, 416];
/** Those after which a new session may help at the commit, whose 400 is about the digest. */
const COMMIT_LOST = [404];

/** The parts that an upload needs. */
export interface BlobUploadOptions {
  blobs: BlobStore;
  client: RegistryClient;
  tuning: TransferTuning;
  /** Told how many bytes the registry has. */
  report: (completed: number) => void;
}

export class BlobUpload {
  readonly #blob: Layer;
  readonly #options: BlobUploadOptions;
  readonly #subject: string;
  /** The address of the session's next request. */
  #location: URL | undefined;
  #offset = 0;

  constructor(blob: Layer, options: BlobUploadOptions) {
    this.#blob = blob;
    this.#options = options;
    this.#subject = `Cannot push blob ${blob.digest}`;
  }

  /**
   * Makes sure that the registry has the blob.
   *
   * @throws {RegistryError} when the retries are used up, or the registry refuses
   */
  async run(signal: AbortSignal): Promise<void> {
    const { tuning } = this.#options;
    await withRetries(() => this.#attempt(signal), {
      tuning,
      signal,
      progress: () => this.#offset,
    });
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    if (await this.#isThere(signal)) return;
    if (!await this.#findSession(signal) && !await this.#begin(signal)) return;
    this.#options.report(this.#offset);
    using file = await Deno.open(this.#options.blobs.pathOf(this.#blob.digest));
    while (this.#offset < this.#blob.size) {
      await this.#sendChunk(file, signal);
      this.#options.report(this.#offset);
    }
    await this.#commit(signal);
  }

  async #isThere(signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options;
    const url = client.reference.blobUrl(this.#blob.digest);
    const response = await this.#send(url, { method: "HEAD" }, signal);
    if (response.status === 200 || response.status === 404) return response.status === 200;
    throw await statusError(response, this.#subject);
  }

  /** Asks how far the session of an earlier attempt has come; returns whether it can be continued. */
  async #findSession(signal: AbortSignal): Promise<boolean> {
    if (!this.#location) return false;
    const response = await this.#send(this.#location, {}, signal);
    const [, last] = /^(?:bytes=)?0-(\d+)$/.exec(response.headers.get("range") ?? "") ?? [];
    if (response.status !== 204 || last === undefined || Number(last) >= this.#blob.size) {
      await response.body?.cancel().catch(() => {});
      this.#location = undefined;
      return false;
    }
    // A session without a byte and one with a single byte both say "0-0", so that byte is sent again.
    this.#offset = last === "0" ? 0 : Number(last) + 1;
    this.#location = locationOf(response, this.#location) ?? this.#location;
    return true;
  }

  /** Starts a session; false if the blob could be had from another model of the registry. */
  async #begin(signal: AbortSignal): Promise<boolean> {
    const url = this.#options.client.reference.uploadsUrl;
    const source = this.#mountSource();
    if (source) {
      url.searchParams.set("mount", this.#blob.digest);
      url.searchParams.set("from", source);
    }
    const response = await this.#send(url, { method: "POST" }, signal);
    if (response.status === 201) return false;
    if (response.status !== 202) throw await statusError(response, this.#subject);
    this.#location = locationOf(response, url);
    this.#offset = 0;
    if (this.#location) return true;
    throw new RegistryError(`${this.#subject}: the registry does not say where to send it`);
  }

  /** The model that the layer was taken from, if it is in the same registry. */
  #mountSource(): string | undefined {
    const { name, repository } = this.#options.client.reference;
    const from = this.#blob.from === undefined ? undefined : ModelName.tryParse(this.#blob.from);
    if (from?.host !== name.host) return undefined;
    const source = `${from.namespace}/${from.model}`;
    return source === repository ? undefined : source;
  }

  async #sendChunk(file: Deno.FsFile, signal: AbortSignal): Promise<void> {
    const start = this.#offset;
    const end = Math.min(start + this.#options.tuning.uploadChunk, this.#blob.size);
    const body = await readChunk(file, start, end);
    const headers = {
      "content-type": "application/octet-stream",
      "content-range": `${start}-${end - 1}`,
    };
    const response = await this.#send(this.#location!, { method: "PATCH", headers, body }, signal);
    if (!response.ok) throw await this.#refused(response, SESSION_LOST);
    this.#location = locationOf(response, this.#location!) ?? this.#location!;
    this.#offset = end;
  }

  async #commit(signal: AbortSignal): Promise<void> {
    const url = new URL(this.#location!);
    url.searchParams.set("digest", this.#blob.digest);
    const headers = { "content-type": "application/octet-stream" };
    const response = await this.#send(url, { method: "PUT", headers }, signal);
    if (!response.ok) throw await this.#refused(response, COMMIT_LOST);
  }

  /** What a refusal stands for: after some statuses the session is given up, and a new one tried. */
  async #refused(response: Response, lost: number[]): Promise<RegistryError> {
    const error = await statusError(response, this.#subject);
    if (!lost.includes(response.status)) return error;
    this.#location = undefined;
    return new RegistryError(error.message, { status: response.status, transient: true });
  }

  /** Sends a request and frees its connection, except after a refusal, whose body is yet to be read. */
  async #send(
    url: URL,
    request: Omit<RegistryRequest, "watchdog" | "subject">,
    signal: AbortSignal,
  ): Promise<Response> {
    const { client, tuning } = this.#options;
    const slowest = (request.body?.length ?? 0) / tuning.slowestUpload * 1000;
    const limit = request.method === "PUT" ? tuning.commit : tuning.stall + slowest;
    using watchdog = new Watchdog(this.#subject, limit, signal);
    const response = await client.send(url, { ...request, subject: this.#subject, watchdog });
    if (response.ok) await response.body?.cancel().catch(() => {});
    return response;
  }
}

function locationOf({ headers }: Response, base: URL): URL | undefined {
  const location = headers.get("docker-upload-location") ?? headers.get("location");
  return location === null ? undefined : URL.parse(location, base) ?? undefined;
}

async function readChunk(
  file: Deno.FsFile,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunk = new Uint8Array(end - start);
  await file.seek(start, Deno.SeekMode.Start);
  for (let filled = 0; filled < chunk.length;) {
    const count = await file.read(chunk.subarray(filled));
    if (count === null) throw new Error("Cannot push a blob: its file has become shorter");
    filled += count;
  }
  return chunk;
}
