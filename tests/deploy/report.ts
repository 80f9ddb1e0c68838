// Figures of the tests of deploy/, as one line of JSON each: QUERN_DEPLOY_REPORT is a file for them.

/** Notes a figure. */
export function report(name: string, value: unknown): void {
  const file = Deno.env.get("QUERN_DEPLOY_REPORT");
  if (file) {
    Deno.writeTextFileSync(file, JSON.stringify({ [name]: value }) + "\n", { append: true });
  }
}
