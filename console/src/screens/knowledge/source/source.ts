import type { SourcePageQuery } from '../documents.ts';

/** The source that the screen shows. */
export type Source = NonNullable<SourcePageQuery['dataSource']>;
