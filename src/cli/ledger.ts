// `tollgate ledger …`: whether the books balance, and what people may correct in them.

import { InvalidArgumentError, Option, type Command } from 'commander'

import { formatUsd, parseUsd } from '../core/money.ts'
import { adjustHold, listOrphans, type Orphan } from '../ledger/by-hand.ts'
import { LEDGER_WORKER_MODULE } from '../ledger/sqlite-runner.ts'
import { OPEN_HOLD, verifyLedger, VIOLATIONS_MAX, type Violation } from '../ledger/verify.ts'
import { common, readPlace, withStore, type CommonOptions } from './context.ts'
import { demand } from './demand.ts'
import { argument } from './failure.ts'
import { exactTime, printJson, printText, table, usd } from './output.ts'

export function addLedger(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('Check that the books balance, list orphans and correct what they were charged.')
    .usage('COMMAND [options]')
  addVerify(ledger)
  addOrphans(ledger)
  addAdjust(ledger)
}

function addVerify(ledger: Command): void {
  common(ledger.command('verify'))
    .description(
      'Check every invariant of the books, beside running servers. Exit code 1 when one is broken.',
    )
    .option('--quiescent', 'nobody is serving, so nothing may be held either')
    .action(async (options: CommonOptions & { readonly quiescent?: true }) => {
      const violations = await withStore(readPlace(options), (store) =>
        verifyLedger(store, { quiescent: options.quiescent ?? false }),
      )
      if (options.json) printJson({ ok: violations.length === 0, violations })
      else printText(violationsText(violations))
      if (violations.length > 0) process.exitCode = 1
    })
}

function addOrphans(ledger: Command): void {
  common(ledger.command('orphans'))
    .description(
      'List the holds whose node died before they were settled. They are charged what they held,\n' +
        'which is never too little; the bill of the provider may tell the true cost.',
    )
    .action(async (options: CommonOptions) => {
      const orphans = await withStore(readPlace(options), (store) => listOrphans(store))
      if (options.json) printJson({ orphans: orphans.map(orphanJson) })
      else printText(orphansText(orphans))
    })
}

function addAdjust(ledger: Command): void {
  const cost = new Option('--cost <usd>', 'what it really cost').argParser(argument(parseUsd))
  const reason = new Option('--reason <text>', 'why, for the record')
  demand(common(ledger.command('adjust')), [cost, reason])
    .description('Set what a closed hold is charged. The reason stays in the books.')
    .argument('<HOLD>', 'its number, as `ledger orphans` and `explain` show it', readHold)
    .addHelpText(
      'after',
      '\nExample:\n  $ tollgate ledger adjust 8589934593 --cost 0.0042 --reason "invoice of May"',
    )
    .action(
      async (
        holdId: number,
        options: CommonOptions & { readonly cost: bigint; readonly reason: string },
      ) => {
        const change = {
          holdId,
          costNanodollars: options.cost,
          reason: options.reason,
        }
        const place = readPlace(options)
        const { before, after } = await withStore(place, (store) => adjustHold(store, change), {
          workerModules: [LEDGER_WORKER_MODULE],
        })
        if (options.json)
          printJson({ hold: holdId, before: formatUsd(before), after: formatUsd(after) })
        else
          printText(`Hold ${holdId} was charged ${usd(before)} and is charged ${usd(after)} now.`)
      },
    )
}

function readHold(text: string): number {
  const id = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(id)) return id
  throw new InvalidArgumentError('Write the number that `tollgate ledger orphans` shows.')
}

export function violationsText(violations: readonly Violation[]): string {
  if (violations.length === 0) return 'The books balance.'
  const wrong = violations.filter(({ check }) => check !== OPEN_HOLD)
  const open = violations.length - wrong.length
  if (open === 0) return `The books do not balance: please report this.\n\n${violationTable(wrong)}`
  const text = `${openText(open)}: a node is serving, or one died before it settled. A node that serves charges those of the dead, at the latest the next one at its start; then check again.`
  if (wrong.length === 0) return `${text}\nApart from that the books balance.`
  return `${text}\n\nBesides, the books do not balance: please report this.\n\n${violationTable(wrong)}`
}

function openText(open: number): string {
  if (open === 1) return '1 hold is open'
  return `${open >= VIOLATIONS_MAX ? `At least ${open}` : open} holds are open`
}

function violationTable(violations: readonly Violation[]): string {
  return table<Violation>(
    [
      { title: 'CHECK', of: ({ check }) => check },
      { title: 'ACCOUNT', of: ({ account }) => account },
      { title: 'PERIOD', of: ({ period }) => String(period ?? '-'), align: 'right' },
      { title: 'EXPECTED', of: ({ expected }) => expected, align: 'right' },
      { title: 'FOUND', of: ({ found }) => found, align: 'right' },
    ],
    violations,
  )
}

function orphansText(orphans: readonly Orphan[]): string {
  if (orphans.length === 0) return 'There are no orphans.'
  return table<Orphan>(
    [
      { title: 'HOLD', of: ({ holdId }) => String(holdId) },
      { title: 'REQUEST', of: ({ requestId }) => requestId },
      { title: 'KEY', of: ({ keyId }) => keyId },
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'RESERVED', of: ({ reservedAt }) => exactTime(reservedAt) },
      { title: 'CHARGED', of: ({ chargedNanodollars }) => usd(chargedNanodollars), align: 'right' },
    ],
    orphans,
  )
}

function orphanJson(orphan: Orphan) {
  return {
    hold: orphan.holdId,
    request_id: orphan.requestId,
    key: orphan.keyId,
    model: orphan.model,
    reserved_at: new Date(orphan.reservedAt).toISOString(),
    cost: formatUsd(orphan.chargedNanodollars),
  }
}
