export * from './client.ts';
export { type Fault, ParleyError } from './errors.ts';
export type { FollowOptions, FollowStatus, Subscription } from './follow.ts';
export * as documents from './generated/graphql.ts';
export type { components, operations, paths } from './generated/rest.ts';
export { readEvents, type SseEvent } from './sse.ts';
export { type UploadOptions, type UploadProgress, upload } from './upload.ts';
