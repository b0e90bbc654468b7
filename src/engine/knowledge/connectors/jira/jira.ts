import type { Connector, ConnectorServices } from '../connector.ts';
import { fetchIssue } from './fetch.ts';
import { listTracker } from './list.ts';

/** Reads the issues of a project in Jira, with their comments. */
export function createTracker(services: ConnectorServices): Connector {
  return { list: (task) => listTracker(services, task), fetch: (task) => fetchIssue(services, task) };
}
