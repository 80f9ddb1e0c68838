// Files of a load from elsewhere than this machine's disk: addresses, and what a page has at hand.

export type { RemoteFile } from "./fetch_file.ts";
export { type KeptFile, listKeptFiles, removeKeptFile } from "./origin_store.ts";
export { openSources, sendableSources, type SourceOptions, type WebFile } from "./sources.ts";
