import type { DataSourceType } from './data-source.ts';

/** Which items of the sources are searched: those that fit every member. Empty lists fit nothing. */
export interface ItemFilter {
  readonly sourceTypes?: readonly DataSourceType[];
  /** MIME types such as `application/pdf`; `image/*` is every type that begins so. */
  readonly mimeTypes?: readonly string[];
  /** The beginning of an item's address, of its path in a repository (with or without the repository), or of its name. */
  readonly pathPrefix?: string;
  /** Only items whose content was read, as new or as changed, after this time. */
  readonly updatedAfter?: Date;
}
