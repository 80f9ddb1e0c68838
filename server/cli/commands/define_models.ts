// The command line's commands that manage models: pull, push, create, list, show, cp, rm, ps, cache,
// stop.

import { messageOf } from "../../log.ts";
import { type Api, ApiError, connect, type OllamaProcess } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { formatSections, ownModelfile } from "../model_sections.ts";
import { similarModel } from "../repl/mod.ts";
import { interruptible } from "../terminal/interrupt.ts";
import {
  formatBytes,
  formatRelative,
  formatTable,
  showProgress,
  styleFor,
} from "../terminal/mod.ts";
import { cache } from "./cache.ts";
import { create, type CreateOptions } from "./create.ts";
import { type Definition, examples } from "./definition.ts";

const INSECURE = "plain HTTP, or a certificate that nobody has signed";

/** Adds `quern pull` and `quern push`. */
export function defineTransfers({ program, dependencies, finish }: Definition): void {
  program.command("pull")
    .summary("download a model")
    .description(
      "Downloads a model from its registry. Parts that are here already are not sent again, so a " +
        "pull that was cut off, or ended with Ctrl-C, goes on where it was.",
    )
    .argument("<model>", "[HOST/][NAMESPACE/]NAME[:TAG]; HOST is registry.ollama.ai if left out")
    .option("--insecure", INSECURE)
    .addHelpText(
      "after",
      examples([
        ["quern pull gemma3:1b", "from registry.ollama.ai"],
        ["quern pull hf.co/bartowski/Qwen3-0.6B-GGUF:Q4_K_M", "from Hugging Face, in that type"],
        ["quern pull localhost:5000/library/mine --insecure", "from a registry of your own"],
      ]),
    )
    .action(async (model: string, options: TransferOptions) => {
      finish(await pull(dependencies, model, options));
    });

  program.command("push")
    .summary("upload a model")
    .description(
      "Uploads a model to the registry that its name begins with. Parts that are there already are " +
        "not sent again. `quern cp` gives a model such a name.",
    )
    .argument("<model>", "HOST/NAMESPACE/NAME[:TAG]")
    .option("--insecure", INSECURE)
    .addHelpText(
      "after",
      examples([[
        "quern push localhost:5000/library/mine --insecure",
        "to a registry of your own",
      ]]),
    )
    .action(async (model: string, options: TransferOptions) => {
      finish(await push(dependencies, model, options));
    });
}

/** Adds `quern create`. */
export function defineCreate({ program, dependencies, finish }: Definition): void {
  program.command("create")
    .summary("make a model from a Modelfile")
    .description(
      "Makes a model as a Modelfile says: FROM another model, a .gguf file or a folder of " +
        ".safetensors, with PARAMETER, SYSTEM, TEMPLATE, MESSAGE, ADAPTER and LICENSE. Paths are " +
        "relative to the Modelfile.",
    )
    .argument("<model>", "name of the new model; one that has it is replaced")
    .option("-f, --file <path>", 'the Modelfile, "-" for standard input', "Modelfile")
    .option("-q, --quantize <type>", "type of the weights, such as q8_0, q4_0 or q4_K_M")
    .addHelpText(
      "after",
      examples([
        ["quern create mario -f mario.modelfile", "as the file says"],
        ["echo 'FROM ./weights.gguf' | quern create mine -f -", "a name for a file"],
        ["quern create small -q q4_K_M", "smaller weights, from ./Modelfile"],
      ]),
    )
    .action(async (model: string, options: CreateOptions) => {
      finish(await create(dependencies, model, options));
    });
}

/** Adds `quern list` and `quern show`. */
export function defineLooks({ program, dependencies, finish }: Definition): void {
  program.command("list").alias("ls")
    .summary("list the models that are here")
    .description("Lists the models of the store, the latest first.")
    .argument("[filter]", "beginning of the names")
    .action(async (filter?: string) => finish(await list(dependencies, filter)));

  program.command("show")
    .summary("tell what a model is")
    .description(
      "Prints what a model is, what it can do and what it carries, or one of its parts alone.",
    )
    .argument("<model>", "name of a model")
    .option("--license", "its license alone")
    .option("--modelfile", "a Modelfile that makes it again")
    .option("--parameters", "its parameters alone")
    .option("--template", "its template alone")
    .option("--system", "its system prompt alone")
    .option("-v, --verbose", "also all metadata and tensors of its file")
    .addHelpText(
      "after",
      examples([
        ["quern show gemma3:1b", "all of it, in sections"],
        ["quern show gemma3:1b --modelfile > Modelfile", "to change it and `quern create` another"],
      ]),
    )
    .action(async (model: string, options: ShowOptions) => {
      finish(await show(dependencies, model, options));
    });
}

