// Finds the files of an npm package that a benchmark measures beside Quern. Such packages are named
// in benchmarks, so that users do not install them, and are in Deno's cache after the first run.

/**
 * The folder of a package, which is fetched if it is not there. Errors: Error with what Deno says.
 * @param specifier with its version, such as `npm:name@1.2.3`
 */
export async function npmPackageFolder(specifier: string): Promise<string> {
  await deno("cache", "--no-lock", specifier);
  const { npmPackages } = JSON.parse(await deno("info", "--json", "--no-lock", specifier));
  const folder = npmPackages?.[specifier.replace(/^npm:/, "")]?.localPath;
  if (typeof folder !== "string") throw new Error(`Cannot find the files of ${specifier}`);
  return folder;
}

async function deno(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const [output, faults] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`Cannot run deno ${args.join(" ")}: ${faults!.trim()}`);
  return output!;
}
