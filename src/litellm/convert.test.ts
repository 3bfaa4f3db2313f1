// What becomes of a LiteLLM configuration: what is written, what is named with its line, and what is refused.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { catalogOf } from '../config/catalog-of.ts'
import { loadConfig } from '../config/load.ts'
import { isObject } from '../core/json.ts'
import { convert, type Conversion } from './convert.ts'
import { ImportError } from './source.ts'
import { readPriceData } from './units.ts'
import { fileText, shownText, writeImported } from './write.ts'

const NOW = Date.UTC(2026, 10, 18)

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'litellm-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

function converted(yaml: string, prices?: object): Conversion {
  const folder = folderWith({ 'config.yaml': yaml, 'prices.json': JSON.stringify(prices ?? {}) })
  const data = prices === undefined ? null : readPriceData(join(folder, 'prices.json'))
  return convert(join(folder, 'config.yaml'), { prices: data, now: NOW })
}

/** What is written, as data. */
function written(conversion: Conversion, section: string): Record<string, unknown> {
  const document: unknown = parse(fileText(conversion))
  const found = isObject(document) ? document[section] : undefined
  return isObject(found) ? found : {}
}

function left({ summary }: Conversion): readonly string[] {
  return summary.left.map(({ line, path, why }) => `${line} ${path}: ${why}`)
}

function problemsOf(yaml: string): string {
  try {
    converted(yaml)
  } catch (error) {
    assert.ok(error instanceof ImportError)
    return error.message
  }
  return ''
}

