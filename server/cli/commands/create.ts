// `quern create MODEL`: reads a Modelfile, sends the files that it names to the server, and has the
// model created there. engine/create knows the language of Modelfiles.

import { createHash } from "node:crypto";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type Modelfile, type NamedControlVector, parseModelfile } from "../../../engine/mod.ts";
import { type Api, ApiError, connect, refusalOf } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { type Progress, showProgress } from "../terminal/mod.ts";

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
    const sources = await resolveSources(modelfile, folder);
    const { from, files, adapters, controlVectors, draft, draftFiles } = sources;

    await using api = await connect(dependencies);
    using progress = showProgress(terminal, environment);
    const upload = async (local: readonly LocalFile[]) =>
      local.length > 0 ? await uploadFiles(api, local, progress, signal) : undefined;
    const request = {
      model,
      from,
      files: await upload(files),
      adapters: await upload(adapters),
      control_vectors: await uploadControlVectors(controlVectors, upload),
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
  const {
    from: _from,
    adapters: _adapters,
    controlVectors: _controlVectors,
    parameters,
    messages,
    license,
    ...texts
  } = modelfile;
  return {
    ...texts,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(messages.length > 0 && { messages }),
    ...(license.length > 0 && { license }),
  };
}

/** The control vectors of the request, once their files are uploaded; undefined if there are none. */
async function uploadControlVectors(
  vectors: Sources["controlVectors"],
  upload: (files: readonly LocalFile[]) => Promise<Record<string, string> | undefined>,
): Promise<{ name: string; digest?: string; scale: number }[] | undefined> {
  if (vectors.length === 0) return undefined;
  const digests = await upload(vectors.flatMap(({ file }) => file ?? [])) ?? {};
  return vectors.map(({ name, file, scale }) =>
    file ? { name: file.name, digest: digests[file.name]!, scale } : { name, scale }
  );
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

// What the FROM, ADAPTER, CONTROL and DRAFT lines of a Modelfile mean on this machine: files, folders,
// blobs that the server has, or the name of a model or a control vector.

/** A file of a new model: one of this machine, or one that the server has by its digest. */
export interface LocalFile {
  /** Its name in the request: relative, with forward slashes. */
  readonly name: string;
  readonly source: { readonly path: string } | { readonly digest: string };
}

/** The sources of a model. */
export interface Sources {
  /** Name of another model. */
  readonly from?: string;
  readonly files: readonly LocalFile[];
  readonly adapters: readonly LocalFile[];
  /** Control vectors: files, or without one those that the server has by name. */
  readonly controlVectors: readonly (NamedControlVector & { readonly file?: LocalFile })[];
  /** Name of its draft model. */
  readonly draft?: string;
  /** The file of its draft model. */
  readonly draftFiles: readonly LocalFile[];
}

/** The files of a folder that a model is made from; READMEs and pictures are left out. */
const PART_OF_MODEL = /\.(safetensors|gguf|json|model)$/i;
const WEIGHTS = /\.(safetensors|gguf)$/i;
const DIGEST = /^@?(sha256[:-][0-9a-f]{64})$/i;
/** A text that can only be a path, not a name. */
const PATH = /^(\.{0,2}[\\/]|~|[A-Za-z]:[\\/])|\.(gguf|safetensors|bin)$/i;

/**
 * Finds the files that a Modelfile names.
 *
 * @param folder absolute path to which the Modelfile's paths are relative
 */
export async function resolveSources(modelfile: Modelfile, folder: string): Promise<Sources> {
  const names: string[] = [];
  const files: LocalFile[] = [];
  for (const text of modelfile.from) {
    const found = await findFiles(text, folder);
    if (found.length > 0) files.push(...found);
    else if (PATH.test(text)) throw missing("FROM", text, folder);
    else names.push(text);
  }
  if (names.length > 1 || (names.length > 0 && files.length > 0)) {
    throw new Error(
      `Cannot create a model from ${modelfile.from.join(" and ")}: FROM takes one model's name, ` +
        `or files alone, and there are no files called ${names.join(" or ")} in ${folder}`,
    );
  }
  const adapters: LocalFile[] = [];
  for (const text of modelfile.adapters) {
    const found = await findFiles(text, folder);
    if (found.length === 0) throw missing("ADAPTER", text, folder);
    adapters.push(...found);
  }
  const vectorFiles = await Promise.all(
    modelfile.controlVectors.map(({ name }) => findControlVector(name, folder)),
  );
  // Two lines may name files of the same name.
  const unique = withUniqueNames(vectorFiles.flatMap((file) => file ?? []));
  const [from] = names;
  const { draft } = modelfile;
  const draftFiles = draft === undefined ? [] : await findFiles(draft, folder);
  const isName = draft !== undefined && draftFiles.length === 0;
  if (isName && PATH.test(draft)) throw missing("DRAFT", draft, folder);
  return {
    ...(from !== undefined && { from }),
    files: withUniqueNames(files),
    adapters: withUniqueNames(adapters),
    controlVectors: modelfile.controlVectors.map((vector, i) =>
      vectorFiles[i] ? { ...vector, file: unique.shift()! } : vector
    ),
    ...(isName && { draft }),
    draftFiles,
  };
}

/** The file of a control vector; undefined for a name of the server's. */
async function findControlVector(text: string, folder: string): Promise<LocalFile | undefined> {
  const [file, ...others] = await findFiles(text, folder);
  if (others.length > 0 || !file && PATH.test(text)) throw missing("CONTROL", text, folder);
  return file;
}

/** The files that a text names; none if there is no such file, or it is a folder without weights. */
async function findFiles(text: string, folder: string): Promise<LocalFile[]> {
  const digest = DIGEST.exec(text)?.[1];
  if (digest) return [{ name: "model.gguf", source: { digest: digest.replace("-", ":") } }];
  const path = absolute(text, folder);
  const info = await Deno.stat(path).catch(() => undefined);
  if (info?.isFile) return [{ name: basename(path), source: { path } }];
  return info?.isDirectory ? await filesOfFolder(path) : [];
}

async function filesOfFolder(folder: string): Promise<LocalFile[]> {
  const paths: string[] = [];
  const visit = async (inner: string) => {
    for await (const { name, isDirectory } of Deno.readDir(inner)) {
      const path = join(inner, name);
      if (name.startsWith(".")) continue;
      if (isDirectory) await visit(path);
      else if (PART_OF_MODEL.test(name) && await isFile(path)) paths.push(path);
    }
  };
  await visit(folder);
  if (!paths.some((path) => WEIGHTS.test(path))) return [];
  return paths.sort().map((path) => ({
    name: relative(folder, path).replaceAll("\\", "/"),
    source: { path },
  }));
}

/** Whether it can be read to its end, as a link to a pipe cannot. */
async function isFile(path: string): Promise<boolean> {
  return (await Deno.stat(path).catch(() => undefined))?.isFile ?? false;
}

function absolute(text: string, folder: string): string {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  const path = home && /^~[\\/]/.test(text) ? join(home, text.slice(2)) : text;
  return isAbsolute(path) ? path : resolve(folder, path);
}

/** Files of the same name from several folders: the later ones get their number in front. */
function withUniqueNames(files: LocalFile[]): LocalFile[] {
  const taken = new Set<string>();
  return files.map((file, index) => {
    const name = taken.has(file.name) ? `${index}-${file.name}` : file.name;
    taken.add(name);
    return { ...file, name };
  });
}

function missing(keyword: string, text: string, folder: string): Error {
  return new Error(
    `Cannot create a model: ${keyword} names ${text}, but ${absolute(text, folder)} is neither a ` +
      `file nor a folder of .safetensors or .gguf files; paths are relative to the Modelfile`,
  );
}
