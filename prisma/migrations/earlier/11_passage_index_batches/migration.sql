-- Index entries are gathered and written together: a third faster than one by one. The list is short, so a search that has to read it
-- hardly notices; whoever completes an item empties it (storage/chunks.ts).
ALTER INDEX "chunks_term_keys_idx" SET (fastupdate = on, gin_pending_list_limit = 256);
