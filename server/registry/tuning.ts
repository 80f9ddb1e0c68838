// The sizes, counts and timeouts of a transfer. Tests set their own; users need not.

const MEBIBYTE = 2 ** 20;

/** Sizes in bytes, times in milliseconds. */
export interface TransferTuning {
  /** Streams of one pull, over all its blobs. */
  readonly streams: number;
  readonly streamsPerBlob: number;
  /** The approximate number of parts of a blob … */
  readonly parts: number;
  /** … none of them smaller than this, except for the last … */
  readonly smallestPart: number;
  /** … and none larger, so that the hash, which goes from start to end, stays close behind. */
  readonly largestPart: number;
  /** Bytes of one request of an upload; object stores take no parts below 5 MiB. */
  readonly uploadChunk: number;
  /** Bytes per second below which an upload counts as stalled. */
  readonly slowestUpload: number;
  /** Attempts after the first; progress starts the count anew. */
  readonly retries: number;
  /** A registry that cannot be reached at the first request is tried again for so long, … */
  readonly reach: number;
  /** … and must accept a connection within this. */
  readonly connect: number;
  /** Wait before the first retry; each further one takes twice as long … */
  readonly firstDelay: number;
  /** … up to this. */
  readonly longestDelay: number;
  /** The longest wait that a registry may ask for with Retry-After. */
  readonly longestRetryAfter: number;
  /** A transfer without a byte for so long is cut and tried again. */
  readonly stall: number;
  /** A registry may take so long to check an upload. */
  readonly commit: number;
  /** Between two records of progress. */
  readonly progress: number;
  /** Between two notes on disk of how far a part has come. */
  readonly record: number;
  /** Between two looks at whether another process still downloads the blob. */
  readonly lockPoll: number;
}

/** The defaults, which suit connections from a phone's to a data centre's. */
export const DEFAULT_TUNING: TransferTuning = {
  streams: 8,
  streamsPerBlob: 4,
  parts: 32,
  smallestPart: 16 * MEBIBYTE,
  largestPart: 512 * MEBIBYTE,
  uploadChunk: 8 * MEBIBYTE,
  slowestUpload: 2 ** 16,
  retries: 6,
  reach: 1500,
  connect: 2000,
  firstDelay: 500,
  longestDelay: 30_000,
  longestRetryAfter: 300_000,
  stall: 30_000,
  commit: 600_000,
  progress: 60,
  record: 1000,
  lockPoll: 200,
};
