// What a request asks of its answer under any of the names that the APIs and other servers have for it
// reaches the model, on every route: the form of the answer, how it is sampled, whether the model thinks.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { says } from "../../fake_model.ts";
import { createTestApp, readLines } from "../../test_app.ts";
import { readEvents } from "./openai/openai_scripts.ts";
import { able, ANSWERING, ask } from "./routes_of_answers.ts";

const schema = { type: "object", properties: { a: { type: "integer" } } };
const json = JSON.stringify(schema);
const root = 'root ::= "yes" | "no"';

/** Members, and the format that they ask for. */
const FORMATS: [members: object, format: unknown][] = [
  [{ format: schema }, { schema }],
  [{ format: "json" }, "json"],
  [{ pattern: "[a-c]+" }, { pattern: "[a-c]+" }],
  [{ grammar: root }, { grammar: root }],
  [{ response_format: { type: "json_object" } }, "json"],
  [{ response_format: { type: "json_object", schema } }, { schema }],
  [{ response_format: { type: "json_object", value: schema } }, { schema }],
  [{ response_format: { type: "json", value: schema } }, { schema }],
  [{ response_format: { type: "json_schema", schema } }, { schema }],
  [
    { response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema } } },
    { schema },
  ],
  [{ response_format: { type: "regex", pattern: "a+" } }, { pattern: "a+" }],
  [{ response_format: { type: "regex", value: "a+" } }, { pattern: "a+" }],
  [{ response_format: { type: "grammar", grammar: root } }, { grammar: root }],
  [{ structured_outputs: { json: schema } }, { schema }],
  [{ structured_outputs: { json, disable_any_whitespace: true } }, { schema: json }],
  [{ structured_outputs: { regex: "a+" } }, { pattern: "a+" }],
  [{ structured_outputs: { grammar: root } }, { grammar: root }],
  [{ structured_outputs: { json_object: true } }, "json"],
  [{ json_schema: schema }, { schema }],
  [{ json_schema: json }, { schema: json }],
  [{ regex: "a+" }, { pattern: "a+" }],
  [{ ebnf: root }, { grammar: root }],
  [{ guided_json: schema, guided_decoding_backend: "xgrammar" }, { schema }],
  [{ guided_regex: "a+" }, { pattern: "a+" }],
  [{ guided_grammar: root }, { grammar: root }],
];

