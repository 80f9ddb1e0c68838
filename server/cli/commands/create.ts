// `quern create MODEL`: reads a Modelfile, sends the files that it names to the server, and has the
// model created there. engine/create knows the language of Modelfiles.

import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { type Modelfile, parseModelfile } from "../../../engine/mod.ts";
import { type Api, ApiError, connect, refusalOf } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { type Progress, showProgress } from "../terminal/mod.ts";
import { type LocalFile, resolveSources } from "./create_sources.ts";

/** Options of the command line. */
export interface CreateOptions {
  /** Path of the Modelfile, "-" for standard input. Default: Modelfile in the working folder. */
  file?: string;
  /** Type that the weights are to have. */
  quantize?: string;
}

const STANDARD_INPUT = "-";

/** Creates a model as a Modelfile says. */
export function create(
  dependencies: CliDependencies,
  model: string,
  { file = "Modelfile", quantize }: CreateOptions,
): Promise<number> {
  const { terminal, environment } = dependencies;
  return interruptible(terminal, async (signal) => {
    const source = file === STANDARD_INPUT ? await terminal.readAll() : await readModelfile(file);
    const modelfile = parseModelfile(source);
    // Paths are relative to the Modelfile, wherever the command is called.
    const folder = file === STANDARD_INPUT ? Deno.cwd() : dirname(resolve(file));
    const { from, files, adapters, draft, draftFiles } = await resolveSources(modelfile, folder);

    await using api = await connect(dependencies);
    using progress = showProgress(terminal, environment);
    const upload = async (local: readonly LocalFile[]) =>
      local.length > 0 ? await uploadFiles(api, local, progress, signal) : undefined;
    const request = {
      model,
      from,
      files: await upload(files),
      adapters: await upload(adapters),
      quantize,
      ...contentsOf(modelfile),
      draft,
      draft_files: await upload(draftFiles),
      stream: true,
    };
    for await (const record of api.stream("/api/create", request, signal)) {
      progress.update(record);
    }
    return 0;
  });
}

async function readModelfile(path: string): Promise<Uint8Array> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(
      `Cannot read the Modelfile ${path}: there is no such file; write one whose first line is ` +
        `"FROM <model or path>", or name another with -f`,
    );
  }
}

/**
 * The parts of the model besides its weights. Those that the Modelfile does not name are left out.
 */
function contentsOf(modelfile: Modelfile): Record<string, unknown> {
  const { from: _from, adapters: _adapters, parameters, messages, license, ...texts } = modelfile;
  return {
    ...texts,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(messages.length > 0 && { messages }),
    ...(license.length > 0 && { license }),
  };
}

// Sends files to the server's blobs: hashed first, so that what it has already is not sent again.

/** Bytes of a step: large enough for a file of many gigabytes to take few steps. */
const CHUNK_BYTES = 2 ** 20;

/**
 * Brings files to the server.
 *
 * @returns the digest of each by its name
 * @throws {ApiError} if the server lacks a blob that is named by its digest, or refuses a file
 */
async function uploadFiles(
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
