// The command line's commands for what surrounds it: `launch` for coding tools, `completions` for the
// shell, `service` for the system.

import { Argument, Option } from "../../dependencies.ts";
import { completionScript, type Shell, SHELLS } from "./completions.ts";
import { type Definition, examples } from "./definition.ts";
import { launch, type LaunchOptions, TOOLS } from "./launch.ts";
import { service, SERVICE_ACTIONS, type ServiceOptions } from "./service.ts";

/** Adds `quern launch`. */
export function defineLaunch({ program, dependencies, finish }: Definition): void {
  program.command("launch")
    .summary("start a coding tool that talks to this server")
    .description(
      "Starts a coding tool with the variables and arguments that point it at the server at " +
        "OLLAMA_HOST, for this one start: no file of its settings is changed. The tools are " +
        `${TOOLS.map(({ name, title }) => `${name} (${title})`).join(", ")}.`,
    )
    .addArgument(
      new Argument("<tool>", "name of the tool").choices(TOOLS.map(({ name }) => name)),
    )
    .argument("[args...]", "arguments for the tool, after --")
    .option("--model <name>", "model that it talks to; asked for if there are several")
    .option("--print", "print what would be set and run, for a shell, and start nothing")
    .addHelpText(
      "after",
      examples([
        ["quern launch claude --model qwen3-coder:30b", "code with that model"],
        ['quern launch codex --model qwen3:8b -- exec "Explain this folder"', "ask and end"],
        ["quern launch opencode --model qwen3:8b --print", "to see what it sets"],
      ]),
    )
    .action(async (tool: string, args: string[], options: LaunchOptions) => {
      finish(await launch(dependencies, tool, args, options));
    });
}

/** Adds `quern completions`. */
export function defineCompletions({ program, dependencies }: Definition): void {
  program.command("completions")
    .summary("print a script that completes commands in a shell")
    .description(
      "Prints a script by which a shell completes commands, options and names of models.",
    )
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText(
      "after",
      examples([
        ["source <(quern completions bash)", "in ~/.bashrc"],
        ['quern completions zsh > "${fpath[1]}/_quern"', "once, for zsh"],
        ["quern completions fish > ~/.config/fish/completions/quern.fish", "once, for fish"],
      ]),
    )
    .action((shell: Shell) => dependencies.terminal.write(completionScript(program, shell)));
}

/** Adds `quern service`. */
export function defineService({ program, dependencies, finish }: Definition): void {
  program.command("service")
    .summary("have the system start the server")
    .description(
      "Makes the server a service of yours, by systemd on Linux or launchd on macOS, starts it now " +
        "and whenever you log in, or takes that back. It needs no root. The variables that are set " +
        "now and listed by `quern serve --help` are the service's.",
    )
    .addArgument(new Argument("<action>", "what to do").choices(SERVICE_ACTIONS))
    // Services of the whole system would need root, and another user's folders.
    .addOption(new Option("--user", "for you alone; it is always so").default(true).hideHelp())
    .option("--print", "print its file, and change nothing")
    .addHelpText(
      "after",
      examples([
        ["quern service install", "start it now and at each login"],
        ["OLLAMA_HOST=0.0.0.0 QUERN_API_KEY=secret quern service install", "for other machines"],
        ["quern service uninstall", "stop it and remove its file"],
      ]),
    )
    .action(async (action: typeof SERVICE_ACTIONS[number], options: ServiceOptions) => {
      finish(await service(dependencies, action, options));
    });
}
