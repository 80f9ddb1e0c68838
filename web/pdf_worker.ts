// The worker of pdf.js, a file of its own in the bundle. web/chat/pdf.ts tells how it is spoken to.

export { WorkerMessageHandler } from "pdfjs-dist/build/pdf.worker.mjs";
