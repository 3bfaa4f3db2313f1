// Fields that no request may carry, in any format and in passthrough too (docs/translation.md): those that belong to
// the provider account that all keys share, that change the price in a way no price list knows, that let a model read
// or write more than is held, or that let a request reach a model its key may not use.
import { invalidRequest, unsupportedParameter } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isGiven, isObject } from '../core/json.ts'
import { ACCOUNT } from './account-files.ts'
import type { FieldTable } from './fields.ts'

type Refusal = {
  readonly why: string
  /** The values that mean the same as leaving the field out. */
  readonly allows?: (value: Json) => boolean
  /** What SDKs that send the field on their own look for in the error, to continue without it. */
  readonly facts?: JsonObject
}

export const PRICE = 'it changes the price, and no price list says by how much'
const OUTPUT = 'it can produce more or longer answers than the hold covers'
const INPUT = 'it can make a model read more than the hold covers'
const REWRITE = 'it changes the request after the gateway has checked it'
const UNSETTLED = 'an answer that nobody waits for cannot be settled'
const ALLOWLIST = 'it can reach models or tools that the key does not allow'

export const REFUSED_FIELDS: Readonly<Record<string, Refusal>> = {
  conversation: { why: ACCOUNT },
  prompt: { why: ACCOUNT },
  container: { why: ACCOUNT },
  mcp_servers: { why: ACCOUNT, allows: (value) => isArray(value) && value.length === 0 },
  thread: { why: ACCOUNT, facts: { details: { error_code: 'thread_unsupported_request' } } },
  // Azure: data that the account may read. OpenRouter: settings stored under a name.
  data_sources: { why: ACCOUNT },
  preset: { why: ACCOUNT },
  // Prompts cached at Gemini, as Vertex AI and LiteLLM accept them, and documents and prompts stored in LiteLLM.
  google: { why: ACCOUNT, allows: (value) => isObject(value) && !isGiven(value['cached_content']) },
  cached_content: { why: ACCOUNT },
  vector_store_ids: { why: ACCOUNT, allows: (value) => isArray(value) && value.length === 0 },
  prompt_id: { why: ACCOUNT },
  background: { why: UNSETTLED, allows: (value) => value === false },
  deferred: { why: UNSETTLED, allows: (value) => value === false },
  service_tier: {
    why: PRICE,
    allows: (value) => value === 'auto' || value === 'default' || value === 'standard_only',
  },
  speed: { why: PRICE, allows: (value) => value === 'standard' },
  inference_geo: { why: PRICE },
  prediction: { why: PRICE },
  audio: { why: PRICE },
  modalities: {
    why: PRICE,
    allows: (value) => isArray(value) && value.every((each) => each === 'text'),
  },
  // Searches and routing of OpenAI-compatible providers, by the names that xAI, Alibaba and OpenRouter use.
  search_parameters: { why: PRICE, allows: (value) => isObject(value) && value['mode'] === 'off' },
  enable_search: { why: PRICE, allows: (value) => value === false },
  provider: { why: PRICE },
  // Limits by other names, which servers prefer to max_tokens or n: llama.cpp, text-generation-webui, Ollama's own.
  n_predict: { why: OUTPUT },
  num_predict: { why: OUTPUT },
  max_new_tokens: { why: OUTPUT },
  auto_max_new_tokens: { why: OUTPUT, allows: (value) => value === false },
  options: { why: OUTPUT, allows: (value) => isObject(value) && !isGiven(value['num_predict']) },
  n_cmpl: { why: OUTPUT, allows: (value) => value === 1 },
  best_of: { why: OUTPUT, allows: (value) => value === 1 },
  // OpenAI: a model starts any number of others, each with a context of its own, inside one request.
  multi_agent: { why: INPUT, allows: (value) => isObject(value) && value['enabled'] === false },
  // vLLM: a template may loop, and an image may be split into any number of tokens.
  chat_template: { why: INPUT },
  mm_processor_kwargs: { why: INPUT },
  // LiteLLM: texts around every message.
  roles: { why: INPUT },
  // LiteLLM overlays the body with the first, sends the next three as headers, removes the fields named in the fifth,
  // and marks for caching what the last one names.
  extra_body: { why: REWRITE },
  extra_headers: { why: REWRITE },
  headers: { why: REWRITE },
  provider_specific_header: { why: REWRITE },
  additional_drop_params: { why: REWRITE },
  cache_control_injection_points: { why: REWRITE },
  // On clouds that accept it, it could enable betas that the header of the same name may not.
  anthropic_beta: { why: 'betas go in the header anthropic-beta' },
  models: { why: ALLOWLIST },
  fallbacks: { why: ALLOWLIST },
  // LiteLLM lets the caller choose what follows a refusal, or all of its routing.
  context_window_fallbacks: { why: ALLOWLIST },
  content_policy_fallbacks: { why: ALLOWLIST },
  context_window_fallback_dict: { why: ALLOWLIST },
  router_settings_override: { why: ALLOWLIST },
  user_config: { why: ALLOWLIST },
  // LiteLLM, where its operator lets callers say where a request goes, and with which key.
  api_base: { why: ALLOWLIST },
  base_url: { why: ALLOWLIST },
  api_key: { why: ALLOWLIST },
  custom_llm_provider: { why: ALLOWLIST },
  model_list: { why: ALLOWLIST },
  plugins: { why: ALLOWLIST },
  compound_custom: { why: ALLOWLIST },
}

/** Refuses the first such field, or one that a server may take for a field of the format. null counts as left out. */
export function refuseFields(body: JsonObject, known: FieldTable): void {
  for (const name of Object.keys(body)) {
    refuseSpelling(name, known)
    const value = body[name]
    if (!isGiven(value) || !Object.hasOwn(REFUSED_FIELDS, name)) continue
    const refusal = REFUSED_FIELDS[name]
    if (refusal === undefined || refusal.allows?.(value) === true) continue
    const { why, facts } = refusal
    throw unsupportedParameter(name, `${name} is not supported: ${why}`, facts)
  }
}

const USUAL = /^[a-z\d_]*$/

/**
 * Servers written in Go, such as Ollama, read MODEL as model: beside a model that the key allows, it would name
 * another, and MAX_TOKENS would undo the limit.
 */
function refuseSpelling(name: string, known: FieldTable): void {
  if (USUAL.test(name)) return
  // Upper case, then lower case, as Go compares: two letters beyond ASCII equal an ASCII letter.
  const usual = name.toUpperCase().toLowerCase()
  if (usual === name) return
  if (!Object.hasOwn(known, usual) && !Object.hasOwn(REFUSED_FIELDS, usual)) return
  throw invalidRequest(name, `write ${usual} instead: some servers read both as the same field`)
}
