import type { Text } from '../../../../text/text.ts';
import type { StandingType } from './standing.ts';

export function standingName(t: Text['t'], type: StandingType): string {
  return {
    FILE_SEARCH: t('Search its knowledge'),
    WEB_SEARCH: t('Search the web'),
    MEMORY: t('Remember people'),
    PYTHON: t('Calculate with Python'),
    SPREADSHEET: t('Work on tables'),
    IMAGE_GENERATION: t('Make images'),
    SUBAGENT: t('Ask other agents'),
    DEEP_RESEARCH: t('Research in many steps'),
    SANDBOX: t('Work in a closed computer'),
    MCP: t('MCP server by its address'),
    MCP_SERVER: t('Connected MCP server'),
  }[type];
}
