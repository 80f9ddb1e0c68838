// What the FROM, ADAPTER and DRAFT lines of a Modelfile mean on this machine: files, folders, blobs that the
// server has, or the name of a model.

import { basename, isAbsolute, join, relative, resolve } from "node:path";
import type { Modelfile } from "../../../engine/mod.ts";

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
  const [from] = names;
  const { draft } = modelfile;
  const draftFiles = draft === undefined ? [] : await findFiles(draft, folder);
  const isName = draft !== undefined && draftFiles.length === 0;
  if (isName && PATH.test(draft)) throw missing("DRAFT", draft, folder);
  return {
    ...(from !== undefined && { from }),
    files: withUniqueNames(files),
    adapters: withUniqueNames(adapters),
    ...(isName && { draft }),
    draftFiles,
  };
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
