import { serveReader } from './serve.ts';

/** The program of the reader process. */
await serveReader(async () => (await import('./read-document.ts')).readDocument);
