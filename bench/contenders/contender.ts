// What the benchmark must know of a program to put load on it.
import { newSecret } from '../../src/core/secret.ts'
import type { Headers, Way, Workload } from '../workloads.ts'
import type { Upstreams } from './servers.ts'
import type { Tollgate } from './tollgate.ts'
import type { Running } from '../processes.ts'

export type Contender = {
  readonly name: string
  /** The process whose processor time and memory count. */
  readonly pid: number
  readonly startMs: number
  /** Where a workload goes, and the headers to send in turn; undefined when this contender has no such thing. */
  wayOf(workload: Workload): Way | undefined
}

export const BARE_PROXY = 'bare proxy'
export const UPSTREAM = 'upstream'

/** In bare proxies: below it, the upstream would be measured and not the gateways. */
export const UPSTREAM_MINIMUM = 4

const NO_KEY: readonly Headers[] = [{ authorization: 'Bearer none' }]

/** What every contender is measured against: without it in between. */
export function upstreamContender({ whole, streams }: Upstreams): Contender {
  return {
    name: UPSTREAM,
    pid: whole.pid,
    startMs: whole.startMs,
    wayOf: ({ client, isStream, refusal }) =>
      client === 'messages' || refusal !== undefined
        ? undefined
        : { url: (isStream ? streams : whole).url, headers: NO_KEY },
  }
}

/** Passes on what it gets: neither translates nor refuses. */
export function bareProxyContender({ url, pid, startMs }: Running): Contender {
  return {
    name: BARE_PROXY,
    pid,
    startMs,
    wayOf: ({ client, refusal }) =>
      client === 'messages' || refusal !== undefined ? undefined : { url, headers: NO_KEY },
  }
}

export function tollgateContender(name: string, tollgate: Tollgate): Contender {
  // Well formed, as a revoked one is: it has to be looked up before it can be refused.
  const unknown = newSecret('live')
  const secretsFor = ({ refusal }: Workload): readonly string[] => {
    if (refusal === undefined) return tollgate.secrets
    return [refusal === 'bad key' ? unknown : tollgate.poorSecret]
  }
  return {
    name,
    pid: tollgate.pid,
    startMs: tollgate.startMs,
    wayOf: (workload) => ({
      url: tollgate.url,
      headers: secretsFor(workload).map((secret) =>
        workload.client === 'messages'
          ? { 'x-api-key': secret, 'anthropic-version': '2023-06-01' }
          : { authorization: `Bearer ${secret}` },
      ),
    }),
  }
}
