// What the benchmark needs to know about a program to put load on it.
import { newSecret } from '../../src/core/secret.ts'
import { needsKeys, type Headers, type Way, type Workload } from '../workloads.ts'
import type { Upstreams } from './servers.ts'
import type { Tollgate } from './tollgate.ts'
import type { Running } from '../processes.ts'

export type Contender = {
  readonly name: string
  /** The process whose CPU time and memory are measured. */
  readonly pid: number
  /** CPU time of its database server, if it has one, in nanoseconds. */
  readonly databaseCpuNs?: (() => number) | undefined
  readonly startMs: number
  /** The address of a workload and the headers to rotate through; undefined if the contender does not support it. */
  wayOf(workload: Workload): Way | undefined
}

export const BARE_PROXY = 'bare proxy'
export const UPSTREAM = 'upstream'

/** As a multiple of the bare proxy's rate. A slower upstream would be the bottleneck instead of the gateways. */
export const UPSTREAM_MINIMUM = 4

const NO_KEY: readonly Headers[] = [{ authorization: 'Bearer none' }]

/** The baseline of every contender: no gateway in between. */
export function upstreamContender({ whole, streams }: Upstreams): Contender {
  return {
    name: UPSTREAM,
    pid: whole.pid,
    startMs: whole.startMs,
    wayOf: (workload) =>
      workload.client === 'messages' || needsKeys(workload)
        ? undefined
        : { url: (workload.isStream ? streams : whole).url, headers: NO_KEY },
  }
}

/** Passes requests through: neither translates nor refuses. */
export function bareProxyContender({ url, pid, startMs }: Running): Contender {
  return {
    name: BARE_PROXY,
    pid,
    startMs,
    wayOf: (workload) =>
      workload.client === 'messages' || needsKeys(workload) ? undefined : { url, headers: NO_KEY },
  }
}

export function tollgateContender(name: string, tollgate: Tollgate): Contender {
  // Well-formed, like a revoked key: it must be looked up before it is refused.
  const unknown = newSecret('live')
  const secretsFor = ({ refusal, allBudgets = false }: Workload): readonly string[] => {
    if (allBudgets) return tollgate.allBudgetsSecrets
    if (refusal === undefined) return tollgate.secrets
    return [refusal === 'bad key' ? unknown : tollgate.poorSecret]
  }
  return {
    name,
    pid: tollgate.pid,
    databaseCpuNs: tollgate.databaseCpuNs,
    startMs: tollgate.startMs,
    wayOf: (workload) => {
      const headers = secretsFor(workload).map((secret) =>
        workload.client === 'messages'
          ? { 'x-api-key': secret, 'anthropic-version': '2023-06-01' }
          : { authorization: `Bearer ${secret}` },
      )
      return headers.length === 0 ? undefined : { url: tollgate.url, headers }
    },
  }
}
