// A share of `deno task test:structured`: two schemas by every route, one at each temperature, and one with
// limits of tokens, streamed and not.

import { assertEquals } from "@std/assert";
import { createBoxApp } from "../server/tiny_app.ts";
import { judge } from "./judge.ts";
import { judgeLimit } from "./limits.ts";
import { ROUTES } from "./routes.ts";
import { QUESTIONS } from "./schemas.ts";

const { app } = await createBoxApp();
const send = async (path: string, init: RequestInit) => await app.request(path, init);
const asked = [["person, all optional", 0], ["contact by mail or phone", 1]] as const;

for (const route of ROUTES) {
  Deno.test(`${route.name} fills schemas in with the keys that they declare, no longer than closed`, async () => {
    await Promise.all(asked.map(async ([name, temperature]) => {
      const question = QUESTIONS.find((one) => one.name === name)!;
      const { fault } = await judge(send, route, question, temperature, 1);
      assertEquals(fault, undefined, name);
    }));
  });

  Deno.test(`${route.name} says of an answer under a limit that it is whole, or cut, or that it cannot be`, async () => {
    const question = QUESTIONS.find(({ name }) => name === "contact by mail or phone")!;
    const kinds = await Promise.all(
      [1, 9, 24, 200].flatMap((maxTokens) =>
        [false, true].map(async (stream) => {
          const ask = { maxTokens, temperature: 0, seed: 1, stream };
          const { kind, fault } = await judgeLimit(send, route, question, ask);
          assertEquals(fault, undefined, `${maxTokens} tokens${stream ? ", streamed" : ""}`);
          return kind;
        })
      ),
    );
    assertEquals(kinds[0] === "whole", false);
    assertEquals(kinds.at(-1), "whole");
  });
}
