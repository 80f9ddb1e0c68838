// Sessions over models that say what is written down: the loop of tools and its bounds, structured
// answers, branches, and what is left after a failure.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  AnswerError,
  type ArgumentsOf,
  type CallResult,
  nextTask,
  RequestError,
  Session,
  type SessionEvent,
  tool,
  type ValueOf,
} from "../../../engine/mod.ts";
import { parsePartial } from "../../../engine/session/partial.ts";
import { fakeUsage, saysForever } from "../../server/fake_model.ts";
import { evenNumbers, type Said, scripted } from "./script.ts";

const add = tool({
  description: "Adds two numbers",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  run: ({ a, b }) => a + b,
});

const callAdd: Said = { calls: [["add", { a: 2, b: 3 }]] };

/** A type, if it is another one exactly. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? A : never;

const rolesOf = (session: Session) => session.messages.map(({ role }) => role);
const contents = (results: readonly CallResult[]) => results.map(({ content }) => content);

Deno.test("a call is carried out, and its result is told to the model", async () => {
  const model = scripted(callAdd, "It is 5.");
  const session = new Session(model, { system: "You add.", tools: { add } });
  const answer = await session.send("What is 2 + 3?");
  assertEquals([answer.text, answer.rounds, answer.reason], ["It is 5.", 2, "stop"]);
  assertEquals(answer.calls, [{
    id: "call_1",
    name: "add",
    arguments: { a: 2, b: 3 },
    content: "5",
    isError: false,
  }]);
  assertEquals(model.asked[1]!.messages, [
    { role: "system", content: "You add." },
    { role: "user", content: "What is 2 + 3?" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "call_1", function: { name: "add", arguments: { a: 2, b: 3 } } }],
    },
    { role: "tool", content: "5", toolName: "add", toolCallId: "call_1" },
  ]);
  assertEquals(rolesOf(session), ["user", "assistant", "tool", "assistant"]);
  assertEquals(model.asked[0]!.tools![0]!.function.parameters, add.parameters);
});

Deno.test("a turn is a stream of what happens, and a promise of the answer", async () => {
  const session = new Session(scripted(callAdd, "It is 5."), { tools: { add } });
  const turn = session.send("What is 2 + 3?");
  const kinds: SessionEvent["type"][] = [];
  for await (const { type } of turn) kinds.push(type);
  assertEquals(kinds, [
    ...["start", "callStart", "callArguments", "callEnd", "result"],
    ...["start", "text", "text", "text", "answer"],
  ]);
  assertEquals(await Array.fromAsync(turn.texts()), ["It ", "is ", "5."]);
  assertEquals((await turn).text, "It is 5.");
});

Deno.test("what a tool throws is told to the model, which goes on", async () => {
  const broken = tool({
    run() {
      throw new Error("no connection");
    },
  });
  const model = scripted({ calls: [["broken", {}]] }, "Sorry.");
  const answer = await new Session(model, { tools: { broken } }).send("Go");
  assertEquals(answer.calls.map(({ content, isError }) => [content, isError]), [
    ["Error: no connection", true],
  ]);
  assertEquals(model.asked[1]!.messages.at(-1)!.content, "Error: no connection");
  assertEquals(answer.text, "Sorry.");
});

Deno.test("arguments that the validator refuses do not reach the tool", async () => {
  const reached: number[] = [];
  const half = tool({
    parameters: evenNumbers(),
    run: ({ count }) => (reached.push(count), count / 2),
  });
  const model = scripted(
    { calls: [["half", { count: 3 }]] },
    { calls: [["half", { count: 4 }]] },
    "It is 2.",
  );
  const { calls } = await new Session(model, { tools: { half } }).send("Go");
  assertEquals(contents(calls), ["Error: the arguments are invalid: count: it is odd", "2"]);
  assertEquals(reached, [4]);
});

Deno.test("a tool gets what its validator makes of the arguments", async () => {
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => ({ value: new Date((value as { day: string }).day) }),
      jsonSchema: { input: () => ({ type: "object", properties: { day: { type: "string" } } }) },
    },
  };
  const model = scripted({ calls: [["weekday", { day: "2026-11-29" }]] }, "Sunday.");
  const weekday = tool({ parameters: schema, run: (day) => day.getUTCDay() });
  const { calls } = await new Session(model, { tools: { weekday } }).send("Go");
  assertEquals(contents(calls), ["0"]);
});

Deno.test("calls of one answer run at the same time, and their results keep their order", async () => {
  let [running, most] = [0, 0];
  const all = Promise.withResolvers<void>();
  const waitFor = (begun: Promise<void>) =>
    tool({
      parameters: {
        type: "object",
        properties: { turns: { type: "number" } },
        required: ["turns"],
      },
      async run({ turns }) {
        most = Math.max(most, ++running);
        if (running === 3) all.resolve();
        await begun;
        for (let turn = 0; turn < turns; turn++) await nextTask();
        running--;
        return turns;
      },
    });
  const calls: Said = { calls: [30, 1, 10].map((turns) => ["wait", { turns }]) };
  const tools = { wait: waitFor(all.promise) };
  const parallel = await new Session(scripted(calls, "Done."), { tools }).send("Go");
  assertEquals([most, contents(parallel.calls)], [3, ["30", "1", "10"]]);
  most = 0;
  const options = { tools: { wait: waitFor(Promise.resolve()) }, concurrency: 1 };
  const inTurn = await new Session(scripted(calls, "Done."), options).send("Go");
  assertEquals([most, contents(inTurn.calls)], [1, ["30", "1", "10"]]);
});

Deno.test("a call begins while the model still writes the next one", async () => {
  const order: string[] = [];
  const note = tool({ run: () => void order.push("run") });
  const session = new Session(scripted({ calls: [["note", {}], ["note", {}]] }, "Done."), {
    tools: { note },
  });
  for await (const { type } of session.send("Go")) if (type === "callEnd") order.push(type);
  assertEquals(order.includes("run"), true);
});

Deno.test("the loop ends with text: in its last round the model gets no tools to call", async () => {
  const model = scripted(callAdd, callAdd, "It is 5.");
  const session = new Session(model, { tools: { add }, maxRounds: 3 });
  const answer = await session.send("Add for ever");
  assertEquals([answer.reason, answer.rounds, answer.text], ["rounds", 3, "It is 5."]);
  assertEquals(model.asked.map(({ toolChoice }) => toolChoice), [undefined, "auto", "none"]);
  // The prompt still tells of them, so that the cache holds.
  assertEquals(model.asked[2]!.tools, model.asked[0]!.tools);
});

Deno.test("one round is one answer, whose calls are carried out", async () => {
  const session = new Session(scripted(callAdd, "It is 5."), { tools: { add } });
  const answer = await session.send("2 + 3?", { maxRounds: 1 });
  assertEquals([answer.reason, contents(answer.calls)], ["rounds", ["5"]]);
  assertEquals(rolesOf(session), ["user", "assistant", "tool"]);
  assertEquals((await session.send("And?")).text, "It is 5.");
});

Deno.test("calls beyond the most are refused", async () => {
  const three: Said = { calls: Array.from({ length: 3 }, () => ["add", { a: 1, b: 1 }] as const) };
  const session = new Session(scripted(three, three, "2."), { tools: { add }, maxCalls: 4 });
  const { calls } = await session.send("Go");
  const refused = "Error: no more calls are carried out, 4 were";
  assertEquals(contents(calls), ["2", "2", "2", "2", refused, refused]);
});

Deno.test("a required call is required once", async () => {
  const model = scripted(callAdd, "5.");
  await new Session(model, { tools: { add } }).send("Go", { toolChoice: { name: "add" } });
  assertEquals(model.asked.map(({ toolChoice }) => toolChoice), [{ name: "add" }, "auto"]);
});

Deno.test("a call that is not approved does not run, and the model hears why", async () => {
  const ran: unknown[] = [];
  const erase = tool({ run: (given) => ran.push(given) });
  const options = { tools: { erase }, approve: () => "the user said no" };
  const model = scripted({ calls: [["erase", {}]] }, "Then not.");
  const { calls } = await new Session(model, options).send("Go");
  assertEquals([contents(calls), ran], [["Error: the call was refused: the user said no"], []]);
});

Deno.test("a tool that takes too long is given up, and told to stop", async () => {
  let signal: AbortSignal | undefined;
  const slow = tool({
    timeout: 5,
    run: (_, context) => (signal = context.signal, new Promise(() => {})),
  });
  const { calls } = await new Session(scripted({ calls: [["slow", {}]] }, "Well."), {
    tools: { slow },
  }).send("Go");
  assertEquals(contents(calls), ["Error: the tool took longer than 5 ms"]);
  assert(signal?.aborted);
});

Deno.test("a turn that is aborted while a tool runs ends at once, and leaves no trace", async () => {
  const abort = new AbortController();
  let heard: AbortSignal | undefined;
  const hang = tool({
    run(_, { signal }) {
      heard = signal;
      abort.abort(new Error("enough"));
      return new Promise(() => {});
    },
  });
  const session = new Session(scripted({ calls: [["hang", {}]] }, "Never."), { tools: { hang } });
  await assertRejects(
    async () => await session.send("Go", { signal: abort.signal }),
    Error,
    "enough",
  );
  assert(heard?.aborted);
  assertEquals([session.messages, session.usage, session.head], [[], undefined, undefined]);
});

Deno.test("a turn that is aborted while the model speaks ends the model's answer", async () => {
  const model = scripted();
  const ended = Promise.withResolvers<void>();
  model.script = saysForever(ended.resolve);
  const session = new Session(model);
  const turn = session.send("Go");
  for await (const { type } of turn) {
    if (type !== "text") continue;
    turn.abort(new Error("enough"));
    break;
  }
  await assertRejects(async () => await turn, Error, "enough");
  await ended.promise;
  model.script = scripted("Hello.").script;
  assertEquals((await session.send("Again")).text, "Hello.");
});

Deno.test("a failure of the model ends the turn, its calls too, and leaves the conversation", async () => {
  const session = new Session(scripted("One.", new Error("lost"), "Two."), { tools: { add } });
  await session.send("First");
  const before = session.messages;
  const turn = session.send("Second");
  await assertRejects(async () => await Array.fromAsync(turn), Error, "lost");
  assertEquals(session.messages, before);
  assertEquals((await session.send("Third")).text, "Two.");
});

Deno.test("a tool without a function waits for the program", async () => {
  const model = scripted(
    { calls: [["ask", { what: "name" }], ["add", { a: 1, b: 1 }]] },
    "Hello, Ada.",
  );
  const ask = tool({ parameters: { type: "object", properties: { what: { type: "string" } } } });
  const session = new Session(model, { tools: { ask, add } });
  const { reason, pending, calls } = await session.send("Greet me");
  assertEquals([reason, pending.map(({ name }) => name), contents(calls)], ["calls", ["ask"], [
    "2",
  ]]);
  assertEquals(session.pending, pending);
  assertThrows(() => session.send("Hello?"), RequestError, 'the call of "ask" waits');
  assertThrows(() => session.answerCalls([{ id: "x" }]), RequestError, 'the call "x"');
  assertThrows(() => session.answerCalls([]), RequestError, 'that of "ask" has no result');
  const answer = await session.answerCalls([{ id: pending[0]!.id, result: { name: "Ada" } }]);
  assertEquals(answer.text, "Hello, Ada.");
  assertEquals(model.asked[1]!.messages.at(-1), {
    role: "tool",
    content: '{"name":"Ada"}',
    toolName: "ask",
    toolCallId: "call_1",
  });
  assertEquals(session.pending, []);
});

Deno.test("a structured answer is a value of its schema's type", async () => {
  const model = scripted('{"name": "Ada", "age": 36}');
  const answer = await new Session(model).send("Who?", {
    schema: {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name"],
    },
  });
  // Types are checked by `deno task check`.
  const value: Same<typeof answer.value, { name: string; age?: number }> = answer.value;
  assertEquals([value.name, value.age], ["Ada", 36]);
  const { format } = model.asked[0]!;
  assert(typeof format === "object" && "schema" in format);
});

Deno.test("a structured answer that its validator refuses is mended, and only the good one kept", async () => {
  const model = scripted('{"count": 3}', '{"count": 4}');
  const session = new Session(model, { tools: { add } });
  const answer = await session.send("An even number", { schema: evenNumbers() });
  assertEquals([answer.value.count, answer.rounds], [4, 2]);
  assertEquals(model.asked[1]!.messages.slice(-2), [
    { role: "assistant", content: '{"count": 3}' },
    { role: "user", content: "This answer is not valid: count: it is odd\nGive a valid one." },
  ]);
  assertEquals(model.asked[1]!.toolChoice, "none");
  assertEquals(session.messages.map(({ content }) => content), ["An even number", '{"count": 4}']);
});

Deno.test("a structured answer that stays invalid is an error with its text", async () => {
  const session = new Session(scripted('{"count": 3}', '{"count": 5}', "{"));
  const error = await assertRejects(
    async () => await session.send("Even!", { schema: evenNumbers() }),
    AnswerError,
    "count: it is odd",
  ) as AnswerError;
  assertEquals([error.text, session.messages], ['{"count": 5}', []]);
  const cut = async () => await session.send("Even!", { schema: evenNumbers(), retries: 0 });
  await assertRejects(cut, AnswerError, "no complete JSON");
});

Deno.test("a validator without a JSON Schema needs one beside it", async () => {
  const parameters = evenNumbers(false);
  const make = (extra: object) =>
    new Session(scripted("x"), { tools: { a: { parameters, ...extra } } });
  assertThrows(() => make({}), RequestError, 'the schema of the tool "a"');
  make({ jsonSchema: { type: "object" } });
  const session = new Session(scripted('{"count": 2}'));
  assertThrows(() => session.send("x", { schema: parameters }), RequestError, "of the answer");
  const schema = { schema: parameters, jsonSchema: { type: "object" } };
  assertEquals((await session.send("x", schema)).value, { count: 2 });
});

Deno.test("branches: another answer, another question, and back", async () => {
  const session = new Session(scripted("Red.", "Blue.", "Large.", "Small."));
  await session.send("A colour?");
  const first = session.head;
  await session.regenerate();
  assertEquals(session.messages.map(({ content }) => content), ["A colour?", "Blue."]);
  session.goTo(first);
  await session.send("And a size?");
  assertEquals(session.messages.map(({ content }) => content), [
    ...["A colour?", "Red.", "And a size?", "Large."],
  ]);
  session.goTo(undefined);
  await session.send("Size?");
  assertEquals(session.messages.map(({ content }) => content), ["Size?", "Small."]);
  assertEquals(session.nodes.length, 7);
  assertEquals(session.nodes.filter(({ parent }) => parent === "m1").length, 2);
  assertThrows(() => session.goTo("m99"), RequestError, '"m99"');
  assertThrows(() => new Session(scripted()).regenerate(), RequestError, "nothing was asked");
});

Deno.test("an answer again that fails leaves the conversation where it was", async () => {
  const session = new Session(scripted("Red.", new Error("lost")));
  await session.send("A colour?");
  await assertRejects(async () => await session.regenerate(), Error, "lost");
  assertEquals(session.messages.at(-1)!.content, "Red.");
});

Deno.test("a fork goes its own way, also at the same time", async () => {
  const session = new Session(scripted("Hello.", "One.", "Two."), { system: "Be terse." });
  await session.send("Hi");
  const fork = session.fork();
  const answers = await Promise.all([session.send("1"), fork.send("2")]);
  assertEquals(answers.map(({ text }) => text), ["One.", "Two."]);
  assertEquals(fork.messages.map(({ content }) => content), ["Hi", "Hello.", "2", "Two."]);
  assertEquals(session.messages.map(({ content }) => content), ["Hi", "Hello.", "1", "One."]);
  const turn = scripted("x");
  const busy = new Session(turn);
  const first = busy.send("1");
  assertThrows(() => busy.send("2"), RequestError, "the session is answering");
  await first;
});

Deno.test("a session is saved as JSON with its branches and pictures, and loaded", async () => {
  const session = new Session(scripted("A cat.", callAdd, "5."), {
    system: "You see.",
    tools: { add },
  });
  await session.send("What is this?", { images: [Uint8Array.of(1, 2, 255)] });
  await session.send("2 + 3?");
  const text = JSON.stringify(session.save());
  const model = scripted("Still 5.");
  const other = new Session(model, { tools: { add } }).load(JSON.parse(text));
  assertEquals(JSON.stringify(other.save()), text);
  await other.send("Sure?");
  const [system, user] = model.asked[0]!.messages;
  assertEquals(system, { role: "system", content: "You see." });
  assertEquals(user!.images, ["AQL/"]);
  assertEquals(other.messages.length, session.messages.length + 2);
  assertEquals(new Set(other.nodes.map(({ id }) => id)).size, other.nodes.length);
});

Deno.test("what is no saved session is refused, naming the member", () => {
  const saved = { format: "quern.session", version: 1, nodes: [] } as const;
  const message = { role: "user", content: "Hi" } as const;
  const wrong: [state: string, given: unknown][] = [
    ['its format is not "quern.session"', {}],
    ["its version is 2", { ...saved, version: 2 }],
    ["nodes is no list", { ...saved, nodes: {} }],
    ['nodes[0].id is not "m1"', { ...saved, nodes: [{ id: "m2", message }] }],
    ["nodes[0].parent", { ...saved, nodes: [{ id: "m1", parent: "m1", message }] }],
    ["nodes[0].message", { ...saved, nodes: [{ id: "m1", message: { role: "robot" } }] }],
    ["head is none", { ...saved, head: "m1" }],
  ];
  for (const [state, given] of wrong) {
    assertThrows(() => new Session(scripted()).load(given as typeof saved), RequestError, state);
  }
});

Deno.test("usage adds up over rounds and turns", async () => {
  const session = new Session(scripted(callAdd, "5.", "Bye."), { tools: { add } });
  const { usage } = await session.send("2 + 3?");
  assertEquals(usage.promptTokens, 2 * fakeUsage.promptTokens);
  await session.send("Bye");
  assertEquals(session.usage!.completionTokens, 3 * fakeUsage.completionTokens);
});

Deno.test("options of the session are those of each turn, which may have its own", async () => {
  const model = scripted("a", "b");
  const session = new Session(model, { temperature: 0, maxTokens: 5 });
  await session.send("1");
  await session.send("2", { temperature: 1 });
  assertEquals(model.asked.map(({ temperature, maxTokens }) => [temperature, maxTokens]), [
    [0, 5],
    [1, 5],
  ]);
  assertThrows(() => session.send("3", { maxRounds: 0 }), RequestError, "maxRounds is 0");
  assertThrows(() => new Session(model, { concurrency: NaN }), RequestError, "concurrency");
});

Deno.test("the types of arguments follow from their schema", () => {
  const schema = {
    type: "object",
    properties: {
      kind: { enum: ["a", "b"] },
      list: { type: "array", items: { type: ["integer", "null"] } },
      deep: { properties: { on: { type: "boolean" } }, required: ["on"] },
      any: {},
    },
    required: ["kind", "deep"],
  } as const;
  interface Expected {
    kind: "a" | "b";
    list?: (number | null)[];
    deep: { on: boolean };
    any?: unknown;
  }
  const given: Expected = { kind: "a", list: [1, null], deep: { on: true } };
  const value: Same<ValueOf<typeof schema>, Omit<Expected, never>> = given;
  const plain: Same<ArgumentsOf<Record<string, unknown>>, Record<string, unknown>> = {};
  const validated: Same<ValueOf<ReturnType<typeof evenNumbers>>, { count: number }> = { count: 2 };
  assertEquals([value.kind, plain, validated.count], ["a", {}, 2]);
});

Deno.test("a structured answer shows while it is written", async () => {
  const session = new Session(scripted('{"name": "Ada L.", "tags": ["a b", "c"]}'));
  const turn = session.send("Who?", { schema: { type: "object" } });
  const seen = await Array.fromAsync(turn.partials());
  assertEquals(seen, [
    {},
    { name: "Ada " },
    { name: "Ada L." },
    { name: "Ada L.", tags: ["a "] },
    { name: "Ada L.", tags: ["a b"] },
    { name: "Ada L.", tags: ["a b", "c"] },
  ]);
});

Deno.test("every beginning of a JSON text has a value that the whole one goes on from", () => {
  const whole = { 'a"b': [1.5, -2e3, true, null, "x\\y\u00e9\n"], c: { d: [[], {}], e: "" } };
  const text = JSON.stringify(whole, null, 1);
  const goesOn = (begun: unknown, end: unknown): boolean =>
    typeof begun === "object" && begun !== null
      ? Object.entries(begun).every(([key, value]) =>
        goesOn(value, (end as Record<string, unknown>)[key])
      )
      : typeof begun === "string"
      ? (end as string).startsWith(begun)
      : typeof begun === typeof end;
  for (let length = 1; length <= text.length; length++) {
    assert(goesOn(parsePartial(text.slice(0, length)), whole), text.slice(0, length));
  }
  assertEquals([parsePartial(text), parsePartial(""), parsePartial("tr")], [
    whole,
    undefined,
    undefined,
  ]);
});
