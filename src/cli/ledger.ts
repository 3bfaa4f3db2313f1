// `tollgate ledger …`: checks that the books balance, and corrects them by hand.
import { InvalidArgumentError, Option, type Command } from 'commander'
import { formatUsd, parseBudget, parseUsd } from '../core/money.ts'
import { sentence, type SentenceName } from '../core/sentences.ts'
import { iso } from '../core/units.ts'
import {
  adjustHold,
  listOrphans,
  resetSpent,
  topUp,
  type Orphan,
} from '../ledger/nodes/adjustments.ts'
import {
  DAMAGE,
  examineLedger,
  OPEN_HOLD,
  type Examination,
  type PeriodAhead,
  type Violation,
  VIOLATIONS_MAX,
} from '../ledger/reports/verify.ts'
import { MAIN, type BudgetName, WINDOW } from '../store/accounts/budgets.ts'
import { StoreError } from '../store/database/errors.ts'
import type { Store } from '../store/database/store.ts'
import { FRAME_ID } from '../store/database/tables.ts'
import { findGroup } from '../store/groups/groups.ts'
import { findKey } from '../store/keys/keys.ts'
import {
  common,
  lookAtStore,
  readDatabaseConfig,
  type CommonOptions,
  withStore,
} from './command/context.ts'
import { demand, examples, group, reasonOption } from './command/options.ts'
import { printFrame, printGroup, printKey } from './gateway/accounts.ts'
import { shownFrame, shownGroup, shownKey } from './gateway/local.ts'
import { argument } from './terminal/failure.ts'
import { exactTime, printJson, printText, table, usd } from './terminal/output.ts'

export function addLedger(program: Command): void {
  const ledger = group(
    program,
    'ledger',
    'Check that the books balance, list orphans, and correct the books by hand.',
  )
  addVerify(ledger)
  addOrphans(ledger)
  addAdjust(ledger)
  addTopUp(ledger)
  addReset(ledger)
}

function addVerify(ledger: Command): void {
  common(ledger.command('verify'))
    .description(
      'Check that the database is not damaged, and every invariant of the books, beside running servers. ' +
        'Exit code 1 when something is wrong.',
    )
    .option('--quiescent', 'no server is running, so nothing may be held either')
    .action(async (options: CommonOptions & { readonly quiescent?: true }) => {
      const examination = await lookAtStore(readDatabaseConfig(options), (store) =>
        examineLedger(store, { quiescent: options.quiescent ?? false }),
      )
      if (options.json) printJson(examinationJson(examination))
      else printText(examinationText(examination))
      if (examination.violations.length > 0) process.exitCode = 1
    })
}

function addOrphans(ledger: Command): void {
  common(ledger.command('orphans'))
    .description(
      'List the holds whose node died before they were settled. They are charged what they held, ' +
        'which is never too little; the provider’s bill may show the true cost.',
    )
    .action(async (options: CommonOptions) => {
      const orphans = await lookAtStore(readDatabaseConfig(options), (store) => listOrphans(store))
      if (options.json) printJson({ orphans: orphans.map(orphanJson) })
      else printText(orphansText(orphans))
    })
}

function addAdjust(ledger: Command): void {
  const cost = new Option('--cost <usd>', 'what it really cost').argParser(argument(parseUsd))
  demand(common(ledger.command('adjust')), [cost, reasonOption()])
    .description('Set what a closed hold is charged. The reason stays in the books.')
    .argument('<HOLD>', 'its number, as `ledger orphans` and `explain` show it', readHold)
    .addHelpText(
      ...examples('tollgate ledger adjust 8589934593 --cost 0.0042 --reason "invoice of May"'),
    )
    .action(async (holdId: number, options: ReasonedOptions & { readonly cost: bigint }) => {
      const change = { holdId, costNanodollars: options.cost, reason: options.reason }
      const config = readDatabaseConfig(options)
      const { before, after } = await withStore(config, (store) => adjustHold(store, change))
      if (options.json)
        printJson({ hold: holdId, before: formatUsd(before), after: formatUsd(after) })
      else printText(`Hold ${holdId} was charged ${usd(before)} and is now charged ${usd(after)}.`)
    })
}

function addTopUp(ledger: Command): void {
  const amount = new Option('--amount <usd>', 'how much more may be spent').argParser(
    argument(parseBudget),
  )
  demand(common(ledger.command('top-up')), [amount, reasonOption()])
    .description(
      'Let a key, a group or the frame spend more until its period ends. The budget stays.',
    )
    .argument(...ACCOUNT)
    .addOption(windowOption())
    .addHelpText(
      ...examples(
        'tollgate ledger top-up shop-production --amount 25 --reason "sale until Friday"',
      ),
    )
    .action(async (account: string, options: BudgetOptions & { readonly amount: bigint }) => {
      const { amount: amountNanodollars, reason } = options
      const budget = budgetOf(options)
      await adjust(account, options, (store, accountId) =>
        topUp(store, { accountId, budget, amountNanodollars, reason }),
      )
    })
}

function addReset(ledger: Command): void {
  demand(common(ledger.command('reset')), [reasonOption()])
    .description(
      'Start the period of a key, a group or the frame over, with nothing spent. ' +
        'It ends when it would have ended, and what was spent before stays in the books.',
    )
    .argument(...ACCOUNT)
    .addOption(windowOption())
    .addHelpText(
      ...examples('tollgate ledger reset shop-production --reason "a loop in our own test"'),
    )
    .action(async (account: string, options: BudgetOptions) => {
      const { reason } = options
      const budget = budgetOf(options)
      await adjust(account, options, (store, accountId) =>
        resetSpent(store, { accountId, budget, reason }),
      )
    })
}

