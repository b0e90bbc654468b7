import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const dataset = 'id createdAt updatedAt name description callsTools revision caseCount draftCount agentId';
const interval = 'interval { low high }';
const experiment = `id createdAt startedAt endedAt status error agentId datasetId revision variants { version modelId } repeats tokensMax costMax seed
  plannedCount doneCount failedCount interruptedCount tokens cost
  summary {
    variants { variant caseCount rate ${interval} failedCount unscoredCount tokens cost medianMs p95Ms }
    comparisons { variant better same worse difference ${interval} verdict costRatio }
  }`;
const one = '/api/v1/experiments/{experimentId}';

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'listDatasets',
    method: 'get',
    path: '/api/v1/ais/{aiId}/datasets',
    summary: 'List datasets',
    description: 'The datasets of an AI that the caller may edit, newest first.',
    document: `query ($aiId: ID!, $limit: Int = 100, $cursor: String) {
      datasets(agentId: $aiId, first: $limit, after: $cursor) { nodes { ${dataset} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'importDatasetCases',
    method: 'post',
    path: '/api/v1/datasets/{datasetId}/cases',
    summary: 'Import cases',
    description: 'Adds the cases of a file of CSV or JSONL: all of them, or none where a line has a fault.',
    document: `mutation ($datasetId: ID!, $input: ImportDatasetCasesInput!) {
      importDatasetCases(datasetId: $datasetId, input: $input) { ${dataset} }
    }`,
    body: 'input',
    example: { format: 'JSONL', content: '{"question":"How long is the warranty?","mustContain":["two years"]}', replaces: true },
  },
  {
    operationId: 'runExperiment',
    method: 'post',
    path: '/api/v1/ais/{aiId}/experiments',
    summary: 'Run experiment',
    description: 'Begins to ask versions of an AI the cases of a dataset. `GET` it until `summary` is there.',
    document: `mutation ($aiId: ID!, $input: ExperimentInput!) { runExperiment(agentId: $aiId, input: $input) { ${experiment} } }`,
    body: 'input',
    example: { versions: ['published', 'draft'], datasetId: 'dset_01jd0000000000000000000000', tokensMax: 100_000, repeats: 1 },
  },
  {
    operationId: 'getExperiment',
    method: 'get',
    path: one,
    summary: 'Get experiment',
    description: 'How far it is, and once it has ended, what it found.',
    document: `query ($experimentId: ID!) { experiment(id: $experimentId) { ${experiment} } }`,
  },
  {
    operationId: 'cancelExperiment',
    method: 'post',
    path: `${one}/cancel`,
    summary: 'Cancel experiment',
    description: 'Ends an experiment that is under way. What it has asked stays, and is compared.',
    document: `mutation ($experimentId: ID!) { cancelExperiment(id: $experimentId) { ${experiment} } }`,
  },
  {
    operationId: 'getExperimentReport',
    method: 'get',
    path: `${one}/report`,
    summary: 'Get report of experiment',
    description: 'A line for each answer as CSV, or JUnit XML with a suite for each variant, in `content`.',
    document: `query ($experimentId: ID!, $format: ExperimentReportFormat = JUNIT) {
      experimentReport(id: $experimentId, format: $format) { filename contentType content }
    }`,
    query: { format: 'Default: `JUNIT`.' },
  },
];

export const evaluationRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Evaluation' }));
