// promptfoo, which evaluates prompts: providers and assertions are its configuration.

import { BOX, passage, sum } from "../server/box_talk.ts";
import { type Client, type Place, type Results, runProgram } from "./client.ts";

/** What an evaluation may take. In milliseconds. */
const LIMIT = 180_000;

/** The client. */
export const promptfoo: Client = {
  name: "promptfoo",
  packages: ["promptfoo@0.123.1"],
  can: ["chat", "schema"],
  async run(place): Promise<Results> {
    return {
      chat: await evaluate(place, "chat", sum.question, [{ type: "contains", value: "= 72" }], {}),
      schema: await evaluate(
        place,
        "schema",
        passage.question,
        [{ type: "is-json", value: passage.schema }, { type: "contains", value: "Nora Weber" }],
        { format: passage.schema },
      ),
    };
  },
};

/** Asks once by each of the two APIs that it has a provider for. */
async function evaluate(
  place: Place,
  name: string,
  prompt: string,
  assert: object[],
  { format }: { format?: object },
): Promise<{ failure?: string }> {
  const response_format = format && {
    type: "json_schema",
    json_schema: { name: "answer", strict: true, schema: format },
  };
  const configuration = {
    prompts: [prompt],
    providers: [
      { id: `ollama:chat:${BOX}`, config: { temperature: 0, ...(format && { format }) } },
      {
        id: `openai:chat:${BOX}`,
        config: {
          apiBaseUrl: `${place.url}/v1`,
          apiKey: "any",
          temperature: 0,
          ...(response_format && { response_format }),
        },
      },
    ],
    tests: [{ assert }],
  };
  const file = `${place.home}/${name}.json`;
  await Deno.writeTextFile(file, JSON.stringify(configuration));
  const { code, text } = await runProgram(
    [`${place.folder}/node_modules/.bin/promptfoo`, "eval", "--config", file, "--no-cache"],
    place,
    LIMIT,
    {
      OLLAMA_BASE_URL: place.url,
      PROMPTFOO_DISABLE_TELEMETRY: "1",
      PROMPTFOO_DISABLE_UPDATE: "1",
      PROMPTFOO_DISABLE_REMOTE_GENERATION: "1",
    },
  );
  return code === 0 ? {} : { failure: `it ended with ${code}\n${text.trim()}` };
}
