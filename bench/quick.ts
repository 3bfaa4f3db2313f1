// The guard: Tollgate against the bare proxy on small requests at 32 connections, in less than a minute, without
// anything to install. Fails if Tollgate falls below MINIMUM of the bare proxy's requests per second.
import { loadavg } from 'node:os'
import type { Contender } from './contenders/contender.ts'
import {
  BARE_PROXY,
  bareProxyContender,
  tollgateContender,
  UPSTREAM,
  UPSTREAM_MINIMUM,
  upstreamContender,
} from './contenders/contender.ts'
import { startBareProxy, startUpstreams } from './contenders/servers.ts'
import { startTollgate } from './contenders/tollgate.ts'
import type { Measured } from './load/load.ts'
import { median, runFolder, share, spread } from './measuring.ts'
import { pinThisProcess } from './processes.ts'
import type { Rounds } from './rounds.ts'
import { isMeasured, measure, ROUND_SECONDS, warmUp } from './rounds.ts'
import { SMALL_32 } from './workloads.ts'

/** What is wanted; docs/performance.md says what is reached. */
const MINIMUM = 0.33
const TOLLGATE = 'Tollgate'
const WARM_UP = {
  [BARE_PROXY]: { requests: share(30_000), secondsMax: share(5) },
  [TOLLGATE]: { requests: share(60_000), secondsMax: share(15) },
}

export async function quick(): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  const upstreams = await startUpstreams(folder)
  const bare = bareProxyContender(await startBareProxy(folder, upstreams))
  const tollgate = tollgateContender(
    TOLLGATE,
    await startTollgate({ name: 'tollgate', folder, upstreams }),
  )
  await warmUp(bare, SMALL_32, { folder, ...WARM_UP[BARE_PROXY] })
  await warmUp(tollgate, SMALL_32, { folder, ...WARM_UP[TOLLGATE] })
  const direct = await once(upstreamContender(upstreams), folder)
  const course = { folder, rounds: share(4), seconds: ROUND_SECONDS, warmSeconds: 0 }
  const results = await measure([bare, tollgate], SMALL_32, course)
  return report({
    direct,
    bare: measuredOf(results.get(BARE_PROXY)),
    tollgate: measuredOf(results.get(TOLLGATE)),
  })
}

async function once(contender: Contender, folder: string): Promise<Measured> {
  const course = { folder, rounds: 1, seconds: share(2), warmSeconds: 0 }
  const results = await measure([contender], SMALL_32, course)
  const [measured] = measuredOf(results.get(UPSTREAM))
  if (measured === undefined) throw new Error('the upstream was not measured')
  return measured
}

function measuredOf(rounds: Rounds | undefined): readonly Measured[] {
  if (isMeasured(rounds)) return rounds
  throw new Error(rounds?.failed ?? 'not measured')
}

type Results = {
  readonly direct: Measured
  readonly bare: readonly Measured[]
  readonly tollgate: readonly Measured[]
}

function report({ direct, bare, tollgate }: Results): number {
  const loads = loadavg().map((load) => load.toFixed(1))
  console.log(`machine load ${loads.join(' ')}`)
  console.log(`${'upstream'.padEnd(12)} ${rateText([direct])}`)
  console.log(`${BARE_PROXY.padEnd(12)} ${rateText(bare)}`)
  console.log(`${'Tollgate'.padEnd(12)} ${rateText(tollgate)}`)
  const floor = median(bare.map(({ perSecond }) => perSecond))
  if (direct.perSecond < UPSTREAM_MINIMUM * floor) {
    console.log(
      `warning: the upstream makes only ${(direct.perSecond / floor).toFixed(1)} bare proxies, and ${UPSTREAM_MINIMUM} are wanted: it takes part in what was measured. With nginx installed it would not.`,
    )
  }
  // Compared within each round, so that a machine that slows down affects both alike.
  const ratio = median(
    tollgate.map(({ perSecond }, round) => perSecond / (bare[round]?.perSecond ?? NaN)),
  )
  const isEnough = ratio >= MINIMUM
  console.log(
    `Tollgate serves ${ratio.toFixed(2)} of the bare proxy's requests per second (at least ${MINIMUM}: ${isEnough ? 'ok' : 'FAILED'})`,
  )
  return isEnough ? 0 : 1
}

function rateText(rounds: readonly Measured[]): string {
  const rates = rounds.map(({ perSecond }) => perSecond)
  const cpuUs = median(rounds.map((one) => one.cpuUs))
  const percent = (spread(rates) * 100).toFixed(0)
  return `${median(rates).toFixed(0).padStart(6)} requests/s ± ${percent.padStart(2)} %   ${cpuUs.toFixed(0).padStart(4)} µs of processor time each`
}
