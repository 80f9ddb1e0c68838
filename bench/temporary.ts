// Folders for the models of benchmarks, which take gigabytes: they go when the benchmark is over, and when
// a signal ends it. A listener also ends programs whose packages take signals for themselves, as
// node-llama-cpp does.

/** The signals that end a benchmark, by number. Windows knows the first one alone. */
const SIGNALS: readonly (readonly [Deno.Signal, number])[] = Deno.build.os === "windows"
  ? [["SIGINT", 2]]
  : [["SIGINT", 2], ["SIGTERM", 15]];

/** A folder that goes, with all that is in it, when it is disposed of or a signal ends the process. */
export function temporaryFolder(): { readonly path: string } & Disposable {
  const path = Deno.makeTempDirSync();
  const remove = () => Deno.removeSync(path, { recursive: true });
  const listeners = SIGNALS.map(([signal, number]) => {
    const listener = () => {
      remove();
      Deno.exit(128 + number);
    };
    Deno.addSignalListener(signal, listener);
    return [signal, listener] as const;
  });
  return {
    path,
    [Symbol.dispose]() {
      for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
      remove();
    },
  };
}
