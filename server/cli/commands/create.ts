// `quern create MODEL`: reads a Modelfile, sends the files that it names to the server, and has the
// model created there. engine/create knows the language of Modelfiles.

import { dirname, resolve } from "node:path";
import { type Modelfile, parseModelfile } from "../../../engine/mod.ts";
import { connect } from "../client/mod.ts";
import { showProgress } from "../terminal/mod.ts";
import { type LocalFile, resolveSources } from "./create_sources.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { uploadFiles } from "./upload.ts";

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