describe('a model list', () => {
  test('of several deployments becomes targets with weights, and fallbacks by order', () => {
    const conversion = converted(`
model_list:
  - model_name: gpt-5
    litellm_params: { model: openai/gpt-5, api_key: os.environ/OPENAI_API_KEY, weight: 3, order: 1 }
  - model_name: gpt-5
    litellm_params:
      model: azure/prod-5
      api_base: https://eu.openai.azure.com/openai/deployments/prod-5
      api_key: os.environ/AZURE_EU
      api_version: 2024-10-21
      weight: 1
      order: 1
    model_info: { base_model: azure/gpt-5 }
  - model_name: gpt-5
    litellm_params: { model: openai/gpt-5-mini, order: 2 }
`)
    assert.deepEqual(written(conversion, 'models')['gpt-5'], {
      targets: [
        { to: 'openai/gpt-5', weight: 3 },
        { to: 'azure/prod-5', weight: 1 },
      ],
      fallbacks: ['openai/gpt-5-mini'],
    })
    assert.deepEqual(written(conversion, 'providers'), {
      openai: { kind: 'openai', api_key: '${OPENAI_API_KEY}' },
      azure: {
        kind: 'azure',
        base_url: 'https://eu.openai.azure.com',
        api_version: '2024-10-21',
        api_key: '${AZURE_EU}',
        models: { 'prod-5': { price_like: 'openai/gpt-5' } },
      },
    })
    assert.deepEqual(left(conversion), [])
  })

  test('splits by rpm where there are no weights, as LiteLLM does, and names limits that are none here', () => {
    const conversion = converted(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-5, rpm: 900 } }
  - { model_name: a, litellm_params: { model: anthropic/claude-sonnet-4-6, rpm: 300 } }
  - { model_name: b, litellm_params: { model: openai/gpt-5-mini, rpm: 10 } }
`)
    assert.deepEqual(written(conversion, 'models')['a'], {
      targets: [
        { to: 'openai/gpt-5', weight: 3 },
        { to: 'anthropic/claude-sonnet-4-6', weight: 1 },
      ],
    })
    assert.match(fileText(conversion), /# weights: in the proportion of rpm there/)
    assert.deepEqual(left(conversion), [
      '5 model_list[2].litellm_params.rpm: a target has no limits of its own',
    ])
  })

  test('keeps two prices of one model apart, as two providers with the same credentials', () => {
    const conversion = converted(`
model_list:
  - model_name: cheap
    litellm_params: { model: openai/gpt-5, input_cost_per_token: 0.000001, output_cost_per_token: 2e-6 }
  - model_name: dear
    litellm_params: { model: openai/gpt-5, input_cost_per_token: 0.00000333333333, output_cost_per_token: 0 }
`)
    const providers = written(conversion, 'providers')
    const priceAt = (name: string): unknown => {
      const { models } = providers[name] as { models: Record<string, { price: unknown }> }
      return models['gpt-5']?.price
    }
    assert.deepEqual(priceAt('openai'), { input: 1, output: 2 })
    assert.deepEqual(priceAt('openai-2'), { input: 3.333334, output: 0 })
    assert.deepEqual(written(conversion, 'models'), {
      cheap: { targets: ['openai/gpt-5'] },
      dear: { targets: ['openai-2/gpt-5'] },
    })
  })

  test('takes over Bedrock, Vertex AI, Gemini and servers of one’s own', () => {
    const conversion = converted(`
model_list:
  - model_name: claude
    litellm_params:
      model: bedrock/converse/eu.anthropic.claude-sonnet-4-6
      aws_region_name: eu-central-1
      aws_access_key_id: os.environ/AWS_ID
      aws_secret_access_key: os.environ/AWS_KEY
  - model_name: gemini
    litellm_params:
      model: vertex_ai/gemini-2.5-pro
      vertex_project: acme
      vertex_location: europe-west1
      vertex_credentials: /etc/vertex.json
  - { model_name: flash, litellm_params: { model: gemini/gemini-2.5-flash } }
  - { model_name: llama, litellm_params: { model: ollama_chat/llama3.1, api_base: "http://gpu:11434" } }
`)
    assert.deepEqual(written(conversion, 'providers'), {
      bedrock: {
        kind: 'bedrock',
        region: 'eu-central-1',
        access_key_id: '${AWS_ID}',
        secret_access_key: '${AWS_KEY}',
      },
      vertex: {
        kind: 'vertex',
        project: 'acme',
        location: 'europe-west1',
        credentials: 'file:/etc/vertex.json',
      },
      gemini: { kind: 'gemini', api_key: '${GEMINI_API_KEY:-}' },
      ollama: {
        kind: 'openai',
        preset: 'ollama',
        base_url: 'http://gpu:11434/v1',
        models: { 'llama3.1': { price: 'free', context: 131072, max_output: 16384 } },
      },
    })
  })

  test('takes over how it signs in: named credentials, Entra ID, and what has no counterpart', () => {
    const conversion = converted(`
model_list:
  - model_name: a
    litellm_params: { model: azure/gpt-5, litellm_credential_name: eu, api_version: preview }
  - model_name: b
    litellm_params:
      model: azure/gpt-5-mini
      api_base: https://b.openai.azure.com
      tenant_id: os.environ/TENANT
      client_id: app
      client_secret: os.environ/SECRET
  - { model_name: c, litellm_params: { model: azure/gpt-5, azure_ad_token: os.environ/TOKEN } }
  - { model_name: d, litellm_params: { model: bedrock/anthropic.claude-x, aws_role_name: arn } }
credential_list:
  - { credential_name: eu, credential_values: { api_key: os.environ/EU, api_base: "https://a.openai.azure.com/" } }
  - { credential_name: idle, credential_values: { api_key: os.environ/IDLE } }
`)
    assert.deepEqual(written(conversion, 'providers'), {
      azure: { kind: 'azure', base_url: 'https://a.openai.azure.com/', api_key: '${EU}' },
      'azure-b': {
        kind: 'azure',
        base_url: 'https://b.openai.azure.com',
        entra: { tenant_id: '${TENANT}', client_id: 'app', client_secret: '${SECRET}' },
      },
    })
    assert.deepEqual(
      left(conversion).map((line) => line.replace(/:.*/, '')),
      [
        '12 model_list[2] (c)',
        '13 model_list[3] (d)',
        '16 credential_list[1].credential_values.api_key',
      ],
    )
  })

  test('applies a margin or a discount to prices that are written, too', () => {
    const conversion = converted(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-5, input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 } }
  - { model_name: b, litellm_params: { model: openai/gpt-5-mini } }
litellm_settings: { cost_margin_config: { global: 0.5, openai: { percentage: 0.1, fixed_amount: 1 } } }
`)
    assert.deepEqual(written(conversion, 'providers')['openai'], {
      kind: 'openai',
      api_key: '${OPENAI_API_KEY:-}',
      discount: -0.1,
      models: { 'gpt-5': { price: { input: 1.1, output: 2.2 } } },
    })
    assert.deepEqual(
      left(conversion).map((line) => line.replace(/:.*/, '')),
      ['5 litellm_settings.cost_margin_config.openai.fixed_amount'],
    )
  })

  test('names what cannot be served, and keeps what can', () => {
    const conversion = converted(`
model_list:
  - { model_name: picture, litellm_params: { model: openai/gpt-image-1 } }
  - { model_name: sage, litellm_params: { model: sagemaker/llama } }
  - { model_name: unknown, litellm_params: { model: openai/acme-1, api_base: "https://llm.acme.example/v1" } }
  - { model_name: two words, litellm_params: { model: openai/gpt-5 } }
  - { model_name: nothing }
  - { model_name: gpt-5, litellm_params: { model: openai/gpt-5, temperature: 0.2, tags: [eu] } }
router_settings: { fallbacks: [{ gpt-5: [unknown] }], model_group_alias: { best: gpt-5, other: unknown } }
`)
    assert.deepEqual(Object.keys(written(conversion, 'models')), ['gpt-5', 'best'])
    assert.deepEqual(
      left(conversion).map((line) => line.slice(0, 95)),
      [
        '3 model_list[0] (picture): is neither a chat nor an embedding model: no endpoint here serves it',
        '4 model_list[1] (sage): is of the provider sagemaker, which has no counterpart here',
        '5 model_list[2] (unknown): is not served here: openai/acme-1 has no known price, context window',
        '6 model_list[3] (two words): is called "two words": a name here has no spaces or commas',
        '7 model_list[4] (nothing): has no litellm_params.model, so nothing can serve it',
        '8 model_list[5].litellm_params.temperature: is sent along with every request there: here a clie',
        '8 model_list[5].litellm_params.tags: requests are not routed by tags',
        '9 router_settings.model_group_alias.other: its model is not served here',
      ],
    )
  })

  test('takes the price data of LiteLLM for what is not known here', () => {
    const yaml = `
model_list:
  - { model_name: unknown, litellm_params: { model: openai/acme-1, api_base: "https://llm.acme.example/v1" } }
  - { model_name: half, litellm_params: { model: openai/gpt-5, input_cost_per_token: 0.000001 } }
`
    assert.match(left(converted(yaml)).join('\n'), /half of a price.*--prices/)
    const conversion = converted(yaml, {
      'acme-1': {
        input_cost_per_token: 5e-7,
        output_cost_per_token: 1e-6,
        max_input_tokens: 8000,
        max_tokens: 4000,
      },
      'gpt-5': { input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5 },
    })
    assert.deepEqual(Object.keys(written(conversion, 'models')), ['unknown', 'half'])
    const text = JSON.stringify(written(conversion, 'providers'))
    assert.match(
      text,
      /"acme-1":\{"price":\{"input":0.5,"output":1\},"context":8000,"max_output":4000\}/,
    )
    assert.match(text, /"gpt-5":\{"price":\{"input":1,"output":10\}\}/)
  })

  test('has a wildcard stand for the models that are known of the provider', () => {
    const conversion = converted(`
model_list:
  - { model_name: "anthropic/*", litellm_params: { model: "anthropic/*" } }
  - { model_name: "*", litellm_params: { model: "bedrock/*" } }
`)
    assert.ok('anthropic/claude-sonnet-4-6' in written(conversion, 'models'))
    assert.match(left(conversion).join('\n'), /^4 model_list\[1\] \(\*\): means every model/)
  })
})

