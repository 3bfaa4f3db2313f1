// `tollgate frame …`: the budget frame above all keys.
import type { Command } from 'commander'

import { parseBudget } from '../core/money.ts'
import { readFrame, setFrame, type FrameSettings } from '../store/frame.ts'
import { common, lookAtStore, readPlace, withStoreOrNew, type CommonOptions } from './context.ts'
import { argument, UsageError } from './failure.ts'
import { periodOption, weekStartOption } from './key-options.ts'
import { BUDGET_RANGE } from './options.ts'
import { printNote } from './output.ts'
import { printFrame } from './print-account.ts'

export function addFrame(program: Command): void {
  const frame = program
    .command('frame')
    .description(
      'Show or set the budget frame that limits all keys together, on top of their own budgets.',
    )
    .usage('COMMAND [options]')
  common(frame.command('show'))
    .description('Show what the frame allows and what is left of it.')
    .action(async (options: CommonOptions) => {
      await lookAtStore(readPlace(options), async (store) => {
        await printFrame(store, await readFrame(store), options)
      })
    })
  common(frame.command('set'))
    .description(
      'Change the frame. Options you leave out stay as they are, and what is spent stays spent until the period ends.',
    )
    .option(
      '--budget <usd>',
      `what all keys together may spend in a period, ${BUDGET_RANGE}`,
      argument(parseBudget),
    )
    .addOption(periodOption('when it resets'))
    .option('--timezone <zone>', 'the time zone in which periods begin')
    .addOption(weekStartOption())
    .option('--reason <text>', 'why, for the record')
    .addHelpText(
      'after',
      '\nExample:\n  $ tollgate frame set --budget 2500 --period month --timezone Europe/Berlin',
    )
    .action(async (options: FrameOptions & CommonOptions) => {
      const { budget, period, timezone, weekStart, reason } = options
      const change = { limitNanodollars: budget, period, timezone, weekStart }
      if (Object.values(change).every((value) => value === undefined)) {
        throw new UsageError('nothing to change: name a setting, such as --budget 2500')
      }
      await withStoreOrNew(readPlace(options), async (store) => {
        const frame = await setFrame(store, { ...change, reason })
        if (frame.remainingNanodollars === 0n) {
          printNote('nothing is left of the frame, so every call that costs anything is refused')
        }
        await printFrame(store, frame, options)
      })
    })
}

type FrameOptions = { readonly budget?: bigint; readonly reason?: string } & Partial<
  Omit<FrameSettings, 'limitNanodollars'>
>
