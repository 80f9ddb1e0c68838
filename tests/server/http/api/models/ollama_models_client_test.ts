// The official ollama client, unmodified, keeps models: it lists, shows, makes, copies, pushes, pulls
// and deletes them, over a port. The registry is Debian's docker-registry where that is installed.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Ollama } from "ollama";
import {
  DockerRegistry,
  HAS_DOCKER_REGISTRY,
  IGNORED_WITHOUT,
} from "../../../registry/docker_registry.ts";
import { withFolder } from "../../../registry/fixtures.ts";
import { createStoreApp, type StoreApp } from "../../../store_app.ts";
import { portWay } from "../../../tiny_app.ts";

function clientOf(test: StoreApp): Ollama {
  return new Ollama({ host: portWay(test).url });
}

async function namesOf(client: Ollama): Promise<string[]> {
  return (await client.list()).models.map(({ name }) => name).sort();
}

Deno.test("the ollama client lists, shows, makes, copies and deletes models", async () => {
  const client = clientOf(await createStoreApp());
  assertEquals(await namesOf(client), ["plain:latest", "tiny:latest"]);

  const statuses: string[] = [];
  const making = await client.create({
    model: "mario",
    from: "tiny",
    system: "You are Mario.",
    parameters: { temperature: 0.5, stop: ["END"] },
    messages: [{ role: "user", content: "Hi" }],
    license: "MIT",
    quantize: "q8_0",
    stream: true,
  });
  for await (const { status } of making) statuses.push(status);
  assertEquals([statuses[0], statuses.at(-1)], ["quantizing F32 model to Q8_0", "success"]);
  assertEquals((await client.create({ model: "m2", from: "mario" })).status, "success");

  const shown = await client.show({ model: "mario" });
  assertEquals([shown.system, shown.license], ["You are Mario.", "MIT"]);
  assertEquals(shown.details.quantization_level, "Q8_0");
  assertEquals(shown.messages![0]!.content, "Hi");
  assert(shown.parameters.includes("temperature                    0.5"));

  assertEquals(await client.copy({ source: "mario", destination: "luigi" }), { status: "success" });
  const { message } = await client.chat({
    model: "luigi",
    messages: [{ role: "user", content: "Who?" }],
  });
  assertEquals(message.content, "Hello");
  assertEquals((await client.ps()).models.map(({ name }) => name), ["luigi:latest"]);
  for (const model of ["mario", "m2", "luigi"]) {
    assertEquals(await client.delete({ model }), { status: "success" });
  }
  assertEquals(await namesOf(client), ["plain:latest", "tiny:latest"]);
  assertEquals((await client.ps()).models, []);
});

Deno.test("the ollama client gets the sentences of refusals", async () => {
  const client = clientOf(await createStoreApp());
  const refusals: [ask: () => Promise<unknown>, sentence: string][] = [
    [() => client.show({ model: "nope" }), "model 'nope' not found"],
    [() => client.delete({ model: "nope" }), "model 'nope' not found"],
    [() => client.copy({ source: "nope", destination: "x" }), 'model "nope" not found'],
    [() => client.create({ model: "x" }), "neither 'from' or 'files' was specified"],
    [() => client.create({ model: "x", from: "tiny", template: "{{" }), "template error: "],
  ];
  for (const [ask, sentence] of refusals) await assertRejects(ask, Error, sentence);
});

Deno.test({
  name: "the ollama client pushes to a real registry, and pulls with progress" + IGNORED_WITHOUT,
  ignore: !HAS_DOCKER_REGISTRY,
  fn: () =>
    withFolder(async (folder) => {
      await using registry = await DockerRegistry.start(folder);
      const model = `${registry.host}/team/mario:v1`;
      const sender = clientOf(await createStoreApp());
      await sender.create({ model, from: "tiny", system: "You are Mario." });
      const pushed: string[] = [];
      for await (const { status } of await sender.push({ model, insecure: true, stream: true })) {
        pushed.push(status);
      }
      assertEquals([pushed[0], pushed.at(-1)], ["retrieving manifest", "success"]);

      const test = await createStoreApp();
      const receiver = clientOf(test);
      const records = [];
      for await (const record of await receiver.pull({ model, insecure: true, stream: true })) {
        records.push(record);
      }
      const statuses = records.map(({ status }) => status);
      assertEquals([statuses[0], statuses.at(-1)], ["pulling manifest", "success"]);
      const system = records.findLast(({ total }) => total === "You are Mario.".length)!;
      assertEquals(system.completed, system.total);
      const shown = await receiver.show({ model });
      assertEquals(shown.system, "You are Mario.");
      const { digest } = (await sender.list()).models.find(({ name }) => name === model)!;
      assertEquals((await receiver.list()).models[0]!.digest, digest);
      assertEquals((await receiver.pull({ model, insecure: true })).status, "success");

      const unknown = `${registry.host}/team/nope`;
      const pull = (stream: boolean) => async () => {
        const answer = await receiver.pull({
          model: unknown,
          insecure: true,
          stream: stream as true,
        });
        for await (const _ of answer);
      };
      for (const stream of [true, false]) {
        await assertRejects(pull(stream), Error, "pull model manifest: file does not exist");
      }
      assertEquals(await namesOf(receiver), [model, "plain:latest", "tiny:latest"]);
    }),
});
