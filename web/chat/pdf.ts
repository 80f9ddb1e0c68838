// The text of a PDF by pdf.js, which comes with files of its own, at the first PDF.

import { getDocument, GlobalWorkerOptions } from "pdfjs-dist";

/** The text of the pages, one after the other. */
export async function pdfText(data: ArrayBuffer): Promise<string> {
  const worker = globalThis.document.querySelector<HTMLMetaElement>('meta[name="pdf-worker"]')!;
  GlobalWorkerOptions.workerSrc = worker.content;
  const document = await getDocument({ data, disableFontFace: true, useSystemFonts: false })
    .promise;
  try {
    const pages: string[] = [];
    for (let number = 1; number <= document.numPages; number++) {
      const { items } = await (await document.getPage(number)).getTextContent();
      pages.push(
        items.map((item) => "str" in item ? item.str + (item.hasEOL ? "\n" : "") : "").join(""),
      );
    }
    return pages.map((page) => page.trim()).join("\n\n");
  } finally {
    await document.loadingTask.destroy();
  }
}
