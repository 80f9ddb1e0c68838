// Sends files to the server's blobs: hashed first, so that what it has already is not sent again.

import { createHash } from "node:crypto";
import { type Api, ApiError, refusalOf } from "../client/mod.ts";
import type { Progress } from "../terminal/mod.ts";
import type { LocalFile } from "./create_sources.ts";

/** Bytes of a step: large enough for a file of many gigabytes to take few steps. */
const CHUNK_BYTES = 2 ** 20;

/**
 * Brings files to the server.
 *
 * @returns the digest of each by its name
 * @throws {ApiError} if the server lacks a blob that is named by its digest, or refuses a file
 */
export async function uploadFiles(
  api: Api,
  files: readonly LocalFile[],
  progress: Progress,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const { name, source } of files) {
    if ("path" in source) {
      const digest = await hashFile(source.path, name, progress, signal);
      if (!await hasBlob(api, digest, signal)) {
        await sendFile(api, source.path, name, digest, progress, signal);
      }
      digests[name] = digest;
    } else {
      if (!await hasBlob(api, source.digest, signal)) {
        throw new ApiError(404, `Cannot create from ${source.digest}: the server has no such blob`);
      }
      digests[name] = source.digest;
    }
  }
  return digests;
}

async function hashFile(
  path: string,
  name: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash("sha256");
  const chunks = await openCounted(path, `hashing ${name}`, progress);
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    hash.update(chunk);
  }
  return `sha256:${hash.digest("hex")}`;
}

async function hasBlob(api: Api, digest: string, signal: AbortSignal): Promise<boolean> {
  const path = `/api/blobs/${digest}`;
  const response = await api.fetch(path, { method: "HEAD", signal });
  if (response.ok || response.status === 404) return response.ok;
  throw await refusalOf(response);
}

async function sendFile(
  api: Api,
  path: string,
  name: string,
  digest: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const body = await openCounted(path, `uploading ${name}`, progress);
  const response = await api.fetch(`/api/blobs/${digest}`, { method: "POST", body, signal });
  if (!response.ok) throw await refusalOf(response);
  await response.body?.cancel();
}

/** The bytes of a file, counted for the progress as they are read. */
async function openCounted(
  path: string,
  status: string,
  progress: Progress,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const file = await Deno.open(path);
  const { size: total } = await file.stat();
  let completed = 0;
  progress.update({ status, total, completed });
  return new ReadableStream({
    async pull(controller) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      const count = await file.read(chunk);
      if (count === null) {
        file.close();
        controller.close();
        return;
      }
      completed += count;
      progress.update({ status, total, completed });
      controller.enqueue(chunk.subarray(0, count));
    },
    cancel: () => file.close(),
  });
}
