// The worker of pdf.js, a file of its own in the bundle.

import "pdfjs-dist/build/pdf.worker.mjs";