/** Adds `quern cp` and `quern rm`. */
export function defineNames({ program, dependencies, finish }: Definition): void {
  program.command("cp")
    .summary("give a model another name")
    .description(
      "Gives a model a second name, which takes no second room. A name that a client insists on " +
        "can so mean a model of yours.",
    )
    .argument("<source>", "name of a model")
    .argument("<destination>", "its other name; a model that has it is replaced")
    .addHelpText(
      "after",
      examples([["quern cp qwen3 claude-sonnet-4-5", "Claude's tools find qwen3 under that name"]]),
    )
    .action(async (source: string, destination: string) => {
      finish(await copy(dependencies, source, destination));
    });

  program.command("rm")
    .summary("remove models")
    .description("Removes models, and the files that no other model uses.")
    .argument("<models...>", "names of models")
    .action(async (models: string[]) => finish(await remove(dependencies, models)));
}

/** Adds `quern ps`, `quern cache` and `quern stop`. */
export function defineMemory({ program, dependencies, finish }: Definition): void {
  program.command("ps")
    .summary("list the models in memory")
    .description("Lists the models that the server has in memory, and until when.")
    .action(async () => finish(await ps(dependencies)));

  program.command("cache")
    .summary("tell what the cache holds, by conversation")
    .description(
      "Lists the conversations that the loaded models have answered lately: how many of their tokens " +
        "are kept on the device, in memory and on disk, and how many the last prompt found. Where a " +
        "prompt repeats an earlier one with another beginning, such as a clock, it shows the first " +
        "difference and what reading the rest again took.",
    )
    .argument("[model]", "beginning of the names of models; all if left out")
    .addHelpText(
      "after",
      examples([["quern cache", "when an agent's answers begin late, to see what it changes"]]),
    )
    .action(async (model?: string) => finish(await cache(dependencies, model)));

  program.command("stop")
    .summary("unload a model")
    .description("Has the server free the memory of a model as soon as nobody uses it.")
    .argument("<model>", "name of a model that `quern ps` lists")
    .action(async (model: string) => finish(await stop(dependencies, model)));
}

/** Gives a model a second name; its files are not copied. */
async function copy(
  dependencies: CliDependencies,
  source: string,
  destination: string,
): Promise<number> {
  await using api = await connect(dependencies);
  await api.json("/api/copy", { source, destination });
  dependencies.terminal.write(`copied '${source}' to '${destination}'\n`);
  return 0;
}

/** Removes models; after an error the others are still removed. */
async function remove(dependencies: CliDependencies, models: string[]): Promise<number> {
  const { terminal } = dependencies;
  await using api = await connect(dependencies);
  let exitCode = 0;
  for (const model of models) {
    try {
      await api.json("/api/delete", { model }, { method: "DELETE" });
      terminal.write(`deleted '${model}'\n`);
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      terminal.writeError(`Error: ${messageOf(error)}\n`);
      exitCode = 1;
    }
  }
  return exitCode;
}

/** The parts that can be asked for alone. */
const SHOW_PARTS = ["license", "modelfile", "parameters", "template", "system"] as const;

/** Options of the command line. */
type ShowOptions = { [Part in typeof SHOW_PARTS[number]]?: boolean } & {
  verbose?: boolean;
};

/** Prints the sections of a model, or the part of it that an option names. */
async function show(
  dependencies: CliDependencies,
  model: string,
  options: ShowOptions,
): Promise<number> {
  const parts = SHOW_PARTS.filter((part) => options[part]);
  if (parts.length > 1) {
    const flags = parts.map((part) => `--${part}`).join(" and ");
    throw new Error(`Cannot show ${flags} together: ask for one of them at a time`);
  }
  const { terminal, environment } = dependencies;
  const { verbose = false } = options;
  await using api = await connect(dependencies);
  const answer = await api.json("/api/show", { model, verbose });
  const [part] = parts;
  const text = part
    ? (part === "modelfile" ? ownModelfile(answer) : answer[part]) ?? ""
    : formatSections(answer, { style: styleFor(terminal.stdoutIsTerminal, environment), verbose });
  terminal.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  return 0;
}

