// Every setting that LiteLLM documents, and what it is here. docs/coming-from-litellm.md has the same table, held by a
// test. What is taken over is read elsewhere; the others are named with these words.

type Counterpart = {
  /** The section it stands in. */
  readonly section: Section
  readonly names: readonly string[]
  /** `needless`: so here without a setting; `left`: it has no counterpart. */
  readonly is: 'taken' | 'needless' | 'left'
  readonly here: string
}

export type Section =
  | 'litellm_params'
  | 'model_info'
  | 'litellm_settings'
  | 'router_settings'
  | 'general_settings'
  | 'top'

function rows(
  section: Section,
  is: Counterpart['is'],
  lines: Readonly<Record<string, string>>,
): readonly Counterpart[] {
  return Object.entries(lines).map(([names, here]) => ({
    section,
    is,
    names: names.split(' '),
    here,
  }))
}

const NO_REDIS = 'nodes share state through PostgreSQL'
const NO_CACHE = 'answers are not cached here'
const NO_CALLBACK =
  'there are no callbacks: the log, /metrics, `tollgate usage` and the database say what happened'
const BREAKERS = 'breakers and retries work by themselves here'
const NO_TAG_ROUTING = 'requests are not routed by tags'
const RECORDS = 'every request is a row in the books, and it is written before the answer ends'

