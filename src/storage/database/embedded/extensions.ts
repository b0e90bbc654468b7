import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { unaccent } from '@electric-sql/pglite/contrib/unaccent';
import { vector } from '@electric-sql/pglite-pgvector';

/** What the embedded database can add to itself. */
export const embeddedExtensions = { vector, pg_trgm, unaccent };
