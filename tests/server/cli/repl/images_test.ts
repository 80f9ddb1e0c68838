// Which words of a prompt are images.

import { assertEquals, assertRejects } from "@std/assert";
import { extractFiles } from "../../../../server/cli/repl/files.ts";

const FILES = ["a.png", "my photo.jpg", "b.JPEG", "c.webp", "d.gif", "e.bmp", "it's (1).png"];

Deno.test("extractFiles() reads the files that a prompt names and keeps the other words", async () => {
  const home = await Deno.makeTempDir();
  try {
    for (const name of FILES) await Deno.writeTextFile(`${home}/${name}`, name);
    await Deno.mkdir(`${home}/folder.png`);
    const cases: [prompt: string, text: string, images: string[], missing?: string[]][] = [
      ["What is this?", "What is this?", []],
      ["What is in ./a.png?", "What is in ?", ["a.png"]],
      [`describe ${home}/a.png please`, "describe please", ["a.png"]],
      ["~/a.png", "", ["a.png"]],
      ["compare ~/a.png ./b.JPEG", "compare", ["a.png", "b.JPEG"]],
      ["./c.webp, ./d.gif and ./e.bmp", ", and", ["c.webp", "d.gif", "e.bmp"]],
      ["see './my photo.jpg' now", "see now", ["my photo.jpg"]],
      ['see "my photo.jpg"', "see", ["my photo.jpg"]],
      ["see ./my\\ photo.jpg", "see", ["my photo.jpg"]],
      ["see ./it\\'s\\ \\(1\\).png", "see", ["it's (1).png"]],
      // As terminals write what is dropped on them: escaped, or in apostrophes.
      [`${home}/my\\ photo.jpg ${home}/it\\'s\\ \\(1\\).png `, "", [
        "my photo.jpg",
        "it's (1).png",
      ]],
      [`'${home}/it'\\''s (1).png' '${home}/a.png' which?`, "which?", ["it's (1).png", "a.png"]],
      // What does not exist, or is no file, stays text; so does a name that is no path.
      ["see ./missing.png", "see ./missing.png", [], ["./missing.png"]],
      ["see './not here.png' ~/a.png", "see './not here.png'", ["a.png"], ["./not here.png"]],
      ["see ./folder.png", "see ./folder.png", [], ["./folder.png"]],
      ["see a.png and\n  indented", "see a.png and\n  indented", []],
      ["see ./a.pngx", "see ./a.pngx", []],
    ];
    for (const [prompt, text, names, missing = []] of cases) {
      const found = await extractFiles("image", prompt, home, home);
      const read = found.files.map(({ base64 }) => atob(base64));
      assertEquals([found.text, read, found.missing], [text, names, missing], prompt);
    }
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test({
  name: "extractFiles() leaves the backslashes of Windows's paths alone",
  // There it is a path, here the name of a file.
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const path = "C:\\Users\\my.photos\\.a.png";
      await Deno.writeTextFile(`${folder}/${path}`, "x");
      const { text, files: images } = await extractFiles("image", `${path} which?`, "", folder);
      assertEquals([text, images.length], ["which?", 1]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "extractFiles() tells of a file that may not be read",
  // Root reads everything.
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  async fn() {
    const path = await Deno.makeTempFile({ suffix: ".png" });
    await Deno.chmod(path, 0);
    await assertRejects(() => extractFiles("image", path, ""), Deno.errors.PermissionDenied);
    await Deno.remove(path);
  },
});