export const COUNTERPARTS: readonly Counterpart[] = [
  ...rows('top', 'taken', {
    model_list: 'models, with their targets under providers',
    credential_list: 'the credentials of the providers that name them',
    include: 'the files are read too',
  }),
  ...rows('top', 'left', {
    environment_variables: 'set these variables in the environment of Tollgate',
    guardrails: 'there are no guardrails',
    'policies policy_attachments': 'there are no policies of guardrails',
    prompts: 'there are no stored prompts',
    'mcp_servers mcp_tools': 'there is no MCP gateway',
    'vector_store_registry search_tools sandbox_tools': 'there are no tools of the gateway itself',
    'files_settings finetune_settings assistant_settings':
      'there are no files, fine-tuning jobs or assistants',
    callback_settings: NO_CALLBACK,
  }),
  ...rows('litellm_params', 'taken', {
    'model custom_llm_provider': 'the provider and its model',
    'api_key api_base base_url organization': 'the same settings of the provider',
    'api_version deployment_id tenant_id client_id client_secret':
      'settings of a provider of kind azure',
    'aws_region_name aws_access_key_id aws_secret_access_key aws_session_token aws_profile_name aws_bedrock_runtime_endpoint':
      'settings of a provider of kind bedrock',
    'vertex_project vertex_location vertex_credentials vertex_ai_project vertex_ai_location vertex_ai_credentials':
      'settings of a provider of kind vertex',
    use_chat_completions_api: 'api: chat of the provider',
    litellm_credential_name: 'the provider with these credentials',
    'weight rpm tpm': 'the weights of targets; limits on a deployment do not exist here',
    order: 'the first order is the targets, later ones are fallbacks',
    'timeout stream_timeout': 'timeouts.first_byte and timeouts.idle of the target',
    max_tokens: 'default_output of the model',
    'input_cost_per_token output_cost_per_token cache_read_input_token_cost cache_creation_input_token_cost cache_creation_input_token_cost_above_1hr':
      'the price of the target',
  }),
  ...rows('litellm_params', 'needless', {
    drop_params: 'what a model cannot be sent is refused or dropped by a listed rule, and named',
    'max_retries num_retries': BREAKERS,
    merge_reasoning_content_in_choices: 'reasoning is translated for each format',
  }),
  ...rows('litellm_params', 'left', {
    'tags tag_regex': NO_TAG_ROUTING,
    max_parallel_requests:
      'a target has no limit of its own: concurrency is limited by key and by group',
    'max_budget budget_duration': 'a provider has no budget: keys, groups and the frame do',
    'default_api_key_rpm_limit default_api_key_tpm_limit itpm otpm':
      'limits belong to keys and groups',
    'mock_response mock_timeout mock_tool_calls': 'the sandbox plays models here',
    'extra_headers extra_body headers': 'nothing is added to requests',
    region_name: 'regions belong to providers, and routing does not look at them',
    use_in_pass_through: 'there are no pass-through routes',
    configurable_clientside_auth_params: 'clients cannot choose addresses or provider keys',
    azure_ad_token:
      'a token that expires is no credential: use tenant_id, client_id, client_secret',
    'input_cost_per_second output_cost_per_second input_cost_per_character output_cost_per_character input_cost_per_image output_cost_per_image input_cost_per_audio_token output_cost_per_audio_token output_cost_per_reasoning_token tiered_pricing':
      'a price is per token of text here',
    'input_cost_per_token_above_128k_tokens output_cost_per_token_above_128k_tokens input_cost_per_token_above_200k_tokens output_cost_per_token_above_200k_tokens':
      'a written price has no steps; the price data has',
  }),
  ...rows('model_info', 'taken', {
    mode: 'kind; what is neither chat nor embedding has no endpoint here',
    base_model: 'price_like of the target',
    'max_tokens max_input_tokens max_output_tokens': 'context and max_output',
    'input_cost_per_token output_cost_per_token cache_read_input_token_cost cache_creation_input_token_cost':
      'the price of the target',
    'supports_function_calling supports_vision supports_pdf_input supports_response_schema supports_reasoning':
      'abilities',
    access_groups: 'keys that have the group get its models by name',
  }),
  ...rows('model_info', 'needless', {
    'id db_model': 'targets are known by their names',
    'description type litellm_provider': 'says nothing about how to serve it',
    'created_at created_by updated_at updated_by': 'changes of the file are not recorded',
  }),
  ...rows('model_info', 'left', {
    'team_id team_public_model_name':
      'allowlists of keys and ceilings of groups offer a model, which belongs to no team',
    'health_check_model health_check_timeout health_check_voice disable_background_health_check':
      'targets are not called to check their health: breakers learn from requests',
    tier: 'there are no tiers of deployments',
    blocked: 'remove the target instead',
  }),
  ...rows('litellm_settings', 'taken', {
    'fallbacks default_fallbacks': 'fallbacks of the models',
    'request_timeout force_ipv4': 'timeouts of the providers; addresses are tried in turn here',
    'max_budget budget_duration': 'frame',
    cost_discount_config: 'discount of the providers',
    cost_margin_config: 'a discount below zero; fixed amounts do not exist here',
    model_alias_map: 'models with the same targets',
  }),
  ...rows('litellm_settings', 'needless', {
    'drop_params modify_params':
      'what a model cannot be sent is refused or dropped by a listed rule, and named',
    'num_retries allowed_fails cooldown_time': BREAKERS,
    'json_logs set_verbose': 'the log is always JSON',
    telemetry: 'nothing is reported to anyone',
    'turn_off_message_logging redact_user_api_key_info redact_messages_in_exceptions':
      'no prompt, answer or secret is ever logged',
    'disable_hf_tokenizer_download enable_preview_features disable_copilot_system_to_assistant disable_add_transform_inline_image_block':
      'nothing here depends on it',
    'use_chat_completions_url_for_anthropic_messages route_all_chat_openai_to_responses':
      'the format is chosen for each request: `api` of the provider fixes it',
    always_include_stream_usage: 'usage is metered on every stream',
    enable_json_schema_validation: 'providers check their own schemas',
  }),
  ...rows('litellm_settings', 'left', {
    'cache cache_params enable_redis_auth_cache enable_caching_on_provider_specific_optional_params':
      NO_CACHE,
    'success_callback failure_callback callbacks service_callback service_callbacks input_callback langfuse_default_tags s3_callback_params':
      NO_CALLBACK,
    'context_window_fallbacks content_policy_fallbacks':
      'a refusal of the request itself goes to the client; fallbacks are for failures',
    'guardrails skip_system_message_in_guardrail': 'there are no guardrails',
    'mcp_aliases mcp_semantic_tool_filter': 'there is no MCP gateway',
    'websearch_interception_params code_interpreter_interception_params':
      'tools that providers run are priced or dropped by name, never played here',
    'key_generation_settings upperbound_key_generate_params default_key_generate_params enable_key_alias_format_validation':
      'whoever may create keys decides on each; rules of a group bind its members (`groups update --self-service`)',
    'default_team_settings default_team_params default_internal_user_params max_internal_user_budget internal_user_budget_duration':
      'groups and people have no defaults of their own',
    'disable_end_user_cost_tracking disable_end_user_cost_tracking_prometheus_only':
      'there is no figure per end user',
    'include_cost_in_streaming_usage require_auth_for_metrics_endpoint':
      'the cost is in x-tollgate-cost and GET /v1/requests/{id}; /metrics needs a token',
    'public_model_groups public_model_groups_links': 'there is no public list of models',
  }),
  ...rows('router_settings', 'taken', {
    'fallbacks default_fallbacks': 'fallbacks of the models',
    model_group_alias: 'models with the same targets',
    'timeout stream_timeout': 'timeouts of the providers',
  }),
  ...rows('router_settings', 'needless', {
    'num_retries max_retries retry_after retry_policy model_group_retry_policy allowed_fails allowed_fails_policy cooldown_time disable_cooldowns max_fallbacks enable_weighted_failover':
      BREAKERS,
    'redis_host redis_port redis_password redis_url redis_db cache_kwargs client_ttl': NO_REDIS,
    'enable_pre_call_check enable_pre_call_checks':
      'a request that no target can hold is refused before anything is sent',
    'set_verbose debug_level': 'the log is always JSON',
    'ignore_invalid_deployments router_general_settings': 'a wrong model never stops the others',
    'optional_pre_call_checks deployment_affinity_ttl_seconds model_group_affinity_config':
      'a conversation stays on one target',
  }),
  ...rows('router_settings', 'left', {
    'routing_strategy routing_strategy_args routing_groups':
      'traffic is split by weight, and a conversation stays on one target',
    'enable_tag_filtering tag_filtering_match_any': NO_TAG_ROUTING,
    'context_window_fallbacks content_policy_fallbacks':
      'a refusal of the request itself goes to the client; fallbacks are for failures',
    'cache_responses caching_groups': NO_CACHE,
    default_litellm_params: 'nothing is added to requests',
    'default_max_parallel_requests default_priority polling_interval':
      'concurrency is limited by key and by group, in order of arrival',
    provider_budget_config: 'a provider has no budget: keys, groups and the frame do',
    'alerting_config guardrail_list search_tools assistants_config plugins':
      'it has no counterpart',
    'enable_health_check_routing health_check_staleness_threshold health_check_ignore_transient_errors':
      'targets are not called to check their health: breakers learn from requests',
  }),
  ...rows('general_settings', 'taken', {
    max_request_size_mb: 'server.body_limit',
    maximum_spend_logs_retention_period: 'ledger.keep_usage',
  }),
  ...rows('general_settings', 'needless', {
    'proxy_batch_write_at proxy_budget_rescheduler_min_time proxy_budget_rescheduler_max_time disable_reset_budget use_redis_transaction_buffer':
      RECORDS,
    'maximum_spend_logs_retention_interval maximum_spend_logs_cleanup_cron use_spend_logs_partitioning':
      'old rows are removed all the time, in small steps',
    'store_model_in_db supported_db_objects proxy_config_reload_interval_seconds':
      'models are in the configuration, which is read again when it changes',
    'user_api_key_cache_ttl disable_budget_reservation coordination_redis':
      'budgets hold, on every node',
    'enforce_rbac role_permissions': 'people have roles',
    'forward_client_headers_to_llm_api forward_openai_org_id forward_llm_provider_auth_headers':
      'headers of betas go upstream where the provider takes them, and no others',
    'disable_responses_id_security allow_requests_on_db_unavailable':
      'answers belong to their key, and without its books no request runs',
    'disable_master_key_return disable_adding_master_key_hash_to_db': 'there is no master key',
    always_include_stream_usage: 'usage is metered on every stream',
    'cancel_on_disconnect disable_prisma_schema_update use_x_forwarded_for':
      'nothing here depends on it',
    disable_retry_on_max_parallel_request_limit_error:
      'a request beyond a limit is refused, with the time to wait',
  }),
  ...rows('general_settings', 'left', {
    master_key:
      'there is no master key: people sign in (`tollgate users create`), programs have tokens',
    'database_url database_type database_args database_connection_pool_limit database_connection_timeout database_connection_pool_timeout database_connect_timeout database_socket_timeout database_extra_connection_params database_disable_prepared_statements':
      'Tollgate has a database of its own: give the address of LiteLLM’s to --database',
    'alerting alerting_threshold alerting_args alert_types alert_to_webhook_url alert_type_config spend_report_frequency':
      'alerts are set up in the administration interface',
    'pass_through_endpoints pass_through_request_timeout use_client_credentials_pass_through_routes':
      'there are no pass-through routes',
    'custom_auth custom_auth_run_common_checks custom_sso custom_ui_sso_sign_in_handler custom_key_generate custom_key_update custom_team_metadata_validate team_metadata_validation_timeout team_metadata_validation_error_message':
      'no code of yours runs inside the gateway',
    'enable_jwt_auth litellm_jwtauth enable_oauth2_auth enable_oauth2_proxy_auth oauth2_config_mappings':
      'applications have keys; people sign in with OpenID Connect (admin.oidc)',
    'key_management_system key_management_settings use_google_kms use_azure_key_vault':
      'write ${NAME} or file:/path where your vault puts the secret',
    'max_parallel_requests global_max_parallel_requests':
      'concurrency is limited by key and by group',
    'completion_model embedding_model image_generation_model moderation_model infer_model_from_keys':
      'a request names its model',
    'store_prompts_in_spend_logs disable_spend_logs disable_spend_updates disable_error_logs':
      RECORDS,
    'background_health_checks health_check_interval health_check_details health_check_concurrency use_shared_health_check enable_health_check_routing health_check_ignore_transient_errors health_check_staleness_threshold health_check_skip_disabled_background_models':
      'targets are not called to check their health: breakers learn from requests',
    'allowed_routes public_routes admin_only_routes allowed_ips':
      'keys have permissions; limit addresses in front of the gateway',
    'reject_clientside_metadata_tags enforce_user_param enforced_params user_header_name user_header_mappings litellm_key_header_name':
      'headers and fields of requests are read as docs/using.md says',
    'otel control_plane_url litellm_license plugins': 'it has no counterpart',
    'max_response_size_mb token_rate_limit_type':
      'answers are limited in tokens, and tpm counts all of them',
    'ui_access_mode auto_redirect_ui_login_to_sso allow_user_auth service_account_settings default_team_disabled':
      'people, groups and their roles: docs/people.md',
    'allow_client_side_credentials dangerously_allow_mock_testing_request_params':
      'clients cannot choose addresses or provider keys',
    'enable_mcp_registry mcp_client_side_auth_header_name mcp_internal_ip_ranges mcp_trusted_proxy_ranges mcp_required_fields require_end_user_mcp_access_defined user_mcp_management_mode search_tools':
      'there is no MCP gateway',
  }),
]

const BY_NAME = new Map(
  COUNTERPARTS.flatMap((row) => row.names.map((name) => [`${row.section}.${name}`, row] as const)),
)

export function counterpartOf(section: Section, name: string): Counterpart | undefined {
  return BY_NAME.get(`${section}.${name}`)
}