/** Prints a table of the loaded models. */
async function ps(dependencies: CliDependencies): Promise<number> {
  await using api = await connect(dependencies, { mayStart: false });
  const { models } = await api.json("/api/ps");
  const now = new Date();
  const rows = models.map((model) => [
    model.name,
    model.digest.slice(0, 12),
    formatBytes(model.size),
    processorOf(model),
    String(model.context_length),
    untilWhen(new Date(model.expires_at), now),
  ]);
  const head = ["NAME", "ID", "SIZE", "PROCESSOR", "CONTEXT", "UNTIL"];
  dependencies.terminal.write(formatTable([head, ...rows]));
  return 0;
}

/** Unloads a model as soon as no request uses it. */
async function stop(dependencies: CliDependencies, model: string): Promise<number> {
  await using api = await connect(dependencies, { mayStart: false });
  try {
    await api.json("/api/generate", { model, prompt: "", keep_alive: 0, stream: false });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    throw new ApiError(404, `couldn't find model "${model}" to stop`);
  }
  return 0;
}

/** The place of the model: the GPU, or how it is split. */
function processorOf({ size, size_vram }: OllamaProcess): string {
  if (size_vram >= size) return "100% GPU";
  const onCpu = Math.round(100 * (size - size_vram) / size);
  return size_vram === 0 ? "100% CPU" : `${onCpu}%/${100 - onCpu}% CPU/GPU`;
}

function untilWhen(expiry: Date, now: Date): string {
  return expiry <= now ? "Stopping..." : formatRelative(expiry, now);
}

/** Prints a table of the models whose name begins with the filter, if there is one. */
async function list(dependencies: CliDependencies, filter = ""): Promise<number> {
  await using api = await connect(dependencies);
  const { models } = await api.json("/api/tags");
  const now = new Date();
  const rows = models
    .filter(({ name }) => name.toLowerCase().startsWith(filter.toLowerCase()))
    .map((model) => [
      model.name,
      model.digest.slice(0, 12),
      // A remote model takes no room here.
      model.size > 0 ? formatBytes(model.size) : "-",
      formatRelative(new Date(model.modified_at), now),
    ]);
  dependencies.terminal.write(formatTable([["NAME", "ID", "SIZE", "MODIFIED"], ...rows]));
  return 0;
}

/** Options of the command line. */
interface TransferOptions {
  /** Allows plain HTTP, or a certificate that is not trusted. */
  insecure?: boolean;
}

/** Downloads a model. After an interrupt the next pull continues where this one stopped. */
async function pull(
  dependencies: CliDependencies,
  model: string,
  options: TransferOptions,
): Promise<number> {
  return await transfer(dependencies, "/api/pull", model, options);
}

/** Uploads a model. */
async function push(
  dependencies: CliDependencies,
  model: string,
  options: TransferOptions,
): Promise<number> {
  return await transfer(dependencies, "/api/push", model, options);
}

function transfer(
  dependencies: CliDependencies,
  path: "/api/pull" | "/api/push",
  model: string,
  { insecure = false }: TransferOptions,
): Promise<number> {
  const { terminal, environment } = dependencies;
  return interruptible(terminal, async (signal) => {
    await using api = await connect(dependencies);
    using progress = showProgress(terminal, environment);
    const request = { model, insecure, stream: true };
    try {
      for await (const record of api.stream(path, request, signal)) {
        progress.update(record);
      }
    } catch (error) {
      if (error instanceof ApiError) throw await withSuggestion(error, api, model, signal);
      throw error;
    }
    return 0;
  });
}

/** The error, with a suggestion of the model that may have been meant. */
async function withSuggestion(
  error: ApiError,
  api: Api,
  model: string,
  signal: AbortSignal,
): Promise<ApiError> {
  const near = await similarModel(api, model, signal);
  if (near === undefined) return error;
  return new ApiError(error.status, `${error.message}. Did you mean "${near}"?`);
}
