// Commands typed at a fake terminal: what they change of later requests, and what they say.

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { FakeOllamaOptions, FakeRequest } from "./fake_ollama.ts";
import { contentsOf, lines, personsTerminal, runModel, spoken } from "./run_world.ts";

/** An answer that says which turn it is. */
const counted = ({ body }: FakeRequest) => [`answer ${body.messages.length}`];

Deno.test("/set changes what is asked for, /set nothing does not", async () => {
  const facts = { capabilities: ["completion", "thinking"] };
  const keys = lines(
    "/set parameter temperature 0.5",
    "/set parameter stop <end> 'a b'",
    "/set parameter seed one",
    '/set system """Be',
    'brief."""',
    "/set format json",
    "/set think high",
    "One",
    "/set noformat",
    "/set nothink",
    "/set parameter",
    "Two",
  );
  const { asked, terminal } = await runModel(undefined, { keys, server: { facts } });
  const options = { temperature: 0.5, stop: ["<end>", "a b"] };
  const [one, two] = asked;
  assertEquals([one.options, one.format, one.think], [options, "json", "high"]);
  assertEquals(one.messages[0], { role: "system", content: "Be\nbrief." });
  assertEquals([two.options, two.format, two.think], [options, undefined, false]);
  assertStringIncludes(terminal.errors, 'Cannot set seed to "one": it must be an integer');
  const said = spoken(terminal.output);
  assertStringIncludes(said, "Set parameter 'stop' to '<end>, a b'\n");
  assertStringIncludes(said, "Set system message.\n");
  assertStringIncludes(said, "  num_ctx");
});

Deno.test("/set think is refused for a model that does not think", async () => {
  const keys = lines("/set think", "/set think much", "One");
  const { asked, terminal } = await runModel(undefined, { keys });
  assertEquals("think" in asked[0], false);
  assertStringIncludes(terminal.errors, '"tiny" does not support thinking');
});

Deno.test("/show tells about the model and the session", async () => {
  const facts = {
    license: "MIT\x1b[2J",
    modelfile: "FROM tiny",
    parameters: 'stop                           "<end>"\n',
    system: "Own system.",
    details: { family: "llama", parameter_size: "1B", quantization_level: "Q4_0" },
  };
  const keys = lines(
    "/set parameter seed 7",
    "/show info",
    "/show license",
    "/show modelfile",
    "/show parameters",
    "/show system",
    "/set system Other.",
    "/show system",
    "/show template",
    "/show systm",
  );
  const { terminal } = await runModel(undefined, { keys, server: { facts } });
  const said = spoken(terminal.output);
  for (
    const part of [
      "quantization    Q4_0",
      "\nMIT[2J\n",
      "\nFROM tiny\n",
      'Model defined parameters:\n  stop                           "<end>"\n',
      "User defined parameters:\n  seed                           7\n",
      "\nOwn system.\n",
      "\nOther.\n",
      "\n{{ .Prompt }}\n",
    ]
  ) assertStringIncludes(said, part);
  assertStringIncludes(terminal.errors, 'There is no "systm" to show. Did you mean "system"?');
});

Deno.test("/save makes a model of the session", async () => {
  const keys = lines(
    "/set system Be brief.",
    "/set parameter seed 7",
    "One",
    "/save mine",
    "/save",
  );
  const { server, terminal } = await runModel(undefined, { keys });
  assertEquals(server.requests.find(({ path }) => path === "/api/create")?.body, {
    model: "mine",
    from: "tiny",
    stream: false,
    system: "Be brief.",
    parameters: { seed: 7 },
    messages: [{ role: "user", content: "One" }, { role: "assistant", content: "Hello" }],
  });
  assertStringIncludes(spoken(terminal.output), "Created new model 'mine'\n");
  assertStringIncludes(terminal.errors, "Name one model: /save <model>");
});

Deno.test("/load goes on with another model, or stays if there is none", async () => {
  const keys = lines("One", "/load other", "Two", "/load none", "Three");
  const server = { models: ["tiny", "other"], words: counted };
  const { asked, terminal } = await runModel(undefined, { keys, server });
  assertEquals(asked.map(({ model }) => model), ["tiny", "other", "other"]);
  assertEquals(contentsOf(asked), [["One"], ["Two"], ["Two", "answer 1", "Three"]]);
  assertStringIncludes(terminal.errors, 'Cannot load "none": it is not on this machine.');
});

Deno.test("the conversation of a saved model is shown when it begins", async () => {
  const messages = [{ role: "user", content: "Hi" }, { role: "assistant", content: "Ho\x07" }];
  const { terminal, server } = await runModel(undefined, {
    keys: lines("More", "/save again"),
    server: { facts: { messages } },
  });
  assertStringIncludes(spoken(terminal.output), ">>> Hi\nHo\n\n");
  const { body } = server.requests.find(({ path }) => path === "/api/create")!;
  const said = body.messages.map((turn: { content: string }) => turn.content);
  assertEquals(said, ["Hi", "Ho\x07", "More", "Hello"]);
});

Deno.test("a command that there is not gets a suggestion, a path is no command", async () => {
  const keys = lines("/shwo info", "/frobnicate", "/etc/hosts is what?", "/? shortcuts", "/? x");
  const { asked, terminal } = await runModel(undefined, { keys });
  assertEquals(asked[0].messages[0].content, "/etc/hosts is what?");
  assertStringIncludes(terminal.errors, "There is no command /shwo. Did you mean /show? Type /?");
  assertStringIncludes(terminal.errors, "There is no command /frobnicate. Type /? for help.");
  assertStringIncludes(terminal.errors, 'There is no help on "x".');
  assertStringIncludes(spoken(terminal.output), "Ctrl + r");
});

Deno.test("/set verbose and quiet, wordwrap and nowordwrap hold from then on", async () => {
  const terminal = personsTerminal(30);
  const words = ["some words that are longer than the window"];
  const keys = lines("/set verbose", "One", "/set quiet", "/set nowordwrap", "Two");
  await runModel(undefined, { keys, terminal, server: { words } });
  assertEquals(terminal.errors.match(/eval rate/g)?.length, 2);
  assertStringIncludes(terminal.output, "longer th\x1b[2D\x1b[K\nthan the window\n");
  assertStringIncludes(terminal.output, "some words that are longer than the window\n");
});

Deno.test("/load leaves thinking out for a model that does not think", async () => {
  const server: FakeOllamaOptions = { facts: { capabilities: ["completion", "thinking"] } };
  const keys = [
    "/set think\r",
    "One\r",
    () => void (server.facts = {}),
    "/load other\r",
    "Two\r",
  ];
  const { asked } = await runModel(undefined, { keys, server });
  assertEquals(asked.map(({ think }) => think), [true, undefined]);
});
