// The guard: Tollgate against the bare proxy on small requests at 32 connections, in less than a minute, with nothing
// installed. Fails when Tollgate falls below MINIMUM of the bare proxy's requests per second.
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startBareProxy, startUpstream } from './contenders/servers.ts'
import { MODELS, startTollgate } from './contenders/tollgate.ts'
import { median, spread } from './figures.ts'
import { runFolder } from './folder.ts'
import { httpText } from './load/request.ts'
import type { Load, Measured } from './load/wrk.ts'
import { hasWrk, runWrk } from './load/wrk.ts'
import type { Running } from './processes.ts'

const MINIMUM = 0.6
/** In bare proxies: below it, the upstream would be measured and not the gateways. */
const UPSTREAM_MINIMUM = 4
const CONNECTIONS = 32
const ROUNDS = 3
const ROUND_SECONDS = 3
const WARM_SECONDS = 3

const WITHOUT_LEDGER = pathToFileURL(
  join(import.meta.dirname, 'contenders/without-ledger.mjs'),
).href

type Contender = Running & { readonly name: string; readonly secrets: readonly string[] }

export async function quick(): Promise<number> {
  if (!hasWrk()) throw new Error('wrk is missing: apt-get install wrk')
  const folder = runFolder()
  const upstream = await startUpstream(folder)
  const contenders: readonly Contender[] = await Promise.all([
    startBareProxy(folder, upstream.url).then((bare) => ({
      ...bare,
      name: 'bare proxy',
      secrets: ['none'],
    })),
    startTollgate({ name: 'tollgate', folder, upstream: upstream.url }).then(named('Tollgate')),
    startTollgate({
      name: 'without-ledger',
      folder,
      upstream: upstream.url,
      nodeArgs: ['--import', WITHOUT_LEDGER],
    }).then(named('without ledger')),
  ])
  const load = (contender: Contender, seconds: number): Promise<Measured> =>
    runWrk(loadOf(contender, seconds), folder)
  const direct = await load({ ...upstream, name: 'upstream', secrets: ['none'] }, 2)
  for (const contender of contenders) await load(contender, WARM_SECONDS)
  const rounds: Measured[][] = contenders.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, contender] of contenders.entries()) {
      rounds[index]?.push(await load(contender, ROUND_SECONDS))
    }
  }
  return report(contenders, rounds, direct)
}

function named(name: string): <Thing>(thing: Thing) => Thing & { readonly name: string } {
  return (thing) => ({ ...thing, name })
}

function loadOf({ url, pid, secrets }: Contender, seconds: number): Load {
  const body = JSON.stringify({
    model: MODELS.chat,
    max_tokens: 256,
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: 'Who paid the toll, and why did the gate stay shut for so long?' },
    ],
  })
  const requests = secrets.map((secret) =>
    httpText({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${secret}` },
      body,
    }),
  )
  return { url, pid, requests, connections: CONNECTIONS, seconds }
}

function report(
  contenders: readonly Contender[],
  rounds: readonly (readonly Measured[])[],
  direct: Measured,
): number {
  const [bare = []] = rounds
  console.log(
    `machine load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  )
  console.log(`upstream        ${direct.perSecond.toFixed(0).padStart(6)} requests/s`)
  const ratios = contenders.map(({ name }, index) => {
    const own = rounds[index] ?? []
    const rates = own.map(({ perSecond }) => perSecond)
    const ratio = median(rates.map((rate, round) => rate / (bare[round]?.perSecond ?? NaN)))
    const cpuUs = median(own.map((one) => one.cpuUs))
    const cpuRatio = median(bare.map((one) => one.cpuUs)) / cpuUs
    console.log(
      `${name.padEnd(15)} ${median(rates).toFixed(0).padStart(6)} requests/s ± ${(spread(rates) * 100).toFixed(0)} %` +
        `   × ${ratio.toFixed(2)} of the bare proxy   ${cpuUs.toFixed(0)} µs of processor time each (× ${cpuRatio.toFixed(2)})`,
    )
    if (own.some(({ refusedShare }) => refusedShare > 0))
      throw new Error(`${name} refused requests`)
    return ratio
  })
  const floor = median(bare.map(({ perSecond }) => perSecond))
  if (direct.perSecond < UPSTREAM_MINIMUM * floor) {
    throw new Error(`the upstream is too slow to compare by: not ${UPSTREAM_MINIMUM} bare proxies`)
  }
  const main = ratios[1] ?? NaN
  const isEnough = main >= MINIMUM
  console.log(
    `Tollgate serves ${main.toFixed(2)} of the bare proxy's requests per second (at least ${MINIMUM}: ${isEnough ? 'ok' : 'FAILED'})`,
  )
  return isEnough ? 0 : 1
}
