// `deno task box:logits [MODEL.gguf]`: whether llama.cpp makes the same tokens, prompts and logits of
// the model in the box. For weights in Q8_0 its CPU code rounds what it multiplies them with to Q8_0
// too, and its cache and flash attention round to F16; so the file also runs with weights widened to
// F32 and a cache of F32, where nothing but the order of sums is left. Fails where that differs.

import { BOX_MODEL } from "../../../engine/box/mod.ts";
import { readGguf } from "../../../engine/gguf/mod.ts";
import { type ChatRequest, loadModel, loadTokenizer } from "../../../engine/mod.ts";
import { conversations, oddTexts } from "./cases.ts";
import { compare, formatDifference, type Prompt, type Run } from "./compare.ts";
import { openPeer, type Peer, type PeerModel } from "./peer.ts";
import { widen } from "./widen.ts";
import { print } from "../../report.ts";

/** The greatest NMSE at which logits are the same. */
const TOLERANCE = 1e-5;

function fail(text: string): void {
  print(text);
  Deno.exitCode = 1;
}

/** What both engines make of the texts, with control tokens and without. */
async function compareTokens(path: string, peer: PeerModel): Promise<void> {
  const tokenizer = await loadTokenizer(path);
  const texts = oddTexts();
  for (const special of [false, true]) {
    const others = texts.filter((text) =>
      tokenizer.encode(text, { special }).join() !== peer.encode(text, { special }).join()
    );
    const what = `Tokens of ${texts.length} texts, control tokens ${special ? "read" : "unread"}`;
    if (others.length === 0) print(`${what}: all the same.`);
    else fail(`${what}: ${others.length} differ, ${JSON.stringify(others[0])} for one.`);
  }
}

/** The variables of a chat template, as its authors expect them. */
function variablesOf({ messages, tools, think }: ChatRequest): Record<string, unknown> {
  return {
    messages: messages.map(({ role, content, toolCalls, toolName }) => ({
      role,
      content,
      ...toolName && { name: toolName },
      ...toolCalls && { tool_calls: toolCalls.map((call) => ({ type: "function", ...call })) },
    })),
    ...tools && { tools },
    ...think !== undefined && { enable_thinking: think },
    add_generation_prompt: true,
  };
}

/** The prompts, which both engines render. */
async function comparePrompts(path: string, peer: Peer): Promise<Prompt[]> {
  const template = String((await readGguf(path)).metadata["tokenizer.chat_template"]);
  await using model = await loadModel(path, { contextLength: 64, maxSequences: 1 });
  const prompts: Prompt[] = [];
  const others: string[] = [];
  for (const { name, request } of conversations()) {
    const text = await model.renderChat(request);
    if (peer.render(template, variablesOf(request)) !== text) others.push(name);
    prompts.push({ name, tokens: model.tokenizer.encode(text) });
  }
  if (others.length === 0) print(`Prompts of ${prompts.length} conversations: all the same.`);
  else fail(`Prompts of ${prompts.length} conversations: ${others.join(", ")} differ.`);
  return prompts;
}

async function runOwn(
  name: string,
  path: string,
  exact: boolean,
  prompts: readonly Prompt[],
): Promise<Run> {
  await using model = await loadModel(path, { contextLength: 1024, maxSequences: 1, exact });
  const logits: Float32Array[] = [];
  for (const { tokens } of prompts) logits.push(await model.logits(tokens));
  return { name: `Quern ${name}`, logits };
}

/** The file as it comes, and the same weights with less and less rounding. */
async function runPeer(model: PeerModel, wide: PeerModel, prompts: readonly Prompt[]) {
  const tokens = prompts.map((prompt) => prompt.tokens);
  const run = async (name: string, model: PeerModel, exact = false): Promise<Run> => ({
    name: `llama.cpp, ${name}`,
    logits: await model.logits(tokens, { exact }),
  });
  return [
    await run("the file", model),
    await run("F32 weights", wide),
    await run("F32 weights and cache", wide, true),
  ];
}

/** A row for each of our runs, and one for what llama.cpp itself rounds. */
function printTable(prompts: readonly Prompt[], ours: readonly Run[], theirs: readonly Run[]) {
  print("\nNMSE, that of the worst prompt, and positions with the same likeliest token:\n");
  print(
    `| | ${theirs.map(({ name }) => name).join(" | ")} |\n|---|${"---|".repeat(theirs.length)}`,
  );
  for (const run of [...ours, theirs[0]!]) {
    const cells = theirs.map((other) =>
      other === run ? "" : formatDifference(compare(prompts, run, other))
    );
    print(`| ${run.name} | ${cells.join(" | ")} |`);
  }
}

async function main(path: string, wide: string): Promise<void> {
  await widen(path, wide);
  await using peer = await openPeer();
  print(`llama.cpp ${peer.build}\n`);
  await using model = await peer.load(path);
  await using wideModel = await peer.load(wide);
  await compareTokens(path, model);
  const prompts = await comparePrompts(path, peer);
  const theirs = await runPeer(model, wideModel, prompts);
  const ours = [
    await runOwn("exact, the file", path, true, prompts),
    await runOwn("default, the file", path, false, prompts),
    await runOwn("exact, F32 weights", wide, true, prompts),
    await runOwn("default, F32 weights", wide, false, prompts),
  ];
  printTable(prompts, ours, theirs);
  const { nmse, worst } = compare(prompts, ours[0]!, theirs.at(-1)!);
  if (!(Math.max(nmse, worst.nmse) <= TOLERANCE)) {
    fail(`\nThe logits differ: NMSE ${nmse}, ${worst.nmse} of the prompt "${worst.name}".`);
  }
}

const folder = await Deno.makeTempDir();
try {
  await main(Deno.args[0] ?? BOX_MODEL.path, `${folder}/wide.gguf`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
