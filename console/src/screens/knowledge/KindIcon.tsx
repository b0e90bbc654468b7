import { Braces, Bug, Files, FolderGit2, Globe, HardDrive, NotebookText } from 'lucide-react';
import type { DataSourceType } from './documents.ts';

const icons: Readonly<Record<DataSourceType, typeof Files>> = {
  FILE_UPLOAD: Files,
  WEB_URL: Globe,
  API: Braces,
  DRIVE_A: HardDrive,
  DRIVE_B: HardDrive,
  WIKI: NotebookText,
  TRACKER: Bug,
  REPO_HOST: FolderGit2,
};

export function KindIcon({ type, size = 18 }: { readonly type: DataSourceType; readonly size?: number }) {
  const Icon = icons[type];
  return <Icon size={size} aria-hidden />;
}
