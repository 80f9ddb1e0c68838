// A picture's whole way through a server as it is wired: over the store, into the worker that has the
// model, and its answer and errors back.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { assemble } from "../../../../server/http/assemble.ts";
import { createLog } from "../../../../server/log.ts";
import { readSettings } from "../../../../server/settings/settings.ts";
import { systemDependencies } from "../../../../server/cli/wiring.ts";
import {
  createVisionApp,
  picture,
  PICTURE_MARKERS,
  PICTURE_ROWS,
  UNUSABLE_MODEL,
  VISION_MODEL,
} from "./vision_app.ts";

Deno.test("a server shows pictures to the model in its worker", async () => {
  const { folder } = await createVisionApp("vision-worker");
  const { app, manager } = assemble({
    dependencies: systemDependencies(),
    settings: readSettings({
      QUERN_MODELS: folder,
      OLLAMA_NUM_PARALLEL: "4",
      OLLAMA_CONTEXT_LENGTH: "1024",
    }),
    log: createLog({ write: () => {} }),
  });
  const ask = async (model: string, ...images: Uint8Array[]) => {
    const shown = images.map((image) => image.toBase64());
    const messages = [{ role: "user", content: "Which?", images: shown }];
    const body = { model, messages, stream: false, options: { num_predict: 2 } };
    const answer = await app.request("/api/chat", { method: "POST", body: JSON.stringify(body) });
    return { status: answer.status, ...await answer.json() };
  };
  try {
    const one = await ask(VISION_MODEL, picture(1));
    const same = await ask(VISION_MODEL, picture(1), picture(1));
    assertEquals([one.status, same.status], [200, 200]);
    const markers = PICTURE_MARKERS.match(/<[^>]+>|\n/g)!.length;
    assertEquals(same.prompt_eval_count - one.prompt_eval_count, PICTURE_ROWS + markers);
    const cut = await ask(VISION_MODEL, picture(1), picture(1).subarray(0, 2000));
    assertEquals(cut.status, 400);
    assertStringIncludes(cut.error, "Cannot read image 2 of 2");
    // Without its projector the model is there all the same.
    const { status, message } = await ask(UNUSABLE_MODEL);
    assertEquals([status, message.role], [200, "assistant"]);
  } finally {
    await manager.closeAll();
  }
});
