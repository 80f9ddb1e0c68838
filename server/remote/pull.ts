// Pulling the name of a cloud model: nothing is downloaded, as it runs where it is.

import type { pullModel } from "../registry/mod.ts";
import { cloudModelOf } from "./names.ts";

/** Pulls as given, but of the cloud's names only makes sure that there is a server for them. */
export function withoutCloud(pull: typeof pullModel): typeof pullModel {
  return async function* (store, name, options) {
    if (cloudModelOf(name) === undefined) return yield* pull(store, name, options);
    await store.find(name);
    yield { status: "success" };
  };
}
