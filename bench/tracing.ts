// `npm run bench -- --tracing`: what traces cost. Tollgate without them, with a tenth of the requests sampled and with
// all, in the same rounds of small requests at 32 connections. Fails if a tenth costs more than COST_MAX.
import type { Contender } from './contenders/contender.ts'
import { tollgateContender } from './contenders/contender.ts'
import { startCollector, startUpstreams, type Upstreams } from './contenders/servers.ts'
import { startTollgate } from './contenders/tollgate.ts'
import type { Measured } from './load/load.ts'
import { median, medianRatio, runFolder, share } from './measuring.ts'
import { pinThisProcess } from './processes.ts'
import { alignedTable } from './report/table.ts'
import { isMeasured, measure, ROUND_SECONDS, warmUp } from './rounds.ts'
import { SMALL_32 } from './workloads.ts'

/** Of the requests per second. */
const COST_MAX = 0.08
const ROUNDS = share(5)
const WARM_UP = { requests: share(60_000), secondsMax: share(15) }

/** By the share that is sampled; undefined: off. */
const SAMPLED = [undefined, 0.1, 1]

export async function tracing(): Promise<number> {
  pinThisProcess()
  const folder = runFolder()
  const upstreams = await startUpstreams(folder)
  const { text, isWithin } = await measureTracing(folder, upstreams)
  console.log(text)
  return isWithin ? 0 : 1
}

export async function measureTracing(
  folder: string,
  upstreams: Upstreams,
): Promise<{ readonly text: string; readonly isWithin: boolean }> {
  const collector = await startCollector(folder)
  const contenders: Contender[] = []
  for (const sampled of SAMPLED) {
    const env = sampled === undefined ? {} : variablesOf(sampled, collector.url)
    const options = { name: `tracing-${sampled ?? 'off'}`, folder, upstreams, env }
    const contender = tollgateContender(nameOf(sampled), await startTollgate(options))
    await warmUp(contender, SMALL_32, { folder, ...WARM_UP })
    contenders.push(contender)
  }
  const course = { folder, rounds: ROUNDS, seconds: ROUND_SECONDS, warmSeconds: share(1) }
  const results = await measure(contenders, SMALL_32, course)
  const [off = [], tenth = [], all = []] = SAMPLED.map((sampled) => {
    const rounds = results.get(nameOf(sampled))
    if (!isMeasured(rounds)) throw new Error(rounds?.failed ?? 'not measured')
    return rounds
  })
  // Compared within each round, so that a machine that slows down affects all alike.
  const rateOf = ({ perSecond }: Measured): number => perSecond
  const ratioOf = (rounds: readonly Measured[]): number =>
    medianRatio(rounds.map(rateOf), off.map(rateOf))
  const lines = [off, tenth, all].map((rounds, index) => [
    nameOf(SAMPLED[index]),
    median(rounds.map(rateOf)).toFixed(0),
    median(rounds.map(({ cpuUs }) => cpuUs)).toFixed(0),
    ratioOf(rounds).toFixed(2),
  ])
  const isWithin = ratioOf(tenth) >= 1 - COST_MAX
  const header = ['', 'requests/s', 'µs of processor time each', '× off']
  const verdict = `A tenth may cost ${COST_MAX * 100} %: ${isWithin ? 'ok' : 'FAILED'}`
  return { text: `${alignedTable([header, ...lines])}\n${verdict}`, isWithin }
}

function nameOf(sampled: number | undefined): string {
  return sampled === undefined ? 'tracing off' : `tracing, ${sampled * 100} % sampled`
}

function variablesOf(sampled: number, url: string): Readonly<Record<string, string>> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(sampled),
  }
}