for (const path of Object.keys(ANSWERING)) {
  Deno.test(`a format reaches the model by any of its names, on ${path}`, async () => {
    for (const [members, format] of FORMATS) {
      const { status, request, message } = await ask(path, members);
      assertEquals([members, status, message], [members, 200, undefined]);
      assertEquals([members, request.format], [members, format]);
    }
  });

  Deno.test(`an answer that is one of some texts is such a pattern, on ${path}`, async () => {
    const texts = ["yes", "no (or not)", "a|b", "zwölf\n"];
    for (
      const members of [{ guided_choice: texts }, { structured_outputs: { choice: texts } }]
    ) {
      const { pattern } = (await ask(path, members)).request.format;
      const read = new RegExp(`^(?:${pattern})$`, "u");
      assertEquals(texts.map((text) => read.test(text)), [true, true, true, true]);
      assertEquals(["", "yesno", "a", "no"].some((text) => read.test(text)), false);
    }
  });

  Deno.test(`two formats, and what does not go with a type, are refused on ${path}`, async () => {
    const faults: [object, string, string][] = [
      [
        { guided_json: schema, regex: "a" },
        "regex and guided_json exclude each other: give one",
        "guided_json",
      ],
      [
        { structured_outputs: { json: schema, choice: ["a"] } },
        "structured_outputs.json and structured_outputs.choice exclude each other",
        "structured_outputs.choice",
      ],
      [
        { response_format: { type: "json_object" }, pattern: "a" },
        "pattern and response_format exclude each other",
        "response_format",
      ],
      [
        { response_format: { type: "text", schema } },
        "response_format.schema does not go with the type text",
        "response_format",
      ],
      [
        { response_format: { type: "json_object", pattern: "a" } },
        "response_format.pattern does not go with the type json_object",
        "response_format",
      ],
      [
        { response_format: { type: "regex" } },
        'response_format of type regex lacks "pattern"',
        "response_format",
      ],
      [{ format: 5 }, "invalid format: 5", "format"],
    ];
    for (const [members, sentence, member] of faults) {
      const { status, message, param } = await ask(path, members);
      assertEquals([members, status], [members, 400]);
      assertStringIncludes(message!, sentence);
      if (path.startsWith("/v1/") && path !== "/v1/messages") assertEquals(param, member);
    }
  });

  Deno.test(`options reach the model by any of their names, on ${path}`, async () => {
    const wishes: [object, object][] = [
      [{ temperature: 0.25, top_p: 0.5, top_k: 7, min_p: 0.125, seed: 3 }, {
        temperature: 0.25,
        topP: 0.5,
        topK: 7,
        minP: 0.125,
        seed: 3,
      }],
      [{ top_k: -1 }, { topK: 0 }],
      [{ repeat_penalty: 1.5, repeat_last_n: 9 }, { repeatPenalty: 1.5, repeatLastN: 9 }],
      [{ repetition_penalty: 1.5 }, { repeatPenalty: 1.5, repeatLastN: -1 }],
      [{ repetition_penalty: 1, options: { repeat_last_n: 5 } }, { repeatLastN: 5 }],
      [{ presence_penalty: 0.5, frequency_penalty: 0.25 }, {
        presencePenalty: 0.5,
        frequencyPenalty: 0.25,
      }],
      [{ stop: "END" }, { stop: ["END"] }],
      [{ stop: ["A", "B"] }, { stop: ["A", "B"] }],
      [{ max_tokens: 5 }, { maxTokens: 5 }],
      [{ ignore_eos: true }, { ignoreEnd: true }],
      [{ include_stop_str_in_output: true }, { includeStop: true }],
      [{ no_stop_trim: true }, { includeStop: true }],
      [{ t_max_predict_ms: 250 }, { maxMilliseconds: 250 }],
      [
        {
          samplers: ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc"],
        },
        {
          temperature: 1,
          dynatempRange: 0,
        },
      ],
      [
        { samplers: ["top_k", "temperature"], top_k: 3, top_p: 0.5, min_p: 0.25, temperature: 0.5 },
        {
          topK: 3,
          topP: 1,
          minP: 0,
          typicalP: 1,
          topNSigma: 0,
          xtcProbability: 0,
          dryMultiplier: 0,
          repeatPenalty: 1,
          temperature: 0.5,
        },
      ],
      [{ samplers: "mt", min_p: 0.25 }, { topK: 0, topP: 1, minP: 0.25 }],
      [{ top_n_sigma: 1.5, typical_p: 0.5, xtc_probability: 0.5, xtc_threshold: 0.25 }, {
        topNSigma: 1.5,
        typicalP: 0.5,
        xtcProbability: 0.5,
        xtcThreshold: 0.25,
      }],
      [{ mirostat: 2, mirostat_tau: 3, options: { mirostat_eta: 0.25 } }, {
        mirostat: 2,
        mirostatTau: 3,
        mirostatEta: 0.25,
      }],
      [{ dynatemp_range: 0.5, dynatemp_exponent: 2, min_tokens: 3, bad_words: ["a b"] }, {
        dynatempRange: 0.5,
        dynatempExponent: 2,
        minTokens: 3,
        badWords: ["a b"],
      }],
      [
        {
          options: { dry_multiplier: 0.5, dry_base: 2, dry_allowed_length: 3 },
          dry_penalty_last_n: 64,
          dry_sequence_breakers: ["x"],
        },
        { dryMultiplier: 0.5, dryBase: 2, dryAllowedLength: 3, dryLastN: 64, dryBreakers: ["x"] },
      ],
      [{ logit_bias: { 5: -100, "a b": 1.5, 7: false } }, {
        logitBias: [[5, -100], [7, -Infinity], ["a b", 1.5]],
      }],
      [{ logit_bias: [[5, -100], ["a b", false]] }, {
        logitBias: [[5, -100], ["a b", -Infinity]],
      }],
      [{ stop_token_ids: [3, 4], allowed_token_ids: [5] }, {
        stopTokens: [3, 4],
        allowedTokens: [5],
      }],
      [{ num_ctx: 512 }, { contextLength: 512 }],
      [{ options: { seed: 1, top_k: 2 }, seed: 4 }, { seed: 4, topK: 2 }],
      [{ think_budget: 9 }, { thinkBudget: 9 }],
      [{ open_objects: true }, { openObjects: true }],
    ];
    for (const [members, options] of wishes) {
      const { status, request, message } = await ask(path, members);
      assertEquals([members, status, message], [members, 200, undefined]);
      const reached = Object.keys(options).map((name) => [name, request[name]]);
      assertEquals([members, Object.fromEntries(reached)], [members, options]);
    }
  });

  Deno.test(`how long a model stays may be said as LM Studio says it, on ${path}`, async () => {
    const app = createTestApp(able);
    await ask(path, { ttl: 90 }, app);
    const [running] = app.manager.running();
    const left = (running!.expiresAt! - Date.now()) / 1000;
    assertEquals(left > 80 && left <= 90, true, `${left} s`);
  });
}

const limits: [path: string, members: object][] = [
  ["/v1/chat/completions", { max_tokens: 5, max_completion_tokens: 4 }],
  ["/v1/completions", { n_predict: 4 }],
  ["/v1/responses", { max_output_tokens: 4 }],
  ["/api/chat", { max_output_tokens: 4, options: { num_predict: 9 } }],
  ["/api/generate", { num_predict: 4 }],
];
for (const [path, members] of limits) {
  Deno.test(`${Object.keys(members)[0]} bounds the answer of ${path}`, async () => {
    assertEquals((await ask(path, members)).request.maxTokens, 4);
  });
}