describe('other settings', () => {
  test('become the frame, limits, timeouts, discounts, fallbacks and other names', () => {
    const conversion = converted(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-5, timeout: 30, stream_timeout: 5, max_tokens: 900 } }
  - { model_name: b, litellm_params: { model: anthropic/claude-sonnet-4-6 } }
litellm_settings:
  max_budget: 250.5
  budget_duration: 30d
  request_timeout: 600
  default_fallbacks: [b]
  cost_discount_config: { anthropic: 0.05 }
general_settings: { max_request_size_mb: 8, maximum_spend_logs_retention_period: 90d }
router_settings: { model_group_alias: { best: { model: a, hidden: false } } }
`)
    assert.deepEqual(written(conversion, 'frame'), { budget: 250.5, period: 'month' })
    assert.deepEqual(written(conversion, 'server'), {
      host: '0.0.0.0',
      port: 4000,
      body_limit: '8MB',
    })
    assert.deepEqual(written(conversion, 'ledger'), { keep_usage: '90d' })
    const timeouts = { first_byte: '600s', idle: '600s' }
    assert.deepEqual(written(conversion, 'providers'), {
      openai: { kind: 'openai', api_key: '${OPENAI_API_KEY:-}', timeouts },
      anthropic: { kind: 'anthropic', api_key: '${ANTHROPIC_API_KEY:-}', timeouts, discount: 0.05 },
    })
    const a = {
      targets: [{ to: 'openai/gpt-5', timeouts: { first_byte: '30s', idle: '5s' } }],
      fallbacks: ['anthropic/claude-sonnet-4-6'],
      default_output: 900,
    }
    assert.deepEqual(written(conversion, 'models'), {
      a,
      b: { targets: ['anthropic/claude-sonnet-4-6'] },
      best: a,
    })
    assert.deepEqual(left(conversion), [])
  })

  test('without a counterpart are named with their lines, also unknown ones', () => {
    const conversion = converted(`
model_list: []
litellm_settings:
  cache: true
  cache_params: { type: redis, host: x }
  drop_params: true
  brand_new: 1
  success_callback: []
general_settings:
  master_key: sk-1234
  master_key: sk-5678
  pass_through_endpoints: [{ path: /x, target: "https://x.example" }]
guardrails: [{ guardrail_name: g }]
something_else: { a: { b: 1 } }
`)
    assert.deepEqual(
      left(conversion).map((line) => line.replace(/:.*/, '')),
      [
        '4 litellm_settings.cache',
        '5 litellm_settings.cache_params',
        '7 litellm_settings.brand_new',
        '8 litellm_settings.success_callback',
        '11 general_settings.master_key',
        '10 general_settings.master_key',
        '12 general_settings.pass_through_endpoints',
        '13 guardrails',
        '14 something_else.a.b',
      ],
    )
    assert.doesNotMatch(fileText(conversion), /sk-1234|sk-5678/)
  })

  test('that only look like a variable or a provider are named', () => {
    const conversion = converted(`
model_list:
  - model_name: a
    litellm_params: { model: openai/gpt-5, api_key: os.environ/MY-KEY }
  - model_name: b
    litellm_params: { model: constructor/x }
`)
    assert.deepEqual(left(conversion), [
      '4 model_list[0].litellm_params.api_key: names a variable that no shell can set',
      '5 model_list[1] (b): is of the provider constructor, which has no counterpart here',
    ])
  })

  test('come from included files, with the lines there', () => {
    const folder = folderWith({
      'config.yaml': 'include: [models.yaml]\nmodel_list: []\n',
      'models.yaml':
        'model_list:\n  - model_name: sage\n    litellm_params: { model: sagemaker/x }\n',
    })
    const { summary } = convert(join(folder, 'config.yaml'), { prices: null, now: NOW })
    assert.deepEqual(
      summary.left.map(({ file, line }) => `${file}:${line}`),
      ['models.yaml:2'],
    )
  })

  test('come from files that included ones include, and are named if those say them again', () => {
    const folder = folderWith({
      'config.yaml': 'litellm_settings: { drop_params: true }\ninclude: [more.yaml]\nmodel_list:\n',
      'more.yaml': 'include: models.yaml\n\nlitellm_settings: { telemetry: false }\n',
      'models.yaml':
        'model_list:\n  - model_name: sage\n    litellm_params: { model: sagemaker/x }\n',
    })
    const { summary } = convert(join(folder, 'config.yaml'), { prices: null, now: NOW })
    assert.deepEqual(
      summary.left.map(({ file, line, why }) => `${file}:${line} ${why}`),
      [
        'models.yaml:2 is of the provider sagemaker, which has no counterpart here',
        'config.yaml:1 is written again in more.yaml:3, which counts',
      ],
    )
  })
})

describe('the file', () => {
  test('is accepted by Tollgate, which serves every model in it', () => {
    const conversion = converted(`
model_list:
  - { model_name: "openai/*", litellm_params: { model: "openai/*", api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: gpt, litellm_params: { model: openai/gpt-5, api_base: os.environ/PROXY, api_key: "a\${b" } }
  - { model_name: local, litellm_params: { model: hosted_vllm/llama, api_base: "http://gpu:8000/v1" } }
litellm_settings: { cache: true }
`)
    const folder = folderWith({ 'tollgate.yaml': fileText(conversion) })
    const env = { OPENAI_API_KEY: 'one', PROXY: 'https://proxy.example/v1' }
    const config = loadConfig({ env, folder })
    assert.deepEqual([...config.leftOut], [])
    assert.ok(config.providers.some((each) => 'apiKeys' in each && each.apiKeys?.[0] === 'a${b'))
    const models = catalogOf(config, { sandbox: [], now: NOW }).list()
    assert.deepEqual(
      models.filter(({ reason }) => reason !== null),
      [],
    )
    assert.ok(models.length > 10)
  })

  test('is shown without the secrets in it, and says which are written out', () => {
    const conversion = converted(`
model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-5, api_key: sk-plain } }
  - model_name: b
    litellm_params: { model: azure/gpt-5, tenant_id: t, client_id: c, client_secret: hidden, api_base: "https://a.openai.azure.com" }
  - { model_name: c, litellm_params: { model: gemini/gemini-2.5-pro, api_key: os.environ/GEMINI } }
`)
    const shown = shownText(conversion)
    assert.doesNotMatch(shown, /sk-plain|hidden/)
    assert.match(shown, /api_key: \$\{GEMINI\}/)
    const text = fileText(conversion)
    assert.match(text, /sk-plain/)
    assert.equal(text.match(/is written out, as there/g)?.length, 2)
  })

  test('is replaced by the next import, unless someone has changed it, and is for its owner alone', () => {
    const folder = folderWith({})
    const path = join(folder, 'tollgate.yaml')
    const text = fileText(converted('model_list: []'))
    writeImported(path, text)
    writeImported(path, text)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    writeFileSync(path, readFileSync(path, 'utf8').replace('4000', '4001'))
    assert.throws(() => writeImported(path, text), /is not as an import left it/)
  })
})

describe('a file that is no LiteLLM configuration', () => {
  const wrong = {
    'is not YAML': ['model_list: [', /^config\.yaml:1 is not valid YAML: /],
    'is a list': ['- a', /config\.yaml is no LiteLLM configuration: it must begin with a section/],
    'is of something else': [
      'services: { web: 1 }',
      /config\.yaml is no LiteLLM configuration: it has none of model_list/,
    ],
    'has models of another shape': [
      'model_list: { a: 1 }',
      /^config\.yaml:1 model_list must be a list of models$/,
    ],
    'repeats itself without end': ['model_list: &a [*a]', /config\.yaml:1 repeats its aliases/],
    'has an alias of nothing': [
      'model_list: *a',
      /^config\.yaml:1 has an alias \(\*name\) of nothing/,
    ],
    'includes what is not there': [
      'include: [none.yaml]',
      /^none\.yaml, which config\.yaml:1 includes, cannot be read \(ENOENT\)$/,
    ],
    'includes itself': ['include: [config.yaml]', /^config\.yaml:1 includes config\.yaml again$/],
    'gives one name to two models': [
      `
model_list: [{ model_name: a, litellm_params: { model: openai/gpt-5 } }]
router_settings: { model_group_alias: { a: a } }`,
      /^config\.yaml:3 router_settings\.model_group_alias\.a gives the name a to a, and config\.yaml:2 has a model/,
    ],
  } as const
  for (const [what, [yaml, message]] of Object.entries(wrong)) {
    test(`is refused: it ${what}`, () => assert.match(problemsOf(yaml), message))
  }
})
