// A share of `deno task test:structured`: two schemas by every route, one at each temperature.

import { assertEquals } from "@std/assert";
import { createBoxApp } from "../server/tiny_app.ts";
import { judge } from "./judge.ts";
import { ROUTES } from "./routes.ts";
import { QUESTIONS } from "./schemas.ts";

const { app } = await createBoxApp();
const asked = [["person, all optional", 0], ["contact by mail or phone", 1]] as const;

for (const route of ROUTES) {
  Deno.test(`${route.name} fills schemas in with the keys that they declare, no longer than closed`, async () => {
    await Promise.all(asked.map(async ([name, temperature]) => {
      const question = QUESTIONS.find((one) => one.name === name)!;
      const send = async (path: string, init: RequestInit) => await app.request(path, init);
      const { fault } = await judge(send, route, question, temperature, 1);
      assertEquals(fault, undefined, name);
    }));
  });
}
