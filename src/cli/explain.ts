// `tollgate explain`: why one request cost what it cost, recomputed from the books.
import type { Command } from 'commander'
import { costOfLines, type CostLine } from '../catalog/prices.ts'
import { formatUsd } from '../core/money.ts'
import {
  explain,
  explanationJson,
  isSkipped,
  priceOf,
  type Explanation,
} from '../ledger/reports/explain.ts'
import { targetOf } from '../ledger/reports/usage.ts'
import { keyNames } from '../store/keys/keys.ts'
import { common, lookAtStore, readPlace, type CommonOptions } from './context.ts'
import { block, bold, moment, printJson, printText, table, usd } from './output.ts'

export function addExplain(program: Command): void {
  common(program.command('explain'))
    .description(
      'Show how a request was charged: tokens times price, what was held and settled, ' +
        'which targets were tried and why. The cost is recomputed, to the nano-dollar.',
    )
    .argument('<REQUEST_ID>', 'the x-request-id of the answer, also in the log')
    .action(async (requestId: string, options: CommonOptions) => {
      await lookAtStore(readPlace(options), async (store) => {
        const explanation = await explain(store, requestId)
        if (options.json) {
          printJson(explanationJson(explanation))
          return
        }
        const { keyId } = explanation.row
        const name = (await keyNames(store, [keyId])).get(keyId)
        const key = name === undefined ? keyId : `${name}, ${keyId}`
        printText(explanationText(explanation, { key, now: store.clock.now() }))
      })
    })
}

function explanationText(
  explanation: Explanation,
  { key, now }: { readonly key: string; readonly now: number },
): string {
  const { row, lines, attempts, entries } = explanation
  const outcome = row.errorCode === null ? String(row.status) : `${row.status} ${row.errorCode}`
  const computed =
    explanation.recomputedNanodollars === null
      ? 'there is no price to compute it from'
      : `${usd(explanation.recomputedNanodollars)}, ${explanation.agrees ? 'the same' : 'not the same'}`
  return [
    bold(row.requestId),
    block([
      ['key', key],
      ['model', servedBy(row)],
      ['endpoint', row.endpoint],
      ['outcome', outcome],
      ['reserved', moment(row.at, now)],
      ['settled', moment(row.settledAt, now)],
      ['held', `${usd(row.heldNanodollars)}, as hold ${row.id}`],
      ['cost', usd(row.costNanodollars)],
      ['recomputed', computed],
      ['why', explanation.why],
    ]),
    ...section(
      `Tokens at price ${row.priceVersion}, in USD per million`,
      lines.length === 0 ? [] : [lineTable(lines)],
    ),
    ...section(
      'Attempts',
      attempts.map(({ target, outcome, durationMs, why }) =>
        isSkipped(outcome)
          ? `  ${target}: ${outcome}`
          : `  ${target}: ${outcome} after ${durationMs} ms (${why})`,
      ),
    ),
    ...section(
      'Changed by hand',
      entries.map(
        ({ at, actor, reason, before, after }) =>
          `  ${moment(at, now)} by ${actor}: ${usd(before)} to ${usd(after)}: ${reason}`,
      ),
    ),
  ].join('\n')
}

function servedBy(row: Explanation['row']): string {
  const target = targetOf(row)
  if (target !== null) return `${row.modelAsked}, served by ${target}`
  return row.modelAsked === '' ? 'none' : `${row.modelAsked}, served by no provider`
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', bold(title), ...lines]
}

function lineTable(lines: readonly CostLine[]): string {
  return table<CostLine>(
    [
      { title: 'WHAT', of: ({ what }) => WORDS[what] },
      { title: 'COUNT', of: ({ count }) => count.toLocaleString('en'), align: 'right' },
      ...(lines.some(({ list }) => list !== undefined) ? LIST_COLUMNS : []),
      { title: 'PRICE', of: priceOf, align: 'right' },
      {
        title: 'USD',
        of: (line) => formatUsd(costOfLines([line]).nanodollars),
        align: 'right',
      },
    ],
    lines,
  )
}

/** Where a discount applies. */
const LIST_COLUMNS = [
  {
    title: 'LIST PRICE',
    of: ({ what, list }: CostLine) => (list === undefined ? '-' : priceOf({ what, ...list })),
    align: 'right',
  },
  {
    title: 'DISCOUNT',
    of: ({ list }: CostLine) => (list === undefined ? '-' : `${list.millionths / 10_000} %`),
    align: 'right',
  },
] as const

const WORDS: Readonly<Record<CostLine['what'], string>> = {
  input: 'input',
  cached: 'input from a cache',
  cacheWriteShort: 'input to a cache',
  cacheWriteLong: 'input to a cache, long',
  output: 'output',
  request: 'fee for the request, in USD',
  webSearch: 'web searches, in USD',
  audioToken: 'audio input, in addition',
}
