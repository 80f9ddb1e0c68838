// Names of the files of a split model: NAME-00001-of-00003.gguf, as llama.cpp's gguf-split writes
// them. Text alone: no file is looked at.

/** What the path of a shard says. */
export interface ShardName {
  /** What comes before the number, folder included; the same for all shards. */
  readonly base: string;
  /** Of this shard, from 1. */
  readonly number: number;
  /** Of all shards. */
  readonly count: number;
  /** As it is written, such as ".gguf". */
  readonly extension: string;
}

const PATTERN = /^(.+)-(\d{5})-of-(\d{5})(\.gguf)$/is;

/** Takes the path of a shard apart; undefined if it is not named as one. */
export function parseShardName(path: string): ShardName | undefined {
  const [, base, number, count, extension] = PATTERN.exec(path) ?? [];
  return base === undefined
    ? undefined
    : { base, number: Number(number), count: Number(count), extension };
}

/** The path of the shard with that number, from 1, in the same split. */
export function shardPath(
  { base, count, extension }: Omit<ShardName, "number">,
  number: number,
): string {
  const digits = (value: number) => String(value).padStart(5, "0");
  return `${base}-${digits(number)}-of-${digits(count)}${extension}`;
}
