import { serveQuestions } from '../knowledge/extract/serve.ts';

/** The program of the process that reads exports of chats. It may read the code of this folder. */
await serveQuestions(async () => (await import('./read-export.ts')).readExport);
