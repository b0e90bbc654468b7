export { exportAgent } from './export.ts';
export { type ImportResult, importAgent } from './import.ts';
