-- New entries of the index are gathered in a list, and those of one word enter the index together: that writes a third. Whoever indexes empties the
-- list after each batch (storage/knowledge/chunks.ts), because every search reads it. The limit in kB holds where that process ended.
ALTER INDEX "chunks_term_keys_idx" SET (fastupdate = on, gin_pending_list_limit = 512);
