// The handlers of /frame.
import { resetSpent, topUp } from '../ledger/nodes/adjustments.ts'
import { FRAME_ID } from '../store/database/tables.ts'
import { readFrame, setFrame } from '../store/frame.ts'
import { readAllocated } from '../store/keys/counts.ts'
import type { HandlersOf } from './call.ts'
import type { frameRoutes } from './contract/frame.ts'
import { frameAnswerOf } from './key-answers.ts'
import { storeOf, type AdminParts } from './parts.ts'
import { refusingStale } from './stale.ts'
import { etag, ifMatch, readAmount, refuseEmpty } from './values.ts'

export function frameHandlers(parts: AdminParts): HandlersOf<typeof frameRoutes> {
  const { store, clock } = parts

  async function answer(call: { setHeader(name: string, value: string): void }) {
    const frame = await readFrame(store)
    call.setHeader('etag', etag(frame.version))
    return frameAnswerOf(frame, await readAllocated(store), clock.now())
  }

  return {
    readFrame: (call) => answer(call),
    changeFrame: async (call) => {
      const { budget, period, timezone, week_start } = call.body
      const ifVersion = ifMatch(call.headers)
      refuseEmpty(call.body)
      const change = {
        limitNanodollars: budget === undefined ? undefined : readAmount('budget', budget),
        period,
        timezone,
        weekStart: week_start,
        ifVersion,
      }
      await refusingStale(store, { subjectId: FRAME_ID, version: ifVersion }, () =>
        setFrame(storeOf(parts, call), change),
      )
      return answer(call)
    },
    topUpFrame: async (call) => {
      const amountNanodollars = readAmount('amount', call.body.amount)
      const { reason } = call.body
      await topUp(storeOf(parts, call), { accountId: FRAME_ID, amountNanodollars, reason })
      return answer(call)
    },
    resetFrame: async (call) => {
      const { reason } = call.body
      await resetSpent(storeOf(parts, call), { accountId: FRAME_ID, reason })
      return answer(call)
    },
  }
}
