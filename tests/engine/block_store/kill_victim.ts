// A process that holds conversations whose blocks go to disk until it is killed: FOLDER SEED BYTES.

import { DiskStore } from "../../../engine/block_store/mod.ts";
import { add, start } from "../run/scheduler_runs.ts";
import { KILLED_SIZES, KILLED_TALKS } from "./killed_talks.ts";

const [folder = "", seed = "0", bytes = "0"] = Deno.args;
const options = { folder, bytes: Number(bytes) };
const disk = await DiskStore.open("one", options, (text) => {
  throw new Error(text);
});
const { scheduler } = start(KILLED_SIZES, { model: "one", disk });
const tell = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
tell("begun");
for (let turn = Number(seed);; turn++) {
  await Promise.all(
    KILLED_TALKS.map((prompt) => add(scheduler, [...prompt, turn], 40 + turn % 100).ended),
  );
  tell("turn");
}
