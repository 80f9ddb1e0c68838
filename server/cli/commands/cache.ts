// `quern cache`: what the caches of the loaded models hold, by conversation, and where prompts lost it.

import { type CacheContents, connect } from "../client/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { formatDuration, formatRelative, formatTable } from "../terminal/mod.ts";

type Conversation = CacheContents["models"][number]["conversations"][number];

/** Most characters of a title. */
const MOST_TITLE = 40;

/**
 * Prints a table of the conversations, and below it what cost some of them the cache.
 *
 * @param asked beginning of the models' names; empty: all
 * @returns the exit code
 */
export async function cache(dependencies: CliDependencies, asked = ""): Promise<number> {
  const { terminal } = dependencies;
  await using api = await connect(dependencies, { mayStart: false });
  const { models } = await api.json("/api/cache");
  const shown = models.filter(({ model }) => model.startsWith(asked));
  const now = new Date();
  const rows = shown.flatMap(({ model, conversations }) =>
    conversations.map((one) => [
      model,
      titleOf(one),
      ...[one.tokens, one.on_device, one.in_memory, one.on_disk].map(String),
      formatRelative(new Date(one.last_used), now),
      `${one.last_prompt.cached_tokens} of ${one.last_prompt.prompt_tokens}`,
    ])
  );
  const head = [
    "MODEL",
    "CONVERSATION",
    "TOKENS",
    "DEVICE",
    "MEMORY",
    "DISK",
    "LAST USED",
    "LAST PROMPT REUSED",
  ];
  terminal.write(formatTable([head, ...rows]));
  for (const { model, block_tokens: block, conversations } of shown) {
    for (const one of conversations) {
      const losses = lossesOf(one, block);
      if (losses.length > 0) terminal.write(`\n${model}, ${titleOf(one)}:\n${losses.join("")}`);
    }
  }
  return 0;
}

function titleOf({ title, is_beside: isBeside }: Conversation): string {
  const letters = Array.from(printable(title));
  const cut = letters.length > MOST_TITLE ? [...letters.slice(0, MOST_TITLE - 1), "…"] : letters;
  return `${isBeside ? "(beside) " : ""}${cut.join("") || "-"}`;
}

/** A text without characters that could move the terminal's cursor. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}

/** A text in quotes, in which line breaks are escaped. */
function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

/** What cost the last prompt its cache, a line each. */
function lossesOf({ last_prompt: prompt }: Conversation, block: number): string[] {
  const { lost, common_tokens: common, cached_tokens: cached } = prompt;
  const evicted = common - cached;
  return [
    ...evicted > 2 * block
      ? [`  ${evicted} tokens that it has from before were not in the cache any more\n`]
      : [],
    ...lost
      ? [
        `  ${lost.tokens} tokens were read again, ${formatDuration(1000 * lost.seconds)}, ` +
        `because token ${lost.token} differs` +
        `${lost.message === undefined ? "" : `, in message ${lost.message}`}:\n`,
        `    was ${quoted(lost.before + lost.was)}\n`,
        `    is  ${quoted(lost.before + lost.is)}\n`,
        `  ${lost.advice}\n`,
      ]
      : [],
  ];
}
