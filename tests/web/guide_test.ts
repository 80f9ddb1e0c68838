// The documentation as the server hands it out at /docs/guide: every page, links that work, nothing that
// the other pages may not do, and that the executable holds it.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { INCLUDED } from "../../server/cli/setup/compile.ts";
import { createTestApp, ringOf } from "../server/test_app.ts";
import { PROJECT_ROOT, readSource } from "../source_files.ts";

const names = [...Deno.readDirSync(new URL("docs/", PROJECT_ROOT))]
  .flatMap(({ name }) => name.endsWith(".md") ? [name.slice(0, -3)] : [])
  .filter((name) => name !== "README");

function openGuide(options: Parameters<typeof createTestApp>[1] = {}) {
  const { app } = createTestApp({}, options);
  return async (path: string) => {
    const response = await app.request(path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

Deno.test("every page of the documentation is at /docs/guide, which lists them all", async () => {
  const get = openGuide();
  const list = await get("/docs/guide");
  assertEquals(list.status, 200);
  for (const name of names) {
    assertStringIncludes(list.text, `<a href="/docs/guide/${name}">`);
    const page = await get(`/docs/guide/${name}`);
    assertEquals(page.status, 200, name);
    assertEquals(page.headers.get("content-type"), "text/html; charset=UTF-8");
    const [, title] = /^# (.+)$/m.exec(readSource(`docs/${name}.md`))!;
    assertStringIncludes(page.text, `<title>${title} · Quern</title>`);
    assertMatch(page.text, /<h1 id="[^"]+" class="heading-1">/);
    assertStringIncludes(page.text, `<a href="/docs/guide/${name}" aria-current="page">`);
  }
});

Deno.test("from the list, the next page of each leads through all of them, and back", async () => {
  const get = openGuide();
  const follow = async (from: string, relation: string) => {
    const path: string[] = [];
    for (let at: string | undefined = from; at !== undefined;) {
      path.push(at);
      at = new RegExp(`rel="${relation}" href="([^"]+)"`).exec((await get(at)).text)?.[1];
    }
    return path;
  };
  const forward = await follow("/docs/guide", "next");
  assertEquals(forward.slice(1).sort(), names.map((name) => `/docs/guide/${name}`).sort());
  assertEquals(
    await follow(forward.at(-1)!, "prev"),
    (await follow("/docs/guide", "next")).slice(1).reverse(),
  );
});

Deno.test("links between the pages lead to pages and to headings that are there", async () => {
  const get = openGuide();
  const paths = ["/docs/guide", ...names.map((name) => `/docs/guide/${name}`)];
  for (const path of paths) {
    const { text } = await get(path);
    assert(!text.includes('.md"'), path);
    for (const [, target] of text.matchAll(/<a[^>]* href="([/#][^"]*)"/g)) {
      const { pathname, hash } = new URL(target!, `http://localhost${path}`);
      const found = await get(pathname);
      assertEquals(found.status, 200, `${path}: ${target}`);
      if (hash) assertStringIncludes(found.text, `id="${decodeURIComponent(hash.slice(1))}"`);
    }
  }
});

Deno.test("the pages of the documentation run and load nothing but files of this server", async () => {
  const get = openGuide();
  for (const path of ["/docs/guide", "/docs/guide/structured-output"]) {
    const { text, headers } = await get(path);
    const policy = headers.get("content-security-policy");
    assertEquals(policy, (await get("/docs")).headers.get("content-security-policy"));
    assert(!/<style|<[^>]*\s(?:style|on\w+)=/i.test(text), text);
    for (const [, source] of text.matchAll(/(?:src|<link[^>]*href)="([^"]+)"/g)) {
      assert(source!.startsWith("/web/"), source);
      assertEquals((await get(source!)).status, 200);
    }
  }
  // Code stays code, whatever it says.
  assertStringIncludes(
    (await get("/docs/guide/tools-and-thinking")).text,
    "<code>&lt;|im_start|&gt;</code>",
  );
});

Deno.test("the documentation needs no key, and its names lead nowhere else", async () => {
  const get = openGuide({ keys: ringOf("secret") });
  assertEquals((await get("/docs/guide")).status, 200);
  assertEquals((await get("/docs/guide/models")).status, 200);
  for (const name of ["nothing", "..%2FREADME", "..%2f..%2fdeno.json", "a%00", "models.md"]) {
    const { status, text } = await get(`/docs/guide/${name}`);
    assert(status === 404 || status === 401, `${name}: ${status}`);
    assert(!text.includes("<h1"), name);
  }
  const { status, headers } = await get("/docs/guide/.");
  assertEquals([status, headers.get("location")], [301, "/docs/guide"]);
});

Deno.test("the executable holds the documentation", () => {
  assert(INCLUDED.includes("docs"));
});
