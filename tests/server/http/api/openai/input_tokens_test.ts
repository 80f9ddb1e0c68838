// POST /v1/responses/input_tokens: the tokens of what POST /v1/responses would read.

import { assertEquals } from "@std/assert";
import { message, withKeeper } from "./response_keeper.ts";

const counting = "/v1/responses/input_tokens";

/** The length that the model of tests has as its number of tokens. */
const lengthOf = (turns: readonly { role: string; content: string }[]) =>
  turns.map(({ role, content }) => `<${role}>${content}`).join("").length;

Deno.test("input_tokens counts what a response with the same members would read, and makes none", async () => {
  await withKeeper(async ({ ask, post, told, loaded }) => {
    const { id } = await ask({ input: "Hi", instructions: "Be brief." });
    const inputs: object[] = [
      { input: "Hi" },
      { input: "Hi", instructions: "Be brief.", stream: true },
      { input: [message("user", "One"), message("assistant", "Two"), message("user", "Three")] },
      { input: "And now?", previous_response_id: id },
    ];
    for (const input of inputs) {
      const before = loaded[0]!.requests.length;
      const response = await post(counting, { model: "tiny", ...input });
      const counted = await response.json();
      assertEquals(loaded[0]!.requests.length, before);
      await ask({ ...input, stream: false });
      assertEquals([response.status, counted], [
        200,
        { object: "response.input_tokens", input_tokens: lengthOf(told()) },
      ]);
    }
  });
});

Deno.test("input_tokens refuses what a response refuses, in the same words", async () => {
  await withKeeper(async ({ ask, post }) => {
    const faults: object[] = [
      { input: "Hi", temprature: 1 },
      { input: 1 },
      { input: "Hi", model: "nope" },
      { input: "Hi", previous_response_id: "resp_nope" },
      { input: [{ type: "item_reference", id: "msg_nope" }] },
    ];
    for (const fault of faults) {
      const response = await post(counting, { model: "tiny", ...fault });
      const { status, error } = await ask(fault);
      assertEquals([response.status, (await response.json()).error], [status, error]);
      assertEquals(status >= 400, true);
    }
  });
});
