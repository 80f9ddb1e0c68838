// Conversations typed at a fake terminal: what is asked of the server, what is said, and what stays.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTerminal } from "../fake_terminal.ts";
import { until } from "../../../until.ts";
import { contentsOf, lines, personsTerminal, runModel, spoken } from "./run_world.ts";

Deno.test("the REPL holds a conversation until /bye", async () => {
  const keys = lines("One", "", "Two", "/clear", "Three", "/bye", "Four");
  const { code, asked, server, keyboard, terminal } = await runModel(undefined, { keys });
  assertEquals(contentsOf(asked), [["One"], ["One", "Hello", "Two"], ["Three"]]);
  assertEquals([code, keyboard.mode, terminal.listeners], [0, "lines", 0]);
  // The first request after /api/show has the model loaded, with the options of all others.
  assertEquals<unknown>(server.requests[1], {
    path: "/api/generate",
    body: { model: "tiny", options: {}, stream: false },
  });
});

Deno.test("Ctrl-D, /exit and a terminal that is gone end the REPL with 0", async () => {
  for (const keys of [["\x04"], ["/exit\r"], ["half a line"]]) {
    const { code, asked, keyboard } = await runModel(undefined, { keys });
    assertEquals([code, asked.length, keyboard.mode], [0, 0, "lines"]);
  }
});

Deno.test("a request to terminate ends the wait for a prompt", async () => {
  const terminal = personsTerminal();
  const running = runModel(undefined, {
    terminal,
    keys: ["half", () => terminal.interrupt(), () => new Promise(() => {})],
  });
  const { code, keyboard } = await running;
  assertEquals([code, keyboard.mode], [130, "lines"]);
});

Deno.test("Ctrl-C gives up what is typed, and at an empty prompt says how to leave", async () => {
  const keys = ["typed\x03", "\x03", "\x04"];
  const { asked, terminal } = await runModel(undefined, { keys });
  assertEquals(asked, []);
  assertEquals(terminal.output.match(/Use Ctrl \+ d or \/bye to exit\./g)?.length, 1);
});

Deno.test("Ctrl-C stops an answer, whose beginning stays in the conversation", async () => {
  const terminal = personsTerminal();
  const keys = [
    "One\r",
    () => assertStringIncludes(terminal.output, "word word"),
    "Two\r",
    "/bye\r",
  ];
  let count = 0;
  const words = () => count++ === 0 ? Array(1000).fill("word ") : ["fine"];
  const running = runModel(undefined, { terminal, keys, server: { words, delay: 3 } });
  await until(() => terminal.output.includes("word word"));
  terminal.interrupt();
  const { code, asked, server } = await running;
  assertEquals([code, server.cut], [0, 1]);
  const [one, said, two] = contentsOf(asked)[1];
  assertEquals([one, two], ["One", "Two"]);
  assert(/^(word )+$/.test(said) && said.length < 1000, said);
});

Deno.test("a failing answer keeps the conversation, without the turn that got no answer", async () => {
  const terminal = personsTerminal();
  const options: { words: string[]; error?: string } = { words: ["ok"] };
  const keys = [
    "One\r",
    () => void (options.error = "too long", options.words = []),
    "Two\r",
    () => void (delete options.error, options.words = ["ok"]),
    "Three\r",
  ];
  const { code, asked } = await runModel(undefined, { terminal, keys, server: options });
  assertEquals(contentsOf(asked).at(-1), ["One", "ok", "Three"]);
  assertEquals([code, terminal.errors], [0, "Error: too long\n"]);
});

Deno.test("messages of several lines: fences, a paste, Alt-Enter", async () => {
  const keys = [
    '"""one\r',
    'two"""\r',
    "\x1b[200~three\r\nfour\x1b[201~",
    "\r",
    "five\x1b\rsix\r",
  ];
  const { asked, terminal } = await runModel(undefined, { keys });
  const last = asked.map(({ messages }) => messages.at(-1).content);
  assertEquals(last, ["one\ntwo", "three\nfour", "five\nsix"]);
  assertStringIncludes(terminal.output, "... two");
});

