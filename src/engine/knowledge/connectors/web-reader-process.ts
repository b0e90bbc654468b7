import { serveQuestions } from '../extract/serve.ts';

/** The program of the process that reads pages and sitemaps. It may read the code of this folder. */
await serveQuestions(async () => (await import('./web/reading/answer.ts')).answerQuestion);
