-- The start of earlier versions made these tables where the extension "vector" is installed.
CREATE TABLE IF NOT EXISTS "embedding_spaces" (
    "id" SERIAL NOT NULL,
    "model" TEXT NOT NULL,
    "dimensions" INTEGER NOT NULL,

    CONSTRAINT "embedding_spaces_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX IF NOT EXISTS "embedding_spaces_model_dimensions_key" ON "embedding_spaces"("model", "dimensions");

CREATE TABLE IF NOT EXISTS "item_embeddings" (
    "item_id" TEXT NOT NULL,
    "space" INTEGER NOT NULL,
    "generation" INTEGER NOT NULL,

    CONSTRAINT "item_embeddings_pkey" PRIMARY KEY ("item_id","space"),
    CONSTRAINT "item_embeddings_item_id_fkey" FOREIGN KEY ("item_id") REFERENCES "knowledge_items"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "item_embeddings_space_fkey" FOREIGN KEY ("space") REFERENCES "embedding_spaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

CREATE TABLE IF NOT EXISTS "source_embeddings" (
    "data_source_id" TEXT NOT NULL,
    "serving_space" INTEGER,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMPTZ(3),
    "error_code" TEXT,
    "error_message" TEXT,

    CONSTRAINT "source_embeddings_pkey" PRIMARY KEY ("data_source_id"),
    CONSTRAINT "source_embeddings_data_source_id_fkey" FOREIGN KEY ("data_source_id") REFERENCES "data_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "source_embeddings_serving_space_fkey" FOREIGN KEY ("serving_space") REFERENCES "embedding_spaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
