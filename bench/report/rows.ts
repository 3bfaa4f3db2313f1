// Measurements as rows of one table: a label, a unit, and a figure for every contender that has one.
import { CHAT_EVENTS } from '../contenders/answers.ts'
import { BARE_PROXY, UPSTREAM } from '../contenders/contender.ts'
import type { Measured } from '../load/load.ts'
import { median, spread } from '../measuring.ts'
import type { Rounds } from '../rounds.ts'
import { isMeasured, wasDisturbed } from '../rounds.ts'
import type { Workload } from '../workloads.ts'
import { needsKeys, SMALL_1, SMALL_32, STREAM } from '../workloads.ts'

export type Figure = {
  readonly value: number
  readonly spread?: number
  /** Relative to the bare proxy's figure. */
  readonly ratio?: number
  /** Its core had idle time: something else was the bottleneck, and the ratio flatters it. */
  readonly isHeldUp?: boolean
  /** Other programs used the machine in some of its rounds. */
  readonly isDisturbed?: boolean
}

export type Row = {
  readonly label: string
  readonly unit: string
  /** True if more is better, so that the ratio is a speed. */
  readonly isRate: boolean
  readonly figures: Readonly<Record<string, Figure | { readonly failed: string }>>
}

/** By workload, then by contender. */
export type Results = ReadonlyMap<Workload, ReadonlyMap<string, Rounds>>

export function figureOf(row: Row | undefined, contender: string): Figure | undefined {
  const figure = row?.figures[contender]
  return figure === undefined || 'failed' in figure ? undefined : figure
}

/** Below this share of its core, with many connections open, a contender was waiting for something else. */
const FULL_CORE = 0.9

export function rateRow(workload: Workload, results: Results): Row {
  const rateOf = ({ perSecond }: Measured): number =>
    workload.isStream ? perSecond * CHAT_EVENTS.length : perSecond
  const own = results.get(workload) ?? new Map<string, Rounds>()
  const bare = results.get(floorOf(workload))?.get(BARE_PROXY)
  const floor = isMeasured(bare) ? bare.map(rateOf) : []
  const figures = mapFigures(own, (rounds, contender) => {
    const rates = rounds.map(rateOf)
    const waited = median(rounds.map(({ coreShare }) => coreShare)) < FULL_CORE
    return {
      value: median(rates),
      spread: spread(rates),
      // Compared within each round, so that a machine that slows down affects both alike.
      ratio: median(rates.map((rate, round) => rate / (floor[round] ?? NaN))),
      isHeldUp: waited && contender !== UPSTREAM && workload.connections > 1,
    }
  })
  const unit = workload.isStream ? 'events/s' : 'requests/s'
  return { label: workload.name, unit, isRate: true, figures }
}

/** The workload of the bare proxy to compare with, if it cannot run this one. */
function floorOf(workload: Workload): Workload {
  if (workload.client !== 'messages' && !needsKeys(workload)) return workload
  if (workload.isStream) return STREAM
  return workload.connections === 1 ? SMALL_1 : SMALL_32
}

/** The latency added by a gateway, by the median of each round. */
export function addedRow(
  label: string,
  own: ReadonlyMap<string, Rounds> | undefined,
  timeUs: (measured: Measured) => number,
): Row {
  const direct = own?.get(UPSTREAM)
  const directUs = isMeasured(direct) ? direct.map(timeUs) : []
  const addedUs = (rounds: readonly Measured[]): readonly number[] =>
    rounds.map((one, round) => timeUs(one) - (directUs[round] ?? NaN))
  const bare = own?.get(BARE_PROXY)
  const floor = isMeasured(bare) ? median(addedUs(bare)) : NaN
  const gateways = new Map([...(own ?? [])].filter(([name]) => name !== UPSTREAM))
  const figures = mapFigures(gateways, (rounds) => {
    const value = median(addedUs(rounds))
    return { value, spread: spread(addedUs(rounds)), ratio: value / floor }
  })
  return { label, unit: 'µs', isRate: false, figures }
}

/** A time of each round, such as a percentile of latencies or processor time. */
export function timeRow(
  label: string,
  own: ReadonlyMap<string, Rounds> | undefined,
  timeUs: (measured: Measured) => number,
): Row {
  const bare = own?.get(BARE_PROXY)
  const floor = isMeasured(bare) ? median(bare.map(timeUs)) : NaN
  const figures = mapFigures(own ?? new Map<string, Rounds>(), (rounds) => {
    const value = median(rounds.map(timeUs))
    return { value, spread: spread(rounds.map(timeUs)), ratio: value / floor }
  })
  return { label, unit: 'µs', isRate: false, figures }
}

/** Figures that were measured once. */
export function plainRow(
  label: string,
  unit: string,
  values: ReadonlyMap<string, number | { readonly failed: string }>,
): Row {
  const bare = values.get(BARE_PROXY)
  const figures = [...values].map(([name, value]) => {
    if (typeof value !== 'number') return [name, value] as const
    return [name, typeof bare === 'number' ? { value, ratio: value / bare } : { value }] as const
  })
  return { label, unit, isRate: false, figures: Object.fromEntries(figures) }
}

function mapFigures(
  own: ReadonlyMap<string, Rounds>,
  figure: (rounds: readonly Measured[], contender: string) => Figure,
): Row['figures'] {
  const entries = [...own].map(([name, rounds]) =>
    isMeasured(rounds)
      ? ([name, { ...figure(rounds, name), isDisturbed: rounds.some(wasDisturbed) }] as const)
      : ([name, rounds] as const),
  )
  return Object.fromEntries(entries)
}
