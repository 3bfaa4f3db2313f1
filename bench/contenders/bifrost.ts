// Bifrost, a gateway in Go, with keys, budgets and rate limits (its governance plugin). It is found installed if
// `bifrost-http` is on the path.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Peer } from './installed.ts'
import type { Upstreams } from './servers.ts'
import { MODELS, PRICE } from './tollgate.ts'

const KEYS = Array.from({ length: 10 }, (_, index) => `application-${index}`)
const SMALL = 'small-budget'
const ENOUGH = 900_000

export const BIFROST: Peer = {
  name: 'Bifrost',
  command: 'bifrost-http',
  prepare: ({ folder, port, upstreams, smallBudgetUsd }) => {
    const write = (name: string, content: object): string => {
      const file = join(folder, name)
      writeFileSync(file, JSON.stringify(content))
      return file
    }
    // By itself it downloads its prices, and does not start where it cannot.
    const pricing = {
      pricing_url: `file://${write('pricing.json', pricesOf())}`,
      model_parameters_url: `file://${write('model-parameters.json', {})}`,
    }
    write('config.json', {
      ...{ framework: { pricing }, providers: providersOf(upstreams) },
      config_store: storeOf(join(folder, 'config.db')),
      // Its own default: it keeps a row for each request, as Tollgate does.
      logs_store: storeOf(join(folder, 'logs.db')),
      plugins: [{ name: 'governance', enabled: true, config: { is_vk_mandatory: true } }],
      governance: governanceOf(smallBudgetUsd),
    })
    const words = ['-app-dir', folder, '-host', '127.0.0.1', '-port', String(port)]
    return [...words, '-log-level', 'info']
  },
  ready: /successfully started bifrost|started server/i,
  secrets: KEYS.map(secretOf),
  unknownSecret: secretOf('unknown'),
  smallBudget: secretOf(SMALL),
  modelPrefix: 'openai/',
}

/** It takes a virtual key for one by how it begins. */
function secretOf(id: string): string {
  return `sk-bf-${id}`
}

function storeOf(path: string): object {
  return { enabled: true, type: 'sqlite', config: { path } }
}

function pricesOf(): object {
  const price = {
    ...{ provider: 'openai', mode: 'chat' },
    input_cost_per_token: PRICE.input / 1e6,
    output_cost_per_token: PRICE.output / 1e6,
  }
  const entries = Object.values(MODELS).map((model) => [model, { ...price, base_model: model }])
  return Object.fromEntries(entries) as object
}

/** One address per provider, so all its answers come from the upstream that can stream. */
function providersOf({ streams }: Upstreams): object {
  return {
    openai: {
      keys: [{ id: 'bench', name: 'bench', value: 'none', models: ['*'], weight: 1 }],
      network_config: { base_url: streams.url, default_request_timeout_in_seconds: 60 },
    },
  }
}

function governanceOf(smallBudgetUsd: number): object {
  const ids = [...KEYS, SMALL]
  const provider = { provider: 'openai', key_ids: ['*'], allowed_models: ['*'], weight: 1 }
  return {
    virtual_keys: ids.map((id) => ({
      ...{ id, name: id, value: secretOf(id), is_active: true, rate_limit_id: `rate-${id}` },
      provider_configs: [provider],
    })),
    budgets: ids.map((id) => ({
      ...{ id: `budget-${id}`, reset_duration: '1M', virtual_key_id: id },
      max_limit: id === SMALL ? smallBudgetUsd : ENOUGH,
    })),
    rate_limits: ids.map((id) => ({
      ...{ id: `rate-${id}`, request_max_limit: 100_000_000, request_reset_duration: '1m' },
    })),
  }
}
