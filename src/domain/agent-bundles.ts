export { type ExportQuery, exportAgent, leftOutOf } from './agent-bundles/export.ts';
export { type ImportResult, importAgent } from './agent-bundles/import.ts';
