// Gateways without an npm package: they take part if they are installed, started as their users start them, with one
// process each.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/process.ts'
import { GATEWAY_CORE, start } from '../processes.ts'
import type { Running } from '../processes.ts'
import type { Way } from '../workloads.ts'
import { BIFROST } from './bifrost.ts'
import type { Contender } from './contender.ts'
import { LITELLM } from './litellm.ts'
import type { Upstreams } from './servers.ts'

export type Peer = {
  readonly name: string
  readonly command: string
  /** Writes its configuration; returns the arguments of the command. */
  prepare(preparation: Preparation): readonly string[]
  readonly ready: RegExp
  /** The clients' credentials, to rotate through. */
  readonly secrets: readonly string[]
  /** Well-formed, and nobody's; undefined where credentials are not looked up. */
  readonly unknownSecret: string | undefined
  /** The credential whose budget is `smallBudgetUsd`, or why there is none. */
  readonly smallBudget: string | { readonly missing: string }
  /** Prefix of the model's name, if the gateway requires the provider there. */
  readonly modelPrefix: string
}

type Preparation = {
  readonly folder: string
  readonly port: number
  readonly upstreams: Upstreams
  readonly smallBudgetUsd: number
}

export const PEERS: readonly Peer[] = [LITELLM, BIFROST]

export function isInstalled({ command }: Peer): boolean {
  return spawnSync(command, ['--help']).error === undefined
}

/** The installed ones, each with a start that may still fail. */
export function findInstalled(
  folder: string,
  upstreams: Upstreams,
): readonly { readonly name: string; start(): Promise<Contender> }[] {
  return PEERS.filter(isInstalled).map((peer) => ({
    name: peer.name,
    start: () => startContender(peer, folder, upstreams),
  }))
}

async function startContender(
  peer: Peer,
  folder: string,
  upstreams: Upstreams,
): Promise<Contender> {
  const { name, secrets, unknownSecret } = peer
  const { url, pid, startMs } = await startPeer(peer, { folder, upstreams, smallBudgetUsd: 1 })
  const way = (credentials: readonly string[]): Way => ({
    url,
    headers: credentials.map((secret) => ({ authorization: `Bearer ${secret}` })),
    modelPrefix: peer.modelPrefix,
  })
  return {
    ...{ name, pid, startMs },
    wayOf: ({ refusal, allBudgets = false }) => {
      if (allBudgets || refusal === 'empty budget') return undefined
      if (refusal === undefined) return way(secrets)
      return unknownSecret === undefined ? undefined : way([unknownSecret])
    },
  }
}

export async function startPeer(
  peer: Peer,
  { folder, ...more }: Omit<Preparation, 'port'>,
): Promise<Running> {
  const { name, command, ready } = peer
  const own = join(folder, command)
  mkdirSync(own, { recursive: true })
  const port = await freePort()
  const running = await start({
    name,
    command: [command, ...peer.prepare({ ...more, folder: own, port })],
    core: GATEWAY_CORE,
    logFile: join(own, 'log'),
    ready,
  })
  return { ...running, url: `http://127.0.0.1:${port}` }
}
