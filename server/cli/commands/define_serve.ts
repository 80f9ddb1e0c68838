// The command line's `serve`, and the hidden command by which a compiled program runs the process of a
// model.

import { serveModelProcess } from "../../../engine/mod.ts";
import { type Definition, environmentHelp, examples } from "./definition.ts";
import { serve, type ServeOptions } from "./serve.ts";

/** Adds `quern serve`. */
export function defineServe({ program, dependencies, finish }: Definition): void {
  program.command("serve").alias("start")
    .summary("serve the HTTP API")
    .description(
      "Serves the APIs of Ollama, Anthropic and OpenAI at OLLAMA_HOST until Ctrl-C, and logs to " +
        "standard error. The other commands then talk to it; without it they load models themselves. " +
        "The Host of a request has to be an address, localhost, a name that ends in .localhost, .local " +
        "or .internal, the machine's name, or a name in QUERN_HOSTS, such as quern or *.example.com.",
    )
    .option("--open", "open its page in the browser")
    .addHelpText(
      "after",
      examples([
        ["quern serve", "for this machine, at 127.0.0.1:11434"],
        ["OLLAMA_HOST=0.0.0.0 QUERN_API_KEY=secret quern serve", "for others, who need the key"],
      ]),
    )
    .addHelpText("after", environmentHelp)
    .action(async (options: ServeOptions) => finish(await serve(dependencies, options)));
}

/** Name of the command. */
export const MODEL_PROCESS = "model-process";

/** Adds `quern model-process`. */
export function defineModelProcess({ program }: Definition): void {
  program.command(MODEL_PROCESS, { hidden: true }).action(serveModelProcess);
}
