// Pull and push: models between the store and the registries of the network.

export { DigestMismatchError, DiskFullError, RegistryError } from "./errors.ts";
export { pullModel } from "./pull.ts";
export { pushModel } from "./pull.ts";
export type { TransferOptions } from "./transfers.ts";
export type { TransferProgress } from "./transfers.ts";
