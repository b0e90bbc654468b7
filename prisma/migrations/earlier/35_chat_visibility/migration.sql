-- Whether editors of the agent may read a chat is decided when the chat is made. Of the chats that are there, nobody was told: editors see none of them.
-- AlterTable
ALTER TABLE "chats" ADD COLUMN     "isVisibleToEditors" BOOLEAN NOT NULL DEFAULT false;
