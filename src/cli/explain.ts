// `tollgate explain`: why one request cost what it cost, computed again from what the books keep.
import type { Command } from 'commander'

import type { CostLine } from '../catalog/prices.ts'
import { formatUsd } from '../core/money.ts'
import { explain, type Explanation } from '../ledger/explain.ts'
import { common, readPlace, withStore, type CommonOptions } from './context.ts'
import { block, bold, moment, printJson, printText, table, usd } from './output.ts'

export function addExplain(program: Command): void {
  common(program.command('explain'))
    .description(
      'Show how a request was charged: tokens times price, what was held and settled,\n' +
        'which targets were tried and why. The cost is computed again, to the nano-dollar.',
    )
    .argument('<REQUEST_ID>', 'the x-request-id of the answer, also in the log')
    .action(async (requestId: string, options: CommonOptions) => {
      await withStore(readPlace(options), async (store) => {
        const explanation = await explain(store, requestId)
        if (options.json) printJson(explanationJson(explanation))
        else printText(explanationText(explanation, store.clock.now()))
      })
    })
}

function explanationJson({ row, ...rest }: Explanation) {
  return {
    request_id: row.requestId,
    hold: row.id,
    key: row.keyId,
    endpoint: row.endpoint,
    model: row.modelAsked,
    target: targetOf(row),
    state: row.state,
    status: row.status,
    error: row.errorCode,
    reserved_at: new Date(row.at).toISOString(),
    settled_at: new Date(row.settledAt).toISOString(),
    held: formatUsd(row.amount),
    cost: formatUsd(row.costNanodollars),
    recomputed: rest.recomputedNanodollars === null ? null : formatUsd(rest.recomputedNanodollars),
    agrees: rest.agrees,
    estimated: row.estimated,
    why: rest.why,
    price_version: row.priceVersion,
    lines: rest.lines.map((line) => ({
      what: line.what,
      count: line.count,
      price: priceOf(line),
    })),
    attempts: rest.attempts.map(({ target, why, outcome, durationMs }) => ({
      target,
      why,
      outcome,
      duration_ms: durationMs,
    })),
    changes: rest.entries.map(({ at, actor, reason, before, after }) => ({
      at: new Date(at).toISOString(),
      actor,
      reason,
      before: before === null ? null : formatUsd(before),
      after: after === null ? null : formatUsd(after),
    })),
  }
}

function explanationText(explanation: Explanation, now: number): string {
  const { row, lines, attempts, entries } = explanation
  const outcome = row.errorCode === null ? String(row.status) : `${row.status} ${row.errorCode}`
  const computed =
    explanation.recomputedNanodollars === null
      ? 'there is no price to compute it from'
      : `${usd(explanation.recomputedNanodollars)}, ${explanation.agrees ? 'the same' : 'not the same'}`
  return [
    bold(row.requestId),
    block([
      ['key', row.keyId],
      ['model', `${row.modelAsked}, served by ${targetOf(row) ?? 'nobody'}`],
      ['endpoint', row.endpoint],
      ['outcome', outcome],
      ['reserved', moment(row.at, now)],
      ['settled', moment(row.settledAt, now)],
      ['held', `${usd(row.amount)}, as hold ${row.id}`],
      ['cost', usd(row.costNanodollars)],
      ['computed again', computed],
      ['why', explanation.why],
    ]),
    ...section(
      `Tokens at price ${row.priceVersion}, in USD per million`,
      lineTable(lines),
      lines.length,
    ),
    ...section(
      'Attempts',
      attempts
        .map(
          (each) => `  ${each.target}: ${each.outcome} after ${each.durationMs} ms (${each.why})`,
        )
        .join('\n'),
      attempts.length,
    ),
    ...section(
      'Changed by hand',
      entries
        .map(
          ({ at, actor, reason, before, after }) =>
            `  ${moment(at, now)} by ${actor}: ${usd(before)} to ${usd(after)}: ${reason}`,
        )
        .join('\n'),
      entries.length,
    ),
  ].join('\n')
}

function section(title: string, body: string, size: number): readonly string[] {
  return size === 0 ? [] : ['', bold(title), body]
}

function lineTable(lines: readonly CostLine[]): string {
  return table<CostLine>(
    [
      { title: 'WHAT', of: ({ what }) => WORDS[what] },
      { title: 'COUNT', of: ({ count }) => count.toLocaleString('en'), align: 'right' },
      { title: 'PRICE', of: priceOf, align: 'right' },
    ],
    lines,
  )
}

const WORDS: Readonly<Record<CostLine['what'], string>> = {
  input: 'input',
  cached: 'input from a cache',
  cacheWriteShort: 'input to a cache',
  cacheWriteLong: 'input to a cache, long',
  output: 'output',
  request: 'fee for the request, in USD',
}

/** USD per million tokens; a fee is what it is once. */
function priceOf({ what, eachPicodollars }: CostLine): string {
  return formatUsd(what === 'request' ? eachPicodollars / 1_000n : eachPicodollars * 1_000n)
}

function targetOf({ provider, modelServed }: Explanation['row']): string | null {
  return provider === null ? null : `${provider}/${modelServed}`
}
