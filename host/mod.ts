// What the program stands on: files, processes, facts of the machine, checksums. The only folder below
// the server that names Deno or Node. Nothing of them is touched at import, so that the layers above can
// be imported everywhere; what a browser or Node lacks is an error when it is used.

export {
  crc32,
  deflatedLength,
  type Latin1Reader,
  latin1Reader,
  type Sha256,
  sha256,
} from "./bytes.ts";
export {
  basename,
  type ChildProcess,
  denoVersion,
  type DirEntry,
  dirname,
  type FileInfo,
  type FileSystem,
  fileSystem,
  type FsFile,
  isOutOfFiles,
  isSystemError,
  join,
  nextTask,
  nextTurn,
  type OperatingSystem,
  operatingSystem,
  pathOf,
  type Processes,
  processes,
  resolve,
  SEEK_START,
  serializer,
} from "./files.ts";
export {
  advisePages,
  changedAt,
  countFreeFiles,
  freeMemory,
  mayRead,
  namesIn,
  type PageSize,
  readText,
  readVariable,
  setVariable,
  systemRelease,
} from "./machine.ts";
export {
  alone,
  freeOriginBytes,
  type OriginFile,
  type OriginFolder,
  originFolder,
  readBlob,
  readsBlobs,
} from "./origin_files.ts";
export {
  type FileBytes,
  type FileReader,
  type ReadableFile,
  readableFiles,
  stampOf,
} from "./readable_files.ts";
export { HostError } from "./runtime.ts";
export {
  aloneBecause,
  canShareMemory,
  makeWorker,
  sharedBuffer,
  type ThreadScope,
  threadScope,
  type WorkerThread,
} from "./threads.ts";
