// How a hold ends as a row: settled by its node, voided before it was dispatched, or orphaned by a node that died.
import { CLIENT_GONE_STATUS } from '../core/errors.ts'
import { NO_USAGE } from '../core/events.ts'
import type { Nanodollars } from '../core/money.ts'
import type { Charge, Hold, UsageRow } from './books.ts'

/** What the reservation fixed, whether it is still a hold or already an orphan's row. */
type Reservation = Pick<
  Hold,
  | 'id'
  | 'requestId'
  | 'keyId'
  | 'keyPeriod'
  | 'framePeriod'
  | 'heldNanodollars'
  | 'at'
  | 'endpoint'
  | 'modelAsked'
>

export function settledRow(charge: Charge, reservation: Reservation, settledAt: number): UsageRow {
  const { holdId: id, ...rest } = charge
  const { keyPeriod, framePeriod, heldNanodollars, at } = reservation
  return { ...rest, id, state: 'settled', keyPeriod, framePeriod, heldNanodollars, at, settledAt }
}

/** No provider was called, so there is no status of an answer: the row gets that of an answer nobody received. */
export function voidedRow(hold: Reservation, reason: string, settledAt: number): UsageRow {
  const row = unservedRow(hold, settledAt)
  return { ...row, state: 'voided', status: CLIENT_GONE_STATUS, errorCode: reason }
}

/** Charged in full: nobody can know how far the dead node's call got. */
export function orphanedRow(hold: Hold, settledAt: number): UsageRow {
  return {
    ...unservedRow(hold, settledAt),
    state: 'orphaned',
    status: 500,
    errorCode: 'orphaned',
    costNanodollars: hold.heldNanodollars,
    estimated: true,
  }
}

/** When a charge is raised, the difference has been free for others in between, so all of it is an overrun. */
export function adjustedRow(row: UsageRow, cost: Nanodollars): UsageRow {
  const isRaise = cost > row.costNanodollars
  const { costNanodollars: charged, heldNanodollars: held } = row
  const heldNanodollars = isRaise && charged < held ? charged : held
  return { ...row, state: 'adjusted', costNanodollars: cost, heldNanodollars }
}

/** A cost above its hold is charged in full; the excess is counted, so that it can be seen. */
export function overrunOf(cost: Nanodollars, held: Nanodollars): Nanodollars {
  return cost > held ? cost - held : 0n
}

function unservedRow(hold: Reservation, settledAt: number): Omit<UsageRow, 'state' | 'status'> {
  return {
    id: hold.id,
    requestId: hold.requestId,
    keyId: hold.keyId,
    keyPeriod: hold.keyPeriod,
    framePeriod: hold.framePeriod,
    heldNanodollars: hold.heldNanodollars,
    endpoint: hold.endpoint,
    modelAsked: hold.modelAsked,
    modelServed: null,
    provider: null,
    errorCode: null,
    tokens: NO_USAGE,
    costNanodollars: 0n,
    priceVersion: null,
    estimated: false,
    latencyMs: settledAt - hold.at,
    firstTokenMs: null,
    endUser: null,
    tags: '{}',
    attempts: '[]',
    at: hold.at,
    settledAt,
  }
}
