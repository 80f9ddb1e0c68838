// The real program in a real terminal, beside a server that answers slowly: prompts, history over two
// runs, Ctrl-C, messages of several lines, narrow and resized windows.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { NO_TMUX, Tmux } from "../terminal/tmux.ts";
import { FakeOllama, type FakeOllamaOptions } from "./fake_ollama.ts";

type ReplTest = (tmux: Tmux, server: FakeOllama) => Promise<void>;

/** A test in a window of that many columns, with a home of its own and a server. */
function replTest(name: string, columns: number, options: FakeOllamaOptions, test: ReplTest): void {
  Deno.test({
    name: name + (NO_TMUX ? ` (${NO_TMUX})` : ""),
    ignore: NO_TMUX !== undefined,
    async fn() {
      const server = new FakeOllama(options);
      await using port = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        server.handle,
      );
      const home = await Deno.makeTempDir();
      const environment = {
        OLLAMA_HOST: `127.0.0.1:${port.addr.port}`,
        HOME: home,
        DENO_DIR: await denoFolder(),
      };
      try {
        await using tmux = await Tmux.open(columns, environment);
        await test(tmux, server);
      } finally {
        await Deno.remove(home, { recursive: true });
      }
    },
  });
}

/** Where the packages are, which is by default within HOME. */
async function denoFolder(): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json"] });
  return JSON.parse(new TextDecoder().decode((await command.output()).stdout)).denoDir;
}

const PLACEHOLDER = ">>> Send a message (/? for help)";

/** Starts the REPL in an empty window and waits for its prompt. */
async function start(tmux: Tmux): Promise<void> {
  await tmux.type("clear; quern run tiny; echo exit $?");
  await atPrompt(tmux);
}

/** Waits until a message can be typed; a narrow window shows less of the placeholder. */
function atPrompt(tmux: Tmux): Promise<string[]> {
  return tmux.until((lines) => /^>>> Send/.test(lines.at(-1) ?? ""));
}

/** Types a message and waits until it has been answered. */
async function ask(tmux: Tmux, server: FakeOllama, text: string): Promise<string[]> {
  const count = server.asked.length;
  await tmux.type(text);
  await tmux.until(() => server.asked.length > count);
  return await atPrompt(tmux);
}

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);
const contents = ({ messages }: { messages: { content: string }[] }) =>
  messages.map(({ content }) => content);

replTest("a conversation in a terminal, from the prompt to /bye", 80, {}, async (tmux, server) => {
  await start(tmux);
  const lines = await ask(tmux, server, "Why is the sky blue?");
  assertEquals(lines, [">>> Why is the sky blue?", "Hello", "", PLACEHOLDER]);
  await tmux.type("/bye");
  await tmux.until((all) => all.includes("exit 0"));
  assertEquals(server.asked.map(contents), [["Why is the sky blue?"]]);
});

replTest("the up arrow brings back what an earlier run was asked", 80, {}, async (tmux, server) => {
  await start(tmux);
  await ask(tmux, server, "first question");
  await tmux.press("C-d");
  await tmux.until((lines) => lines.includes("exit 0"));
  await start(tmux);
  await tmux.press("Up");
  await tmux.until((lines) => lines.at(-1) === ">>> first question");
  for (const key of ["C-a", "M-f", "C-k"]) await tmux.press(key);
  await ask(tmux, server, " answer");
  assertEquals(server.asked.map(contents), [["first question"], ["first answer"]]);
  // And a search finds the older of the two.
  await tmux.press("C-r");
  await ask(tmux, server, "quest");
  assertEquals(contents(server.asked[2]).at(-1), "first question");
});

replTest("a message of several lines", 80, {}, async (tmux, server) => {
  await start(tmux);
  await tmux.type('"""one');
  await tmux.type("two");
  await tmux.until((lines) => lines.at(-1) === "...");
  const lines = await ask(tmux, server, 'three"""');
  assertEquals(lines.slice(0, 4), ['>>> """one', "... two", '... three"""', "Hello"]);
  assertEquals(contents(server.asked[0]), ["one\ntwo\nthree"]);
});

replTest(
  "Ctrl-C stops an answer, and the next prompt goes on with what was said",
  80,
  { words: ({ body }) => body.messages.length === 1 ? words(500) : ["fine"], delay: 20 },
  async (tmux, server) => {
    await start(tmux);
    await tmux.type("Count");
    await tmux.until((lines) => lines.some((line) => line.includes("word3")));
    await tmux.press("C-c");
    await atPrompt(tmux);
    await tmux.until(() => server.cut === 1);
    await tmux.type("Go on");
    await tmux.until((lines) => lines.includes("fine"));
    const [count, said, goOn] = contents(server.asked[1]);
    assertEquals([count, goOn], ["Count", "Go on"]);
    assertMatch(said!, /^word0 word1 word2 word3 /);
    assert(!said!.includes("word499"));
    // At a prompt it only says how to leave.
    await atPrompt(tmux);
    await tmux.press("C-c");
    await tmux.until((lines) => lines.includes("Use Ctrl + d or /bye to exit."));
    await tmux.press("C-d");
    await tmux.until((lines) => lines.includes("exit 0"));
  },
);

