// `quern completions SHELL`: a script that completes commands, options, their choices and names of
// models. It is written from the definitions of the commands, so that it knows all that they know.

import { type Command, InvalidArgumentError, type Option } from "../../dependencies.ts";

/** Shells that a script can be written for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of them. */
export type Shell = typeof SHELLS[number];

/** A command as a script needs it. */
interface Completion {
  names: string[];
  summary: string;
  options: readonly Option[];
  /** Whether its arguments are names of models. */
  takesModels: boolean;
  /** Other words that may be its arguments. */
  choices: readonly string[];
}

/** Lists the names of the models, a line each. */
const MODELS = "quern list 2>/dev/null | awk 'NR > 1 { print $1 }'";

export function completionScript(program: Command, shell: string): string {
  const commands = program.commands.filter((command) => !isHidden(command)).map(toCompletion);
  switch (shell) {
    case "bash":
      return bashScript(commands);
    case "zsh":
      return zshScript(commands);
    case "fish":
      return fishScript(commands);
    default:
      throw new InvalidArgumentError(`It must be ${SHELLS.join(", ")}.`);
  }
}

function isHidden(command: Command): boolean {
  return "_hidden" in command && command._hidden === true;
}

function toCompletion(command: Command): Completion {
  const [first] = command.registeredArguments;
  return {
    names: [command.name(), ...command.aliases()],
    summary: command.summary(),
    options: command.options.filter(({ hidden }) => !hidden),
    takesModels: isModel(first?.name()) && !["pull", "create"].includes(command.name()),
    choices: first?.argChoices ?? [],
  };
}

/** Whether that is what an argument or option is called whose value is the name of a model. */
function isModel(name: string | undefined): boolean {
  return ["model", "models", "source"].includes(name ?? "");
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function flagsOf({ short, long }: Option): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}

function bashScript(commands: readonly Completion[]): string {
  const cases = commands.map(({ names, options, takesModels, choices }) => {
    const flags = [...options.flatMap(flagsOf), "--help"].join(" ");
    const words = takesModels ? "models" : `"${choices.join(" ")}"`;
    return `    ${names.join("|")}) flags="${flags}" words=${words} ;;`;
  });
  const values = commands.flatMap(({ names, options }) =>
    options.filter(takesValue).map((option) => {
      const before = names.flatMap((name) => flagsOf(option).map((flag) => `"${name} ${flag}"`));
      const words = isModel(option.attributeName())
        ? "models"
        : `"${option.argChoices?.join(" ") ?? ""}"`;
      return `    ${before.join("|")}) words=${words} ;;`;
    })
  );
  const names = commands.flatMap(({ names }) => names).join(" ");
  return `# Completions of quern for bash: source <(quern completions bash)
_quern() {
  local line="\${COMP_LINE:0:COMP_POINT}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" flags= words=
  # Bash begins a new word at the colon of a model's name; this is all of it.
  local current="\${line##* }"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} help --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$current" in -*) words="$flags" ;; esac
  case "\${COMP_WORDS[1]} $previous" in
${values.join("\n")}
  esac
  if [ "$words" = models ]; then words="$(${MODELS})"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$current" in *:*) COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}") ;; esac
}
complete -o default -F _quern quern
`;
}

function zshScript(commands: readonly Completion[]): string {
  const described = commands.flatMap(({ names, summary }) =>
    names.map((name) => `    ${singleQuoted(`${name}:${summary}`)}`)
  );
  const cases = commands.map(({ names, options, takesModels, choices }) => {
    const rest = takesModels
      ? `'*:model:_quern_models'`
      : choices.length > 0
      ? `'*: :(${choices.join(" ")})'`
      : `'*: :_files'`;
    const flags = options.map((option) => zshOption(option));
    return `    ${names.join("|")}) _arguments -s ${[...flags, rest].join(" \\\n      ")} ;;`;
  });
  return `#compdef quern
# Completions of quern for zsh: quern completions zsh > "\${fpath[1]}/_quern"
_quern_models() {
  local -a models=(\${(f)"$(${MODELS})"})
  compadd -a models
}
_quern() {
  local -a commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_quern" ]; then _quern "$@"; else compdef _quern quern; fi
`;
}

function zshOption(option: Option): string {
  const effect = option.description.replace(/[[\]:]/g, (sign) => `\\${sign}`);
  const value = !takesValue(option)
    ? ""
    : isModel(option.attributeName())
    ? ":model:_quern_models"
    : option.argChoices
    ? `:value:(${option.argChoices.join(" ")})`
    : ":value:_files";
  return flagsOf(option).map((flag) => singleQuoted(`${flag}[${effect}]${value}`)).join(" ");
}

function fishScript(commands: readonly Completion[]): string {
  const lines = commands.flatMap(({ names, summary, options, takesModels, choices }) => {
    const here = `-n ${singleQuoted(`__fish_seen_subcommand_from ${names.join(" ")}`)}`;
    return [
      ...names.map((name) =>
        `complete -c quern -f -n __fish_use_subcommand -a ${name} -d ${singleQuoted(summary)}`
      ),
      ...(takesModels ? [`complete -c quern -f ${here} -a ${singleQuoted(`(${MODELS})`)}`] : []),
      ...(choices.length > 0 ? [`complete -c quern -f ${here} -a "${choices.join(" ")}"`] : []),
      ...options.map((option) => `complete -c quern ${here} ${fishOption(option)}`),
    ];
  });
  return `# Completions of quern for fish: quern completions fish > ~/.config/fish/completions/quern.fish
${lines.join("\n")}
`;
}

function fishOption(option: Option): string {
  const { short, long, description, argChoices } = option;
  return [
    short && `-s ${short.slice(1)}`,
    long && `-l ${long.slice(2)}`,
    takesValue(option) && "-r",
    isModel(option.attributeName()) && `-f -a ${singleQuoted(`(${MODELS})`)}`,
    argChoices && `-f -a "${argChoices.join(" ")}"`,
    `-d ${singleQuoted(description)}`,
  ].filter(Boolean).join(" ");
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
