// LiteLLM, a gateway in Python, with its master key alone: its own keys and budgets need PostgreSQL, and prisma for it,
// whose engine comes from a host of its own and from no package registry. It is found installed if `litellm` is on the
// path.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Peer } from './installed.ts'
import type { Upstreams } from './servers.ts'
import { MODELS } from './tollgate.ts'

// It does not start without one.
const MASTER_KEY = `sk-${randomBytes(32).toString('hex')}`

export const LITELLM: Peer = {
  name: 'LiteLLM',
  command: 'litellm',
  prepare: ({ folder, port, upstreams }) => {
    const file = join(folder, 'config.yaml')
    writeFileSync(file, configOf(upstreams))
    return ['--config', file, '--host', '127.0.0.1', '--port', String(port)]
  },
  ready: /Uvicorn running on/,
  secrets: [MASTER_KEY],
  unknownSecret: undefined,
  smallBudget: {
    missing: 'keys with budgets need PostgreSQL, and prisma, which no package registry has whole',
  },
  modelPrefix: '',
}

function configOf({ whole, streams }: Upstreams): string {
  const entry = (model: string, url: string): string => `
  - model_name: ${model}
    litellm_params: { model: openai/${model}, api_base: "${url}/v1", api_key: none }`
  return `general_settings: { master_key: ${MASTER_KEY} }
model_list:${[
    entry(MODELS.chat, whole.url),
    entry(MODELS.embedding, whole.url),
    entry(MODELS.stream, streams.url),
    entry(MODELS.slow, streams.url),
  ].join('')}
`
}
