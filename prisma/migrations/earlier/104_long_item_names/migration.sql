-- The next migration puts the names of documents into an index, which takes no row above 2,704 bytes. Only bundles brought names above 2,000 bytes.
UPDATE "knowledge_items" SET "name" = left("name", 499) || '…' WHERE octet_length("name") > 2000;
