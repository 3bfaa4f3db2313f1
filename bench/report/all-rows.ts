// All rows of a full run, in the order of the table, and by name those that promises are about.
import type { Contender } from '../contenders/contender.ts'
import { UPSTREAM } from '../contenders/contender.ts'
import type { Memory } from '../memory.ts'
import { MEMORY_REQUESTS, OPEN_STREAMS } from '../memory.ts'
import type { PromisedRows } from '../targets.ts'
import * as workloads from '../workloads.ts'
import { addedRow, plainRow, rateRow, timeRow } from './rows.ts'
import type { Results, Row } from './rows.ts'

export type Findings = {
  readonly results: Results
  readonly memory: ReadonlyMap<string, Memory>
  /** Bytes per stream. */
  readonly streams: ReadonlyMap<string, number | { readonly failed: string }>
  readonly contenders: readonly Contender[]
}

const MB = 1e6

export function rowsOf({ results, memory, streams, contenders }: Findings): {
  readonly all: readonly Row[]
  readonly promised: PromisedRows
} {
  const { SMALL_1, SMALL_8, SMALL_32, FIRST_EVENT, STREAM, TRANSLATED_STREAM } = workloads
  const rate = (workload: workloads.Workload): Row => rateRow(workload, results)
  const p50Of = (workload: workloads.Workload): Row =>
    timeRow(`p50: ${workload.name}`, results.get(workload), ({ p50Us }) => p50Us)
  const bytes = (label: string, of: (memory: Memory) => number): Row =>
    plainRow(label, 'MB', new Map([...memory].map(([name, each]) => [name, of(each) / MB])))
  const kilobytes = [...streams].map(
    ([name, each]) => [name, typeof each === 'number' ? each / 1000 : each] as const,
  )
  const starts = contenders.filter(({ name }) => name !== UPSTREAM)
  const many = MEMORY_REQUESTS.toLocaleString('en')
  const twice = (MEMORY_REQUESTS * 2).toLocaleString('en')
  const promised: PromisedRows = {
    small32: rate(SMALL_32),
    small256: rate(workloads.SMALL_256),
    p50One: p50Of(SMALL_1),
    stream: rate(STREAM),
    translatedStream: rate(TRANSLATED_STREAM),
    badKey: rate(workloads.BAD_KEY),
    emptyBudget: rate(workloads.EMPTY_BUDGET),
    streamMemory: plainRow(
      `memory per open stream, ${OPEN_STREAMS.toLocaleString('en')} open`,
      'KB',
      new Map(kilobytes),
    ),
    idleMemory: bytes('memory when idle', ({ idleBytes }) => idleBytes),
    memory: bytes(`memory after ${many} requests`, ({ afterBytes }) => afterBytes),
    memoryTwice: bytes(`memory after ${twice} requests`, ({ afterTwiceBytes }) => afterTwiceBytes),
    start: plainRow(
      'start until it listens',
      'ms',
      new Map(starts.map(({ name, startMs }) => [name, startMs])),
    ),
  }
  const firstEvent = addedRow(
    'added to the first event, 1 connection',
    results.get(FIRST_EVENT),
    ({ firstEventUs = NaN }) => firstEventUs,
  )
  const added = addedRow('added to p50, 1 connection', results.get(SMALL_1), ({ p50Us }) => p50Us)
  const latencies = [SMALL_1, SMALL_8, SMALL_32].flatMap((workload) => [
    p50Of(workload),
    timeRow(`p99: ${workload.name}`, results.get(workload), ({ p99Us }) => p99Us),
  ])
  const processor = 'processor time of a small request'
  const all = [
    ...[rate(SMALL_1), added, ...latencies, promised.small32],
    timeRow(processor, results.get(SMALL_32), ({ cpuUs }) => cpuUs),
    timeRow(
      `${processor}, database server included`,
      results.get(SMALL_32),
      ({ cpuUs, databaseCpuUs = 0 }) => cpuUs + databaseCpuUs,
    ),
    ...[rate(workloads.ALL_BUDGETS_1), rate(workloads.ALL_BUDGETS_32)],
    ...[promised.small256, rate(workloads.LARGE_PROMPT), rate(workloads.EMBEDDING)],
    ...[promised.stream, firstEvent],
    ...[rate(workloads.TRANSLATED), promised.translatedStream],
    ...[promised.badKey, promised.emptyBudget],
    ...[promised.idleMemory, promised.memory, promised.memoryTwice, promised.streamMemory],
    promised.start,
  ]
  return { all, promised }
}
