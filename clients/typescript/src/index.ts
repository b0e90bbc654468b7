export * from './client.ts';
export * as documents from './generated/graphql.ts';
export type { components, operations, paths } from './generated/rest.ts';
export { readEvents, type SseEvent } from './sse.ts';