Deno.test("a model without a template continues each text by itself", async () => {
  const keys = lines("One", "Two");
  const { asked } = await runModel(undefined, { keys, server: { facts: { template: "" } } });
  assertEquals(asked.map(({ prompt }) => prompt), ["One", "Two"]);
  for (const facts of [{ renderer: "x" }, { remote_host: "http://x.test" }]) {
    const server = { facts: { template: "", ...facts } };
    assertEquals((await runModel(undefined, { keys, server })).asked[1].messages.length, 3);
  }
});

Deno.test("what is typed is in the history of the next run, unless it is off", async () => {
  const home = await Deno.makeTempDir();
  const environment = { HOME: home };
  const path = `${home}/.quern/history`;
  await runModel(undefined, {
    environment,
    keys: lines("One", "/set nohistory", "Secret", "/set history", "Two"),
  });
  assertEquals(await Deno.readTextFile(path), "One\n/set nohistory\nTwo\n");
  const again = await runModel(undefined, { environment, keys: ["\x1b[A\x1b[A\x1b[A\r"] });
  assertEquals(again.asked[0].messages[0].content, "One");
  const before = await Deno.readTextFile(path);
  const off = { ...environment, OLLAMA_NOHISTORY: "1" };
  const without = await runModel(undefined, { environment: off, keys: ["\x1b[A\r", "Three\r"] });
  assertEquals(without.asked.length, 1);
  assertEquals(await Deno.readTextFile(path), before);
  await Deno.remove(home, { recursive: true });
});

Deno.test("a history that cannot be read or written keeps nobody from talking", async () => {
  const home = await Deno.makeTempDir();
  const { asked, terminal } = await runModel(undefined, {
    environment: { HOME: await Deno.makeTempFile({ dir: home }) },
    keys: lines("One"),
  });
  assertEquals(asked.length, 1);
  assertStringIncludes(terminal.errors, "Warning: what was typed before is not there: ");
  await Deno.symlink("nowhere", `${home}/.quern`);
  const second = await runModel(undefined, {
    environment: { HOME: home },
    keys: lines("One", "Two"),
  });
  assertEquals(second.asked.length, 2);
  assertEquals(second.terminal.errors.match(/what is typed is not kept/g)?.length, 1);
  await Deno.remove(home, { recursive: true });
});

Deno.test("Ctrl-Z gives the terminal back and draws anew, Ctrl-L clears the window", async () => {
  const { keyboard, terminal, asked } = await runModel(undefined, { keys: ["ab\x1ac\x0c\r"] });
  assertEquals([keyboard.suspended, asked[0].messages[0].content], [1, "abc"]);
  assertStringIncludes(terminal.output, "\x1b[H\x1b[2J");
});

Deno.test("a terminal that nothing can be drawn on is read line by line", async () => {
  const terminal = new FakeTerminal(["One", '"""two', 'lines"""', "/bye"], true);
  terminal.stdoutIsTerminal = true;
  const environment = { TERM: "dumb" };
  const { code, asked } = await runModel(undefined, { terminal, environment });
  assertEquals([code, contentsOf(asked).at(-1)], [0, ["One", "Hello", "two\nlines"]]);
  assertEquals(terminal.output, "Hello\n\nHello\n\n");
});

Deno.test("with standard output in a file, the prompt is where the errors are", async () => {
  const terminal = personsTerminal();
  terminal.stdoutIsTerminal = false;
  terminal.stderrIsTerminal = true;
  await runModel(undefined, { terminal, keys: lines("One", "/clear", "/bye") });
  assertEquals(terminal.output, "Hello\n");
  assertStringIncludes(spoken(terminal.errors), ">>> One");
  assertStringIncludes(terminal.errors, "Cleared session context");
});
