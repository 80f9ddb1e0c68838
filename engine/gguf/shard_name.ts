// Names of the files of a split model: NAME-00001-of-00003.gguf, as llama.cpp's gguf-split writes
// them. Works on text alone, without looking at files.

/** The parts of a shard's path. */
export interface ShardName {
  /** The path before the number, with its folder; the same for all shards. */
  readonly base: string;
  /** Number of this shard, from 1. */
  readonly number: number;
  readonly count: number;
  /** The extension as it is written, such as ".gguf". */
  readonly extension: string;
}

const PATTERN = /^(.+)-(\d{5})-of-(\d{5})(\.gguf)$/is;

/** The parts of a shard's path; undefined if it is not named as a shard. */
export function parseShardName(path: string): ShardName | undefined {
  const [, base, number, count, extension] = PATTERN.exec(path) ?? [];
  return base === undefined
    ? undefined
    : { base, number: Number(number), count: Number(count), extension };
}

/** The path of the shard with that number, from 1, of the same model. */
export function shardPath(
  { base, count, extension }: Omit<ShardName, "number">,
  number: number,
): string {
  const digits = (value: number) => String(value).padStart(5, "0");
  return `${base}-${digits(number)}-of-${digits(count)}${extension}`;
}