const ACCOUNT = ['<ACCOUNT>', 'id or name of a key or a group, or `frame`'] as const
type ReasonedOptions = CommonOptions & { readonly reason: string }
type BudgetOptions = ReasonedOptions & { readonly window?: true }

function windowOption(): Option {
  return new Option('--window', 'its second window, in place of its main budget')
}

function budgetOf({ window }: BudgetOptions): BudgetName {
  return window === undefined ? MAIN : WINDOW
}

/** Makes the change, and prints the account. A key that is named like the frame or a group must be given by its id. */
async function adjust(
  account: string,
  options: CommonOptions,
  change: (store: Store, accountId: string) => Promise<void>,
): Promise<void> {
  const work = async (store: Store): Promise<void> => {
    const form = { ...options, now: store.clock.now() }
    if (account === FRAME_ID) {
      await change(store, FRAME_ID)
      return printFrame(await shownFrame(store), form)
    }
    const named = await findGroup(store, account).catch(unless('no_group_named'))
    if (named === undefined) {
      const { id } = await findKey(store, account)
      await change(store, id)
      return printKey(await shownKey(store, await findKey(store, id)), form)
    }
    // Several keys of that name are refused there: which account is meant must never be a guess.
    if ((await findKey(store, account).catch(unless('no_key_named'))) !== undefined) {
      throw new StoreError('unknown_key', sentence('account_name_ambiguous', { name: account }))
    }
    await change(store, named.id)
    printGroup(await shownGroup(store, await findGroup(store, named.id)), form)
  }
  await withStore(readDatabaseConfig(options), work)
}

function unless(why: SentenceName): (thrown: unknown) => undefined {
  return (thrown) => {
    if (!(thrown instanceof StoreError) || thrown.sentence?.name !== why) throw thrown
  }
}

function readHold(text: string): number {
  const id = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(id)) return id
  throw new InvalidArgumentError('Use the number that `tollgate ledger orphans` shows.')
}

function examinationJson({ violations, notChecked, ahead }: Examination) {
  return {
    ok: violations.length === 0,
    violations,
    not_checked: notChecked,
    periods_ahead: ahead.map((period) => ({
      account: period.account,
      starts_at: iso(period.startsAt),
      ends_at: iso(period.endsAt),
      mend: resetCommand(period),
    })),
  }
}

export function examinationText({ violations, notChecked, ahead }: Examination): string {
  const parts = [violationsText(violations)]
  if (ahead.length > 0) parts.push(aheadText(ahead))
  parts.push(['Not checked:', ...notChecked.map((line) => `- ${line}`)].join('\n'))
  return parts.join('\n\n')
}

/** Not a violation: the sums are right, and only a person knows which of the two times was wrong. */
function aheadText(ahead: readonly PeriodAhead[]): string {
  const lines = ahead.map(
    (period) => `  ${resetCommand(period)}  # now until ${exactTime(period.endsAt)}`,
  )
  return [
    'A clock ran ahead: these periods begin in the future, and their budgets are not renewed before they end.',
    'If the clock is right now, start each of them over, with nothing spent:',
    '',
    ...lines,
  ].join('\n')
}

function resetCommand({ account }: PeriodAhead): string {
  return `tollgate ledger reset ${account} --reason "the clock was wrong"`
}

export function violationsText(violations: readonly Violation[]): string {
  if (violations.length === 0) return 'The books balance.'
  const damage = violations.filter(({ check }) => check === DAMAGE)
  if (damage.length > 0) return damageText(damage)
  const wrong = violations.filter(({ check }) => check !== OPEN_HOLD)
  const open = violations.length - wrong.length
  if (open === 0) return `The books do not balance: please report this.\n\n${violationTable(wrong)}`
  const text = `${openText(open)}: a node is serving, or one died before it settled. Serving nodes charge the holds of dead ones, at the latest when the next one starts; then check again.`
  if (wrong.length === 0) return `${text}\nApart from that, the books balance.`
  return `${text}\n\nAlso, the books do not balance: please report this.\n\n${violationTable(wrong)}`
}

function damageText(damage: readonly Violation[]): string {
  return [
    'The database is damaged. Stop every server, keep a copy of it as it is, and restore the latest backup that this command finds sound.',
    '',
    ...damage.map(({ found }) => `- ${found}`),
  ].join('\n')
}

function openText(open: number): string {
  if (open === 1) return '1 hold is open'
  return `${open >= VIOLATIONS_MAX ? `At least ${open}` : open} holds are open`
}

function violationTable(violations: readonly Violation[]): string {
  return table<Violation>(violations, [
    ['CHECK', ({ check }) => check],
    ['ACCOUNT', ({ account }) => account],
    ['PERIOD', ({ period }) => String(period ?? '-'), 'right'],
    ['EXPECTED', ({ expected }) => expected, 'right'],
    ['FOUND', ({ found }) => found, 'right'],
  ])
}

function orphansText(orphans: readonly Orphan[]): string {
  if (orphans.length === 0) return 'There are no orphans.'
  return table<Orphan>(orphans, [
    ['HOLD', ({ holdId }) => String(holdId)],
    ['REQUEST', ({ requestId }) => requestId],
    ['KEY', ({ keyId }) => keyId],
    ['MODEL', ({ model }) => model],
    ['RESERVED', ({ reservedAt }) => exactTime(reservedAt)],
    ['CHARGED', ({ chargedNanodollars }) => usd(chargedNanodollars), 'right'],
  ])
}

function orphanJson(orphan: Orphan) {
  return {
    hold: orphan.holdId,
    request_id: orphan.requestId,
    key: orphan.keyId,
    model: orphan.model,
    reserved_at: iso(orphan.reservedAt),
    cost: formatUsd(orphan.chargedNanodollars),
  }
}
