// Files of models that are replaced while they are loaded: the next request is answered by what is
// there, in every API, and one that cannot be read is refused.

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { folder } from "../../engine/harness.ts";
import { writeTinyLlama } from "../../tiny_model.ts";
import { createTinyApp } from "../tiny_app.ts";

const { app } = await createTinyApp("replaced");
const path = `${folder}/replaced/changing.gguf`;
const versions = [`${folder}/replaced-1`, `${folder}/replaced-2`];
for (const [index, version] of versions.entries()) {
  await writeTinyLlama(version, { seed: index + 5 });
}
const time = new Date("2026-01-01");

async function ask(model: string, endpoint = "/api/generate"): Promise<string> {
  const messages = [{ role: "user", content: "abc" }];
  const limits = { temperature: 0, max_tokens: 8 };
  const options = { temperature: 0, num_predict: 8 };
  const body = endpoint === "/api/generate"
    ? { model, prompt: "abc", raw: true, stream: false, options }
    : endpoint === "/api/embed"
    ? { model, input: "abc" }
    : { model, messages, ...limits };
  const response = await app.request(endpoint, { method: "POST", body: JSON.stringify(body) });
  const { response: text, choices, content, embeddings, error } = await response.json();
  assertEquals(response.status, 200, JSON.stringify(error));
  return JSON.stringify(text ?? choices?.[0].message ?? content ?? embeddings);
}

/** Ways to put other content in the place of a file, all with the old time of change. */
const WAYS: [how: string, replace: (version: string) => Promise<void>][] = [
  ["renamed into its place", async (version) => {
    await Deno.copyFile(version, `${path}-new`);
    await Deno.utime(`${path}-new`, time, time);
    await Deno.rename(`${path}-new`, path);
  }],
  ["written over it", async (version) => {
    await Deno.writeFile(path, await Deno.readFile(version));
    await Deno.utime(path, time, time);
  }],
  ["written after it was removed", async (version) => {
    await Deno.remove(path);
    await Deno.copyFile(version, path);
    await Deno.utime(path, time, time);
  }],
];

const ENDPOINTS = ["/api/generate", "/v1/chat/completions", "/v1/messages", "/api/embed"];

Deno.test("requests of every API are answered by the file that is there, whatever its time says", async () => {
  const answersOf = async (model: string) => {
    const answers: string[] = [];
    for (const endpoint of ENDPOINTS) answers.push(await ask(model, endpoint));
    return answers;
  };
  const wanted: string[][] = [];
  for (const [index, version] of versions.entries()) {
    await Deno.copyFile(version, `${folder}/replaced/known${index}.gguf`);
    wanted.push(await answersOf(`known${index}`));
  }
  for (const index of ENDPOINTS.keys()) assertNotEquals(wanted[0]![index], wanted[1]![index]);
  await Deno.copyFile(versions[0]!, path);
  await Deno.utime(path, time, time);
  assertEquals(await answersOf("changing"), wanted[0]);
  for (const [index, [how, replace]] of WAYS.entries()) {
    // The time that nobody can set is told in whole seconds: the next one has begun.
    await new Promise((resolve) => setTimeout(resolve, 1050 - Date.now() % 1000));
    const current = (index + 1) % 2;
    await replace(versions[current]!);
    assertEquals([how, await answersOf("changing")], [how, wanted[current]]);
  }
});

Deno.test("a loaded model whose file was cut off is refused, and answers once it is whole", async () => {
  await Deno.copyFile(versions[0]!, path);
  const before = await ask("changing");
  await Deno.truncate(path, 1000);
  const body = JSON.stringify({ model: "changing", prompt: "abc", stream: false });
  const refused = await app.request("/api/generate", { method: "POST", body });
  assert(refused.status >= 400);
  await Deno.copyFile(versions[0]!, path);
  assertEquals(await ask("changing"), before);
});
