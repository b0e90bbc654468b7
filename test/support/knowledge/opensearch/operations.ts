/**
 * The operations of OpenSearch's REST interface that Parley uses: method, path, query parameters, and members of bodies, as the published specification
 * says (opensearch-project/opensearch-api-specification, 21 August 2026: spec/namespaces/_core.yaml, indices.yaml, cat.yaml and their schemas). What is
 * not listed is refused.
 */
export interface Operation {
  readonly name: string;
  readonly method: string;
  /** `{…}` stands for one part. */
  readonly path: string;
  readonly query: readonly string[];
  /** Members of the body; undefined: it has none. `lines`: JSON values in lines. */
  readonly body?: readonly string[] | 'lines';
}

const bulkQuery = [
  '_source',
  '_source_excludes',
  '_source_includes',
  'pipeline',
  'refresh',
  'require_alias',
  'routing',
  'timeout',
  'wait_for_active_shards',
];

export const operations: readonly Operation[] = [
  { name: 'info', method: 'GET', path: '/', query: [] },
  {
    name: 'cat.plugins',
    method: 'GET',
    path: '/_cat/plugins',
    query: ['cluster_manager_timeout', 'format', 'h', 'help', 'local', 's', 'v'],
  },
  {
    name: 'indices.get_alias',
    method: 'GET',
    path: '/_alias/{name}',
    query: ['allow_no_indices', 'expand_wildcards', 'ignore_unavailable', 'local'],
  },
  {
    name: 'indices.update_aliases',
    method: 'POST',
    path: '/_aliases',
    query: ['cluster_manager_timeout', 'timeout'],
    body: ['actions'],
  },
  {
    name: 'indices.create',
    method: 'PUT',
    path: '/{index}',
    query: ['cluster_manager_timeout', 'timeout', 'wait_for_active_shards'],
    body: ['aliases', 'mappings', 'settings'],
  },
  {
    name: 'indices.delete',
    method: 'DELETE',
    path: '/{index}',
    query: ['allow_no_indices', 'cluster_manager_timeout', 'expand_wildcards', 'ignore_unavailable', 'timeout'],
  },
  {
    name: 'indices.get_mapping',
    method: 'GET',
    path: '/{index}/_mapping',
    query: ['allow_no_indices', 'cluster_manager_timeout', 'expand_wildcards', 'ignore_unavailable', 'local'],
  },
  {
    name: 'indices.put_mapping',
    method: 'PUT',
    path: '/{index}/_mapping',
    query: [
      'allow_no_indices',
      'cluster_manager_timeout',
      'expand_wildcards',
      'ignore_unavailable',
      'timeout',
      'write_index_only',
    ],
    body: [
      '_field_names',
      '_meta',
      '_routing',
      '_source',
      'date_detection',
      'dynamic',
      'dynamic_date_formats',
      'dynamic_templates',
      'numeric_detection',
      'properties',
    ],
  },
  {
    name: 'indices.refresh',
    method: 'POST',
    path: '/{index}/_refresh',
    query: ['allow_no_indices', 'expand_wildcards', 'ignore_unavailable'],
  },
  { name: 'bulk', method: 'POST', path: '/{index}/_bulk', query: bulkQuery, body: 'lines' },
  {
    name: 'msearch',
    method: 'POST',
    path: '/_msearch',
    query: [
      'ccs_minimize_roundtrips',
      'max_concurrent_searches',
      'max_concurrent_shard_requests',
      'pre_filter_shard_size',
      'rest_total_hits_as_int',
      'search_type',
      'typed_keys',
    ],
    body: 'lines',
  },
  {
    name: 'search',
    method: 'POST',
    path: '/{index}/_search',
    query: ['allow_partial_search_results', 'request_cache', 'search_type', 'timeout', 'track_total_hits'],
    body: ['_source', 'aggs', 'aggregations', 'query', 'size', 'sort', 'timeout', 'track_total_hits'],
  },
  {
    name: 'delete_by_query',
    method: 'POST',
    path: '/{index}/_delete_by_query',
    query: [
      'conflicts',
      'max_docs',
      'refresh',
      'requests_per_second',
      'scroll_size',
      'search_timeout',
      'slices',
      'timeout',
      'wait_for_completion',
    ],
    body: ['max_docs', 'query', 'slice'],
  },
];

/** Members of objects within bodies, by their schema in the specification. */
export const members = {
  bulkIndex: [
    '_id',
    '_index',
    'routing',
    'if_primary_term',
    'if_seq_no',
    'op_type',
    'version',
    'version_type',
    'pipeline',
    'require_alias',
  ],
  searchHeader: [
    'allow_no_indices',
    'expand_wildcards',
    'ignore_unavailable',
    'index',
    'preference',
    'request_cache',
    'routing',
    'search_type',
    'allow_partial_search_results',
  ],
  searchBody: ['_source', 'query', 'size', 'timeout', 'track_total_hits'],
  bool: ['_name', 'boost', 'filter', 'minimum_should_match', 'must', 'must_not', 'should', 'adjust_pure_negative'],
  term: ['value', 'boost', 'case_insensitive', '_name'],
  knn: ['vector', 'k', 'filter', 'min_score', 'max_distance', 'method_parameters', 'rescore', 'boost', '_name'],
  aggregation: ['composite', 'terms', 'aggs', 'aggregations', 'meta'],
  composite: ['after', 'size', 'sources'],
  termsAggregation: ['field', 'size', 'order', 'min_doc_count', 'missing'],
  aliasAction: ['add', 'remove', 'remove_index'],
  aliasAdd: ['alias', 'aliases', 'filter', 'index', 'indices', 'is_hidden', 'is_write_index', 'routing', 'must_exist'],
  aliasRemove: ['alias', 'aliases', 'index', 'indices', 'must_exist'],
  alias: ['filter', 'index_routing', 'is_hidden', 'is_write_index', 'routing', 'search_routing'],
  indexSettings: ['number_of_shards', 'number_of_replicas', 'refresh_interval', 'similarity', 'knn'],
  mapping: ['_meta', '_source', 'dynamic', 'properties'],
  knnVector: [
    'type',
    'dimension',
    'space_type',
    'data_type',
    'mode',
    'compression_level',
    'method',
    'model_id',
    'doc_values',
    'store',
    'meta',
  ],
  knnMethod: ['name', 'space_type', 'engine', 'parameters'],
  text: ['type', 'analyzer', 'similarity', 'index_options', 'norms', 'index', 'store', 'search_analyzer'],
  simpleField: ['type', 'index', 'doc_values', 'store'],
} as const;
