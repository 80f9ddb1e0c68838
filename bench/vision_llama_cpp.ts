// The image encoder of llama.cpp, through its program llama-mtmd-cli, which says how long each picture
// took. One process reads the same picture several times: the first time compiles and allocates. Which
// GPUs it uses is up to its environment: a software one of Vulkan needs GGML_VK_VISIBLE_DEVICES=0.

import type { VisionFiles } from "./vision_models.ts";

/** What a process prints about its pictures. */
export interface PeerTimes {
  /** Milliseconds of encoding, by picture. */
  readonly encode: readonly number[];
  /** Facts of one picture. */
  readonly tokens: number;
}

/** A device of llama.cpp. */
export interface PeerDevice {
  /** Such as "Vulkan0"; "CPU" if it is no GPU. */
  readonly id: string;
  readonly description: string;
}

/** Options of a run. */
export interface PeerOptions {
  readonly device: PeerDevice;
  /** How often the picture is read. */
  readonly pictures: number;
  /** After how many minutes it is ended. */
  readonly minutes: number;
}

const CPU = "CPU";
/** Threads: one for each core, as drivers on the CPU have them too. */
const THREADS = navigator.hardwareConcurrency;
/** Tokens of a batch: at least those of a picture, because some models read it in one step. */
const BATCH = 4096;

/** An installed llama.cpp. */
export class LlamaCpp {
  readonly #program: string;

  private constructor(
    program: string,
    readonly version: string,
    /** The CPU first, then its GPUs. */
    readonly devices: readonly PeerDevice[],
  ) {
    this.#program = program;
  }

  /** Reads its version and devices. Errors: as of running it. */
  static async find(program: string): Promise<LlamaCpp> {
    const version = /version: (.+)/.exec(await run(program, ["--version"]))?.[1];
    const listed = (await run(program, ["--list-devices"]))
      // Their memory, in brackets, is left out.
      .matchAll(/^ {2}(\S+): (.+?)(?: \(\d+ MiB.*\))?$/gm);
    const gpus = listed.map(([, id = "", description = ""]) => ({ id, description }));
    return new LlamaCpp(program, version ?? "of unknown version", [
      { id: CPU, description: `CPU, ${THREADS} threads` },
      ...gpus,
    ]);
  }

  /** Encodes a picture in a process of its own. Errors: Error with the process's last lines. */
  async read(
    { projector, decoder }: VisionFiles,
    picture: string,
    { device, pictures, minutes }: PeerOptions,
  ): Promise<PeerTimes> {
    const output = await run(this.#program, [
      ...["--model", decoder, "--mmproj", projector],
      ...Array.from({ length: pictures }, () => ["--image", picture]).flat(),
      // Text between them, so that they are not encoded together.
      ...["--prompt", "<__media__> and ".repeat(pictures)],
      ...["--predict", "1", "--temp", "0", "--threads", String(THREADS)],
      ...["--batch-size", String(BATCH), "--ubatch-size", String(BATCH)],
      // The decoder is not part of what is timed.
      ...["--device", "none", "--ctx-size", String((1 + pictures) * BATCH), "--verbosity", "4"],
      ...(device.id === CPU ? ["--no-mmproj-offload"] : ["--mmproj-device", device.id]),
    ], AbortSignal.timeout(60_000 * minutes));
    const numbers = (pattern: RegExp) =>
      [...output.matchAll(pattern)].map(([, number]) => Number(number));
    const encode = numbers(/encod(?:ed|ing done) in (\d+) ms/g);
    const tokens = numbers(/n_tokens_batch = (\d+)/g).reduce((sum, count) => sum + count, 0);
    if (encode.length % pictures !== 0 || encode.length === 0) {
      throw new Error(
        `Cannot time llama.cpp: it encoded ${encode.length} parts of ${pictures} pictures`,
      );
    }
    return { encode: sums(encode, encode.length / pictures), tokens: tokens / pictures };
  }
}

/** Sums of neighbours: the parts that a picture was cut into. */
function sums(numbers: readonly number[], size: number): number[] {
  return Array.from(
    { length: numbers.length / size },
    (_, index) =>
      numbers.slice(index * size, (index + 1) * size).reduce((sum, number) => sum + number),
  );
}

/** All output of a program. Errors: Error with its last lines if it fails or is ended. */
async function run(program: string, args: string[], signal?: AbortSignal): Promise<string> {
  // Without a stack trace, the cause is at the end.
  const env = { GGML_NO_BACKTRACE: "1" };
  const command = new Deno.Command(program, { args, env, stdin: "null", ...signal && { signal } });
  const { success, stdout, stderr } = await command.output();
  const text = [stderr, stdout].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  if (success) return text;
  const last = text.trim().split("\n").slice(-8).join("\n");
  const end = signal?.aborted ? "took too long" : "failed";
  throw new Error(`Cannot run ${program}: it ${end} and said last:\n${last}`);
}