const thinking = Object.keys(ANSWERING).filter((path) => path !== "/v1/completions");
for (const path of thinking) {
  Deno.test(`thinking is asked for by any of its names, on ${path}`, async () => {
    const wishes: [object, unknown, number?][] = [
      [{ think: false }, false],
      [{ think: "low" }, "low"],
      [{ reasoning_effort: "none" }, false],
      [{ reasoning_effort: "high" }, "high"],
      [{ reasoning: { effort: "medium" } }, "medium"],
      [{ reasoning: { enabled: false } }, false],
      [{ reasoning: { enabled: true, max_tokens: 50 } }, true, 50],
      [{ enable_thinking: false }, false],
      [{ thinking: { type: "disabled" } }, false],
      [{ thinking: { type: "enabled", budget_tokens: 100 } }, true],
      [{ thinking: { type: "adaptive" } }, undefined],
      [{ chat_template_kwargs: { enable_thinking: false } }, false],
      [{ chat_template_kwargs: { thinking: true } }, true],
      [{ chat_template_kwargs: { reasoning_effort: "low" } }, "low"],
      [{ thinking_token_budget: 20 }, undefined, 20],
      [{ thinking_budget: -1 }, undefined],
      [{ thinking_budget_tokens: 0 }, false],
    ];
    for (const [members, think, budget] of wishes) {
      const { status, request, message } = await ask(path, members);
      assertEquals([members, status, message], [members, 200, undefined]);
      assertEquals([members, request.think, request.thinkBudget], [members, think, budget]);
    }
  });

  Deno.test(`a model that does not think is not asked to, on ${path}`, async () => {
    const still = { info: { thinks: false } };
    for (
      const members of [{ think: true }, { enable_thinking: true }, { reasoning_effort: "low" }]
    ) {
      const { status, message } = await ask(path, members, createTestApp(still));
      assertEquals([status, message], [400, '"tiny" does not support thinking']);
    }
    for (const members of [{ think: false }, { chat_template_kwargs: { thinking: false } }]) {
      assertEquals((await ask(path, members, createTestApp(still))).status, 200);
    }
    const asked = { thinking: { type: "enabled", budget_tokens: 1024 } };
    const { status, body, request } = await ask(path, asked, createTestApp(still));
    assertEquals([status, request.think], [200, undefined]);
    assertEquals(body.warnings, ['thinking: "tiny" does not support thinking']);
  });

  Deno.test(`what the model thinks is left out of the answer of ${path} where that is asked`, async () => {
    const wishes = [
      { include_reasoning: false },
      { reasoning: { exclude: true } },
      { thinking: { type: "adaptive", display: "omitted" } },
    ];
    const model = {
      ...able,
      script: async function* (request: Parameters<ReturnType<typeof says>>[0]) {
        yield { type: "thinking", text: "SECRET" } as const;
        yield* says("Said")(request);
      },
    };
    for (const stream of [false, true]) {
      const read = async (members: object) => {
        const { post } = createTestApp(model);
        const body = { model: "tiny", ...ANSWERING[path], ...members, stream };
        return await (await post(path, body)).text();
      };
      assertStringIncludes(await read({}), "SECRET");
      for (const members of wishes) {
        const text = await read(members);
        assertEquals([text.includes("SECRET"), text.includes("Said")], [false, true]);
      }
    }
  });
}

Deno.test("completions tell no thinking, and are not asked for it", async () => {
  const refused = await ask("/v1/completions", { think: true });
  assertEquals([refused.status, refused.param], [400, "think"]);
  assertEquals((await ask("/v1/completions", { think: false })).status, 200);
});

Deno.test("a tool may be chosen on /api/chat as in OpenAI's API", async () => {
  const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } };
  const choose = (tool_choice: unknown, more: object = {}) =>
    ask("/api/chat", { tools: [tool], tool_choice, ...more });
  assertEquals((await choose("required")).request.toolChoice, "required");
  assertEquals((await choose("none")).request.toolChoice, "none");
  assertEquals((await choose({ type: "function", function: { name: "f" } })).request.toolChoice, {
    name: "f",
  });
  assertEquals((await choose("auto")).request.toolChoice, undefined);
  const alone = await choose("auto", { parallel_tool_calls: false });
  assertEquals(alone.request.parallelToolCalls, false);
  const wrong = await choose({ type: "function", function: { name: "g" } });
  assertEquals([wrong.status, wrong.message], [400, 'tool_choice: no tool is named "g"']);
});

Deno.test("what is done in another way is told in a stream's last record", async () => {
  const { post } = createTestApp({ info: { thinks: false } });
  const messages = [{ role: "user", content: "Hi" }];
  const body = { model: "tiny", messages, thinking: { type: "enabled" }, stream: true };
  const warnings = ['thinking: "tiny" does not support thinking'];
  const native = await readLines(await post("/api/chat", { ...body, shift: true }));
  assertEquals(native.at(-1)!.warnings, [
    ...warnings,
    "shift: the answer ends where the window is full",
  ]);
  const events = await readEvents(await post("/v1/chat/completions", body));
  assertEquals(events.at(-2)!.data.warnings, warnings);
});
