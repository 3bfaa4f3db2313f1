// The ledger, with a mark where a request asks for its hold and for its settlement, and where it goes on. It takes the
// place of ledger/nodes/open.ts in the build that is measured step by step.
import { channel } from 'node:diagnostics_channel'
import type { Ask, Settlement } from '../../src/ledger/ledger.ts'
import {
  openLedger as openReal,
  type LedgerOptions,
  type NodeLedger,
} from '../../src/ledger/nodes/open.ts'
import { STAGE_CHANNEL, type MarkName } from './names.ts'

const stages = channel(STAGE_CHANNEL)

function reached(name: MarkName): void {
  stages.publish(name)
}

export async function openLedger(options: LedgerOptions): Promise<NodeLedger> {
  const ledger = await openReal(options)
  return new Proxy(ledger, {
    get: (_, name) => {
      if (name === 'reserve') {
        return async (ask: Ask) => {
          reached('hold asked')
          const answer = await ledger.reserve(ask)
          reached('held')
          return answer
        }
      }
      if (name === 'settle') {
        return async (settlement: Settlement) => {
          reached('settlement asked')
          const settled = await ledger.settle(settlement)
          reached('settled')
          return settled
        }
      }
      const value: unknown = Reflect.get(ledger, name)
      return typeof value === 'function' ? (value.bind(ledger) as unknown) : value
    },
  })
}
