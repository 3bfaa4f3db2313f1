// GET /v1/key and /v1/requests/{id}: what a key may know about itself. Needs no permission, and shows nothing of any
// other key.
import { type Caller, noEndpointAllowed, noModelCallable } from '../../access/authenticate.ts'
import { refusalOf } from '../../access/refusal.ts'
import { NO_COST } from '../../catalog/worst-case.ts'
import { GatewayError } from '../../core/errors.ts'
import { tighterLimit } from '../../core/money.ts'
import { iso, usd } from '../../core/units.ts'
import type { Balance, Balances } from '../../ledger/ledger.ts'
import { requestJson } from '../../ledger/reports/requests.ts'
import { isFrameExhausted } from '../../ledger/rules/account.ts'
import type { UsageRow } from '../../ledger/rules/rows.ts'
import type { KeyJson } from '../../store/keys/keys.ts'
import type { Handler, Registry } from '../exchange.ts'
import type { InboundRequest } from '../request.ts'
import { freeAsk, type FreeParts } from './free.ts'

export type OwnKeyParts = FreeParts & {
  readonly registry: Pick<Registry, 'catalog'>
  describeKey(keyId: string): Promise<KeyJson>
  findUsage(requestId: string): Promise<UsageRow | undefined>
}

export const showOwnKey: Handler<OwnKeyParts> = async (parts, inbound, reply) => {
  const { caller } = inbound
  const key = await parts.describeKey(caller.keyId)
  const balances = await parts.ledger.balances(caller.keyId)
  const blocked = await blockOf(parts, inbound)
  await reply.end(
    JSON.stringify({
      ...key,
      models: [...caller.models],
      ...(balances !== undefined && balancesJson(balances, caller)),
      blocked_by:
        blocked === null
          ? null
          : { code: blocked.code, message: blocked.message, ...blocked.details.facts },
    }),
  )
}

/** What would block the cheapest possible call, and thus every call that costs anything; null = nothing. */
async function blockOf(
  { registry, ledger }: OwnKeyParts,
  inbound: InboundRequest,
): Promise<GatewayError | null> {
  const { caller } = inbound
  if (caller.permissions.size === 0) return noEndpointAllowed()
  const modelBlock = noModelCallable(registry.catalog, caller)
  if (modelBlock !== undefined) return modelBlock
  const outcome = await ledger.dryRun({
    ...freeAsk(inbound, ''),
    candidates: [{ ...NO_COST, fixedPicodollars: caller.mode === 'test' ? 0n : 1n }],
    whenTight: 'refuse',
    estimatedTokens: 1,
  })
  return outcome.reserved ? null : refusalOf(caller, outcome)
}

/** As the ledger sees them, by the database's clock: this node's clock may be wrong. */
function balancesJson(balances: Balances, { groupName }: Pick<Caller, 'groupName'>) {
  const { groupId, group, groupWindow } = balances
  return {
    ...figuresOf(balances.key),
    window: budgetJson(balances.keyWindow),
    model_budgets: balances.models.map((cap) => ({ model: cap.model, ...budgetJson(cap) })),
    group: group && { id: groupId, name: groupName, ...leftOf(group, groupWindow) },
    frame: frameJson(balances),
  }
}

/** A key in a group learns whether the frame has room, and if not until when; others share it. */
function frameJson(balances: Balances) {
  const { groupId, frame, frameWindow } = balances
  if (groupId === null) return leftOf(frame, frameWindow)
  if (!isFrameExhausted(balances)) return { state: 'has_room' }
  const spent = frame.remainingNanodollars === 0n ? frame : (frameWindow ?? frame)
  return { state: 'exhausted', resets_at: iso(spent.resetsAt) }
}

/** What is left on the tighter of two budgets. */
function leftOf(main: Balance, window: Balance | null) {
  const left = tighterLimit(main.remainingNanodollars, window && window.remainingNanodollars)
  return { remaining: usd(left) }
}

function budgetJson(balance: Balance | null) {
  if (balance === null) return null
  const { limitNanodollars, period, startsAt } = balance
  return {
    budget: usd(limitNanodollars),
    period,
    starts_at: iso(startsAt),
    ...figuresOf(balance),
  }
}

function figuresOf(balance: Balance): Pick<KeyJson, 'spent' | 'held' | 'remaining' | 'resets_at'> {
  const { spentNanodollars, heldNanodollars, remainingNanodollars, resetsAt } = balance
  return {
    spent: usd(spentNanodollars),
    held: usd(heldNanodollars),
    remaining: usd(remainingNanodollars),
    resets_at: iso(resetsAt),
  }
}

export const showOwnRequest: Handler<OwnKeyParts> = async (parts, inbound, reply) => {
  const { id, caller } = inbound
  const row = await parts.findUsage(id)
  if (row === undefined || row.keyId !== caller.keyId) {
    throw new GatewayError(
      'not_found',
      `this key has no request "${id.slice(0, 100)}" on record: it may still be running, or it was refused, or its record has expired`,
    )
  }
  const told = { id: row.requestId, object: 'tollgate.request', ...requestJson(row) }
  await reply.end(JSON.stringify(told))
}