replTest("what is typed during an answer is the next message", 80, {
  words: words(20),
  delay: 30,
}, async (tmux, server) => {
  await start(tmux);
  await tmux.type("One");
  await tmux.until((lines) => lines.some((line) => line.includes("word3")));
  await tmux.type("Two");
  await tmux.until(() => server.asked.length === 2);
  assertEquals(contents(server.asked[1]).at(-1), "Two");
  const lines = await atPrompt(tmux);
  assertEquals(lines.filter((line) => line === ">>> Two").length, 1);
  // It was not shown in the middle of the answer.
  assert(!lines.some((line) => /word.*Two|Two.*word/.test(line)), lines.join("\n"));
});

replTest("/set, /show and /save in a terminal", 80, {}, async (tmux, server) => {
  await start(tmux);
  await tmux.type("/set parameter num_ctx 100");
  await tmux.type("/set parameter num_ctx lots");
  await tmux.type("/show parameters");
  await tmux.type("/save mine");
  const lines = await tmux.until((all) => all.includes("Created new model 'mine'"));
  assert(lines.includes("Set parameter 'num_ctx' to '100'"));
  assert(lines.some((line) => /^Error: Cannot set num_ctx to "lots": it must be an/.test(line)));
  assert(lines.some((line) => /^ {2}num_ctx +100$/.test(line)));
  const { body } = server.requests.find(({ path }) => path === "/api/create")!;
  assertEquals([body.from, body.parameters], ["tiny", { num_ctx: 100 }]);
});

replTest("a window of 30 columns wraps what is typed and what is answered", 30, {
  words: ["The quick brown ", "fox jumps over ", "the lazy dog, 日本語", "のテキストです"],
}, async (tmux, server) => {
  await start(tmux);
  const question = "a question of more than thirty columns 日本語, in all";
  const lines = await ask(tmux, server, question);
  assertEquals(lines.slice(0, 5), [
    ">>> a question of more than th",
    "irty columns 日本語, in all",
    "The quick brown fox jumps",
    "over the lazy dog, 日本語のテ",
    "キストです",
  ]);
  assertEquals(contents(server.asked[0]), [question]);
  // Across the edge and back, and in the middle of a wide character's row.
  await tmux.press("Up");
  for (let count = 0; count < 30; count++) await tmux.press("Left");
  const again = await ask(tmux, server, "X");
  assertEquals(
    contents(server.asked[1]).at(-1),
    question.slice(0, question.length - 30) + "X" + question.slice(-30),
  );
  assertEquals(again.filter((line) => line.startsWith(">>> a qu")).length, 2);
});

replTest("a window resized during an answer and during typing", 80, {
  words: words(60),
  delay: 30,
}, async (tmux, server) => {
  await start(tmux);
  await tmux.type("Count");
  await tmux.until((lines) => lines.some((line) => line.includes("word12")));
  await tmux.resize(30);
  await tmux.until((lines) => lines.some((line) => line.includes("word59")));
  await atPrompt(tmux);
  const shown = (await tmux.lines()).join(" ");
  // Words that came after the window got narrow are whole.
  for (let index = 40; index < 60; index++) assertMatch(shown, new RegExp(`\\bword${index}\\b`));
  await tmux.resize(80);
  for (let count = 0; count < 5; count++) await tmux.press("some more words ");
  await tmux.resize(40);
  const lines = await tmux.until((all) => all.at(-1) === "rds");
  const typed = lines.slice(lines.findLastIndex((line) => line.startsWith(">>> ")));
  assertEquals(typed, [
    ">>> some more words some more words some",
    " more words some more words some more wo",
    "rds",
  ]);
  await tmux.press("C-c");
  await atPrompt(tmux);
  assertEquals(server.asked.length, 1);
});

replTest("images, thinking and --verbose at a terminal", 80, {
  facts: { capabilities: ["completion", "vision", "thinking"] },
  thinking: ["Hm."],
}, async (tmux, server) => {
  await tmux.type("clear; printf x > ~/a\\ b.png; quern run tiny --verbose --think");
  await atPrompt(tmux);
  const lines = await ask(tmux, server, "Look at ~/a\\ b.png");
  assertMatch(lines[1]!, /^Added image '.*\/a b\.png'$/);
  assertEquals(lines.slice(2, 6), ["Thinking...", "Hm.", "...done thinking.", ""]);
  assert(lines.includes("eval rate:            20.00 tokens/s"));
  const [{ think, messages: [turn] }] = server.asked;
  assertEquals([think, turn.content, turn.images], [true, "Look at", [btoa("x")]]);
});
