// Gateways without an npm package: they take part if they are installed, started as their users start them, with one
// process each.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/process.ts'
import { GATEWAY_CORE, start } from '../processes.ts'
import type { Contender } from './contender.ts'
import type { Upstreams } from './servers.ts'
import { MODELS } from './tollgate.ts'
import { needsKeys } from '../workloads.ts'

type Peer = {
  readonly name: string
  readonly command: string
  /** Writes its configuration; returns the arguments of the command. */
  prepare(folder: string, port: number, upstreams: Upstreams): readonly string[]
  readonly ready: RegExp
  /** The client's credential. */
  readonly secret: string
  /** Prefix of the model's name, if the gateway requires the provider there. */
  readonly modelPrefix: string
}

// LiteLLM does not start without a master key.
const MASTER_KEY = `sk-${randomBytes(32).toString('hex')}`

const PEERS: readonly Peer[] = [
  {
    name: 'LiteLLM',
    command: 'litellm',
    prepare: (folder, port, upstreams) => {
      const file = join(folder, 'config.yaml')
      writeFileSync(file, liteLlmConfig(upstreams))
      return ['--config', file, '--host', '127.0.0.1', '--port', String(port)]
    },
    ready: /Uvicorn running on/,
    secret: MASTER_KEY,
    modelPrefix: '',
  },
  {
    name: 'Bifrost',
    command: 'bifrost-http',
    prepare: (folder, port, upstreams) => {
      writeFileSync(join(folder, 'config.json'), JSON.stringify(bifrostConfig(upstreams)))
      const words = ['-app-dir', folder, '-host', '127.0.0.1', '-port', String(port)]
      return [...words, '-log-level', 'info']
    },
    ready: /successfully started bifrost|started server/i,
    secret: 'none',
    modelPrefix: 'openai/',
  },
]

/** The installed ones, each with a start that may still fail. */
export function findInstalled(
  folder: string,
  upstreams: Upstreams,
): readonly { readonly name: string; start(): Promise<Contender> }[] {
  return PEERS.filter(({ command }) => spawnSync(command, ['--help']).error === undefined).map(
    (peer) => ({ name: peer.name, start: () => startPeer(peer, folder, upstreams) }),
  )
}

async function startPeer(peer: Peer, folder: string, upstreams: Upstreams): Promise<Contender> {
  const { name, command, ready, secret, modelPrefix } = peer
  const own = join(folder, command)
  mkdirSync(own, { recursive: true })
  const port = await freePort()
  const words = peer.prepare(own, port, upstreams)
  const logFile = join(own, 'log')
  const { pid, startMs } = await start({
    name,
    command: [command, ...words],
    core: GATEWAY_CORE,
    logFile,
    ready,
  })
  const way = {
    url: `http://127.0.0.1:${port}`,
    headers: [{ authorization: `Bearer ${secret}` }],
    modelPrefix,
  }
  return { name, pid, startMs, wayOf: (workload) => (needsKeys(workload) ? undefined : way) }
}

function liteLlmConfig({ whole, streams }: Upstreams): string {
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

/** Bifrost has one address per provider, so all its answers come from the upstream that can stream. */
function bifrostConfig({ streams }: Upstreams): object {
  return {
    providers: {
      openai: {
        keys: [{ name: 'bench', value: 'none', models: ['*'], weight: 1 }],
        network_config: { base_url: streams.url, default_request_timeout_in_seconds: 60 },
      },
    },
  }
}
