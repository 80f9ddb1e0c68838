// The command line's commands that manage models: pull, push, create, list, show, cp, rm, ps, stop.

import { copy, remove } from "./copy_remove.ts";
import { create, type CreateOptions } from "./create.ts";
import { type Definition, examples } from "./definition.ts";
import { list, ps, stop } from "./list.ts";
import { show, type ShowOptions } from "./show.ts";
import { pull, push, type TransferOptions } from "./transfer.ts";

const INSECURE = "plain HTTP, or a certificate that nobody has signed";

/** Adds `quern pull` and `quern push`. */
export function defineTransfers({ program, world, finish }: Definition): void {
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
      finish(await pull(world, model, options));
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
      finish(await push(world, model, options));
    });
}

/** Adds `quern create`. */
export function defineCreate({ program, world, finish }: Definition): void {
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
      finish(await create(world, model, options));
    });
}

/** Adds `quern list` and `quern show`. */
export function defineLooks({ program, world, finish }: Definition): void {
  program.command("list").alias("ls")
    .summary("list the models that are here")
    .description("Lists the models of the store, the latest first.")
    .argument("[filter]", "beginning of the names")
    .action(async (filter?: string) => finish(await list(world, filter)));

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
      finish(await show(world, model, options));
    });
}

/** Adds `quern cp` and `quern rm`. */
export function defineNames({ program, world, finish }: Definition): void {
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
      finish(await copy(world, source, destination));
    });

  program.command("rm")
    .summary("remove models")
    .description("Removes models, and the files that no other model uses.")
    .argument("<models...>", "names of models")
    .action(async (models: string[]) => finish(await remove(world, models)));
}

/** Adds `quern ps` and `quern stop`. */
export function defineMemory({ program, world, finish }: Definition): void {
  program.command("ps")
    .summary("list the models in memory")
    .description("Lists the models that the server has in memory, and until when.")
    .action(async () => finish(await ps(world)));

  program.command("stop")
    .summary("unload a model")
    .description("Has the server free the memory of a model as soon as nobody uses it.")
    .argument("<model>", "name of a model that `quern ps` lists")
    .action(async (model: string) => finish(await stop(world, model)));
}
